//! Rows of calls: spans, and their stacks.

use traceloom_core::{Arena, Limits, Result, Spill};
use traceloom_model::{
    Halt, SpanCategory, Table, Tables,
    spans::Span,
    trackers::{Clock, FrameKey, Stacks, Symbol},
};

use super::{
    calls::{Call, NO_NUMBER, NO_PARENT},
    layout::{Unended, lay_out},
    names::SubNames,
    processes::Processes,
    stop::Stop,
    sums::Defined,
};

/// The name of a call that never returned.
const NEVER_RETURNED: &str = "(never returned)";

/// The data from which the rows of calls are made.
pub(super) struct Rows<'a> {
    pub(super) names: &'a SubNames,
    /// By number of the name; empty if no one wants it.
    pub(super) defined: &'a [Defined],
    pub(super) processes: &'a Processes,
    pub(super) origin_ns: i128,
    pub(super) clock: Clock,
}

impl Rows<'_> {
    /// Places the calls and pushes their rows, those without an end last.
    pub(super) fn push(
        &mut self,
        mut calls: Spill<Call>,
        arena: &Arena,
        limits: &Limits,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let nameless = tables.strings.intern(NEVER_RETURNED);
        let mut unended = arena.stack::<Unended>();
        let wants_stacks = tables.wants(Table::Stacks) || tables.wants(Table::Frames);
        let mut paths = wants_stacks.then(|| Paths { nameless, stacks: Stacks::default(), open: Vec::new() });
        let mut stop = Stop::default();
        let result = lay_out(
            &mut calls,
            limits,
            |call| unended.push(call),
            |id, call| match &mut paths {
                Some(paths) => stop.pass(paths.take(id, call, self, tables)),
                None => Ok(()),
            },
        );
        stop.settle(result)?;
        if !tables.wants(Table::Spans) {
            return Ok(());
        }
        let category = tables.strings.intern(SpanCategory::Call.as_str());
        let mut at = CarriedOver { process: u32::MAX, start_ns: 0, category, nameless };
        for (call, id) in calls.iter().zip(0..) {
            let call = call?;
            if call.name != NO_NUMBER {
                self.push_row(id, &call, &mut at, tables)?;
            }
        }
        for entry in unended.iter() {
            let Unended { id, call } = entry?;
            self.push_row(id, &call, &mut at, tables)?;
        }
        Ok(())
    }

    #[inline]
    fn push_row(&mut self, id: i64, call: &Call, at: &mut CarriedOver, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if at.process != call.process {
            (at.process, at.start_ns) = (call.process, self.processes.start_ns(call.process, self.origin_ns));
        }
        let ts_ns = self.clock.ts_ns(at.start_ns + i128::from(call.time_ns));
        let thread_id = i64::from(call.process);
        if !tables.filter().takes_time(ts_ns) || !tables.filter().takes_thread(thread_id) {
            return Ok(());
        }
        let is_ended = call.name != NO_NUMBER;
        let Defined { id: definition_id, file, line } = self.defined(call.name);
        tables.push(Span {
            id,
            parent_id: Some(call.parent).filter(|parent| *parent != NO_PARENT),
            thread_id,
            depth: call.depth,
            ts_ns,
            dur_ns: is_ended.then_some(call.dur_ns),
            self_ns: is_ended.then_some(call.own_ns),
            name: self.names.symbol(call.name).unwrap_or(at.nameless).into(),
            category: at.category.into(),
            definition_id,
            file: file.map(Into::into),
            line,
            color: None,
        })
    }

    #[inline]
    fn defined(&self, name: u32) -> Defined {
        self.defined.get(name as usize).copied().unwrap_or_default()
    }
}

/// Values that a row takes over from the previous one.
struct CarriedOver {
    process: u32,
    start_ns: i128,
    category: Symbol,
    nameless: Symbol,
}

/// The stacks of the calls around the current one.
struct Paths {
    nameless: Symbol,
    stacks: Stacks,
    /// Ids of spans and their stacks, the outermost first.
    open: Vec<(i64, i64)>,
}

impl Paths {
    /// Adds calls in layout order: callers come first.
    fn take(&mut self, id: i64, call: &Call, rows: &Rows<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        self.open.truncate(call.depth as usize);
        if call.parent != NO_PARENT && self.open.last().is_none_or(|(around, _)| *around != call.parent) {
            // Its parent is unknown.
            self.open.truncate((call.depth as usize).saturating_sub(1));
            self.add(call.parent, FrameKey { function: self.nameless, file: None, line: None }, tables)?;
        }
        let function = rows.names.symbol(call.name).unwrap_or(self.nameless);
        let Defined { file, line, .. } = rows.defined(call.name);
        self.add(id, FrameKey { function, file, line }, tables)
    }

    fn add(&mut self, id: i64, key: FrameKey, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let frame = self.stacks.frame(key, tables)?;
        let below = self.open.last().map(|(_, stack)| *stack);
        let stack = self.stacks.stack(below, frame, tables)?;
        self.open.push((id, stack));
        Ok(())
    }
}
