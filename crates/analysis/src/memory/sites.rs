//! Sites: allocations by stack.

use hashbrown::HashMap;
use traceloom_model::{frames, stacks};

use super::{Site, SiteFrame};

/// Trace and stack.
pub(super) type StackKey = (u64, Option<i64>);

/// Sites by stack, and what the stacks are.
#[derive(Debug, Default)]
pub(super) struct Sites {
    numbers: HashMap<StackKey, usize>,
    sites: Vec<Site>,
    stacks: HashMap<(u64, i64), (Option<i64>, i64)>,
    frames: HashMap<(u64, i64), SiteFrame>,
}

impl Sites {
    pub(super) fn site(&mut self, key: StackKey) -> &mut Site {
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
                quarters: [0; 4],
            });
        }
        &mut self.sites[number]
    }

    pub(super) fn take_stacks(&mut self, view: &stacks::View<'_>) {
        for row in 0..view.rows {
            let stack = (view.parent_id.get(row), view.frame_id.get(row));
            self.stacks.insert((view.trace_id.get(row), view.id.get(row)), stack);
        }
    }

    pub(super) fn take_frames(&mut self, view: &frames::View<'_>) {
        for row in 0..view.rows {
            let frame = SiteFrame {
                function: view.function.get(row).to_owned(),
                file: view.file.get(row).map(str::to_owned),
                line: view.line.get(row),
            };
            self.frames.insert((view.trace_id.get(row), view.id.get(row)), frame);
        }
    }

    /// The sites with their stacks, the most bytes first.
    pub(super) fn finish(mut self) -> Vec<Site> {
        let mut sites = std::mem::take(&mut self.sites);
        sites.iter_mut().for_each(|site| site.stack = self.stack(site.key));
        sites.sort_by(|one, other| other.bytes.cmp(&one.bytes).then(one.key.cmp(&other.key)));
        sites
    }

    fn stack(&self, (trace, stack): StackKey) -> Vec<SiteFrame> {
        let mut frames = Vec::new();
        let mut at = stack;
        // A stack refers to rows before it, so this ends; the bound holds for tables that lie.
        while let Some((below, frame)) = at.and_then(|at| self.stacks.get(&(trace, at)))
            && frames.len() <= self.stacks.len()
        {
            frames.extend(self.frames.get(&(trace, *frame)).cloned());
            at = *below;
        }
        frames
    }
}
