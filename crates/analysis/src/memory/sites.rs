//! Sites: allocations by stack.

use hashbrown::HashMap;
use traceloom_model::select;
use traceloom_passes::{StackRows, StackTable};

use super::{Site, SiteFrame};

select! {
    pub(super) struct Frames of frames { trace_id, id, function, file, line }
}

/// Trace and stack.
pub(super) type StackKey = (u64, Option<i64>);

/// Sites by stack, and the frames of the stacks.
#[derive(Debug, Default)]
pub(super) struct Sites {
    numbers: HashMap<StackKey, usize>,
    sites: Vec<Site>,
    stacks: StackTable<SiteFrame>,
}

impl Sites {
    /// The number of the site of a stack, created if needed.
    pub(super) fn number(&mut self, key: StackKey) -> usize {
        let number = *self.numbers.entry(key).or_insert(self.sites.len());
        if number == self.sites.len() {
            self.sites.push(Site {
                key,
                stack: Vec::new(),
                count: 0,
                bytes: 0,
                live: 0,
                live_bytes: 0,
                oldest_live_ns: None,
                lifetime_ns: 0,
                freed: 0,
                temporary: 0,
                temporary_bytes: 0,
                quarters: [0; 4],
            });
        }
        number
    }

    /// Number of sites.
    pub(super) fn len(&self) -> usize {
        self.sites.len()
    }

    /// The stacks of the sites, by their number.
    pub(super) fn keys(&self) -> impl Iterator<Item = StackKey> {
        self.sites.iter().map(|site| site.key)
    }

    /// The site with this number.
    pub(super) fn at(&mut self, number: usize) -> &mut Site {
        &mut self.sites[number]
    }

    pub(super) fn take_stacks(&mut self, view: &StackRows<'_>) {
        self.stacks.take(view);
    }

    pub(super) fn take_frames(&mut self, view: &Frames<'_>) {
        for row in 0..view.rows {
            let frame = SiteFrame {
                function: view.function.get(row).to_owned(),
                file: view.file.get(row).map(str::to_owned),
                line: view.line.get(row),
            };
            self.stacks.take_frame(view.trace_id.get(row), view.id.get(row), frame);
        }
    }

    /// The sites with their stacks, most bytes first.
    pub(super) fn finish(mut self) -> Vec<Site> {
        let mut sites = std::mem::take(&mut self.sites);
        for site in &mut sites {
            let (trace_id, stack_id) = site.key;
            site.stack = self.stacks.path(trace_id, stack_id).cloned().collect();
        }
        sites.sort_by(|one, other| other.bytes.cmp(&one.bytes).then(one.key.cmp(&other.key)));
        sites
    }
}
