//! Functions and lines of profiles that contain only sums.

use hashbrown::HashMap;
use traceloom_model::{LineLevel, select};
use traceloom_passes::{Interner, NO_NUMBER, Translation, Words, number_of};

use crate::group::whole;

select! { pub(in crate::advise) struct CallRows of calls { callee, file, line, count, excl_ns, max_depth } }
select! { pub(in crate::advise) struct LineRows of line_times { file, line, level, calls, incl_ns, excl_ns } }

/// Measurements of sums.
#[derive(Debug, Default)]
pub(in crate::advise) struct Sums {
    callees: Translation,
    files: Translation,
    levels: Words<LineLevel>,
    /// By the number of the name.
    pub(in crate::advise) functions: HashMap<u32, FunctionUse>,
    /// By file and line.
    pub(in crate::advise) lines: HashMap<(u32, u32), LineUse>,
}

#[derive(Debug, Default)]
pub(in crate::advise) struct FunctionUse {
    pub(in crate::advise) calls: u64,
    pub(in crate::advise) self_ns: u64,
    /// Number of call sites.
    pub(in crate::advise) callers: u64,
    pub(in crate::advise) max_depth: u64,
}

#[derive(Debug, Default)]
pub(in crate::advise) struct LineUse {
    pub(in crate::advise) calls: u64,
    pub(in crate::advise) self_ns: u64,
}

const MAX_FUNCTIONS: usize = 1 << 16;
const MAX_LINES: usize = 1 << 18;

impl Sums {
    pub(in crate::advise) fn add_calls(&mut self, view: &CallRows<'_>, names: &mut Interner) {
        let numbers = self.callees.of(view.callee.values(), names);
        for (row, key) in view.callee.keys().iter().enumerate() {
            let number = numbers[*key as usize];
            if self.functions.len() >= MAX_FUNCTIONS && !self.functions.contains_key(&number) {
                continue;
            }
            let function = self.functions.entry(number).or_default();
            function.calls = function.calls.saturating_add(view.count.get(row));
            function.self_ns = function.self_ns.saturating_add(whole(view.excl_ns.get(row)));
            function.callers += 1;
            function.max_depth = function.max_depth.max(view.max_depth.get(row).unwrap_or(0));
        }
    }

    pub(in crate::advise) fn add_lines(&mut self, view: &LineRows<'_>, names: &mut Interner) {
        let numbers = self.files.of(view.file.values(), names);
        let levels = self.levels.of(view.level.values(), LineLevel::of);
        for row in 0..view.rows {
            let key = (number_of(numbers, Some(view.file.keys()[row])), view.line.get(row));
            let is_line = levels[view.level.keys()[row] as usize] == Some(LineLevel::Line);
            if !is_line || key.0 == NO_NUMBER || self.lines.len() >= MAX_LINES && !self.lines.contains_key(&key) {
                continue;
            }
            let line = self.lines.entry(key).or_default();
            let self_ns = view.excl_ns.get(row).unwrap_or_else(|| view.incl_ns.get(row));
            line.calls = line.calls.saturating_add(view.calls.get(row));
            line.self_ns = line.self_ns.saturating_add(whole(self_ns));
        }
    }
}
