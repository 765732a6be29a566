//! Random tables through every format and back: threads, nesting, hostile names, arguments, times up to years.

use proptest::prelude::*;
use traceloom_model::{
    Halt, Table, Tables, allocations::Allocation, args::Arg, events::Event, frames::Frame, frees::Free, logs::Log,
    spans::Span, stacks::Stack, threads::Thread,
};

use crate::{
    cnanolog, convert, easyprofiler, memlyze, nytprof,
    picture::Picture,
    support::{Made, push_trace, span},
    wtf,
};

const NAMES: [&str; 9] = [
    "plain",
    "\"quoted\" \\ back\\slash\\",
    "line\nfeed\r\ttab",
    "\u{1}\u{1b}[31m\u{7f}",
    "</script><script>alert</script>",
    "=cmd|' /C calc'!A0",
    "größe😀\u{2028}\u{feff}",
    "100%s %n %% %",
    "a::b;c d",
];

/// A step of a thread: the time since the last one, and what happens.
type Step = (u16, u8, u8);

/// A table to be built.
#[derive(Clone, Debug)]
struct Plan {
    /// Nanoseconds per step.
    unit_ns: i64,
    threads: Vec<Vec<Step>>,
    logs: Vec<(u16, u8, i32)>,
    memory: Vec<(u16, u8, u8)>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let units = prop::sample::select(vec![1, 1000, 1_000_003, 60_000_000_000, 86_400_000_000_000]);
    let step = || (0_u16..400, 0_u8..4, 0_u8..NAMES.len() as u8);
    let threads = prop::collection::vec(prop::collection::vec(step(), 0..40), 1..4);
    let logs = prop::collection::vec((0_u16..400, 0_u8..8, any::<i32>()), 0..12);
    let memory = prop::collection::vec((0_u16..400, 0_u8..5, 0_u8..3), 0..40);
    (units, threads, logs, memory).prop_map(|(unit_ns, threads, logs, memory)| Plan { unit_ns, threads, logs, memory })
}

/// Fills the tables; rows with an end are pushed when they end.
struct Filler<'t, 's> {
    tables: &'t mut Tables<'s>,
    span_id: i64,
    event_id: i64,
    arg_id: i64,
    last_ns: i64,
}

impl Plan {
    fn fill(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let mut filler = Filler { tables, span_id: 0, event_id: 1_000_000, arg_id: 0, last_ns: 0 };
        for (thread, steps) in (0..).zip(&self.threads) {
            filler.thread(thread, steps, self.unit_ns)?;
        }
        filler.logs(&self.logs, self.unit_ns)?;
        filler.memory(&self.memory, self.unit_ns)?;
        let last_ns = filler.last_ns;
        push_trace("random", last_ns, tables)
    }
}

impl Filler<'_, '_> {
    fn thread(&mut self, thread_id: i64, steps: &[Step], unit_ns: i64) -> Result<(), Halt> {
        let name = format!("thread {} {}", NAMES[thread_id as usize].replace(['\n', '\r'], " "), thread_id);
        let (tid, name) = (Some(thread_id as u64 + 7), Some(name.as_str().into()));
        self.tables.push(Thread { id: thread_id, tid, process_id: 0, name, kind: None, location: None })?;
        let mut open: Vec<(i64, i64, &str)> = Vec::new();
        let mut now = 0;
        for (later, what, name) in steps {
            now += i64::from(*later) * unit_ns;
            self.last_ns = self.last_ns.max(now);
            let name = NAMES[usize::from(*name)];
            match what {
                0 | 1 => {
                    open.push((self.span_id, now, name));
                    self.span_id += 1;
                }
                2 => self.close(thread_id, &mut open, now)?,
                _ => self.event(thread_id, open.last().map(|(id, ..)| *id), now, name)?,
            }
        }
        while !open.is_empty() {
            self.close(thread_id, &mut open, now)?;
        }
        Ok(())
    }

    fn close(&mut self, thread_id: i64, open: &mut Vec<(i64, i64, &str)>, now: i64) -> Result<(), Halt> {
        let Some((id, begin_ns, name)) = open.pop() else { return Ok(()) };
        let parent = open.last().map(|(id, ..)| *id);
        let depth = open.len() as u32;
        let row = Span { thread_id, ..span(id, depth, parent, begin_ns, Some(now - begin_ns), name) };
        self.tables.push(row)?;
        match id % 3 {
            0 => self.arg(Table::Spans, id, "number", |arg| arg.int_value = Some(id - 5)),
            1 => self.arg(Table::Spans, id, "text", |arg| arg.text_value = Some(NAMES[id as usize % NAMES.len()])),
            _ => Ok(()),
        }
    }

    fn event(&mut self, thread_id: i64, span_id: Option<i64>, ts_ns: i64, name: &str) -> Result<(), Halt> {
        let id = self.event_id;
        self.event_id += 1;
        let name = format!("event {name}");
        self.tables.push(Event {
            id,
            ts_ns,
            thread_id: Some(thread_id),
            span_id,
            name: name.as_str().into(),
            category: "event".into(),
            definition_id: None,
        })
    }

    fn arg(&mut self, table: Table, owner_id: i64, key: &str, fill: impl FnOnce(&mut Arg<'_>)) -> Result<(), Halt> {
        let kind = if table == Table::Logs && key == "0" { "i32" } else { "str" };
        let mut arg = Arg {
            id: self.arg_id,
            owner_table: table.name().into(),
            owner_id,
            key: key.into(),
            r#type: kind.into(),
            ..Arg::default()
        };
        fill(&mut arg);
        self.arg_id += 1;
        self.tables.push(arg)
    }

    /// Messages that match their formats, and messages that match none.
    fn logs(&mut self, logs: &[(u16, u8, i32)], unit_ns: i64) -> Result<(), Halt> {
        let mut now = 0;
        for (id, (later, what, number)) in (0..).zip(logs) {
            now += i64::from(*later) * unit_ns;
            self.last_ns = self.last_ns.max(now);
            let name = NAMES[usize::from(*what)];
            let (format, message) = match what % 4 {
                0 => (Some("%d of %s".to_owned()), format!("{number} of {name}")),
                1 => (Some("%5d|%-3s|".to_owned()), format!("{number:5}|{name:<3}|")),
                2 => (None, name.to_owned()),
                _ => (Some(name.to_owned()), format!("{name}, and more")),
            };
            if what % 4 < 2 {
                self.arg(Table::Logs, id, "0", |arg| arg.int_value = Some((*number).into()))?;
                self.arg(Table::Logs, id, "1", |arg| arg.text_value = Some(name))?;
            }
            let levels = [("INFO", 0), ("WARN", 1), ("AUDIT", 12), ("LEVEL_40", 40)];
            let (level_name, level) = levels[usize::from(what / 2)];
            self.tables.push(Log {
                id,
                ts_ns: Some(now),
                level,
                level_name: level_name.into(),
                file: Some("src/main.c".into()),
                line: Some(u32::from(*later)),
                format: format.as_deref().map(Into::into),
                message: &message,
                ..Log::default()
            })?;
        }
        Ok(())
    }

    /// Allocations and frees at a few addresses, with their fates.
    fn memory(&mut self, steps: &[(u16, u8, u8)], unit_ns: i64) -> Result<(), Halt> {
        if steps.is_empty() {
            return Ok(());
        }
        for (id, name) in (0..).zip(NAMES) {
            self.tables.push(Frame { id, function: name.into(), file: Some("a.py".into()), line: Some(id as u32) })?;
            let parent_id = (id > 0).then_some(id - 1);
            self.tables.push(Stack { id, parent_id, frame_id: id, depth: id as u32 })?;
        }
        let mut live: [Option<(i64, i64)>; 5] = [None; 5];
        let mut now = 0;
        for (id, (later, address, what)) in (0..).zip(steps) {
            now += i64::from(*later) * unit_ns;
            self.last_ns = self.last_ns.max(now);
            let slot = &mut live[usize::from(*address)];
            let before = slot.take();
            if *what > 0 {
                *slot = Some((id, now));
            } else {
                let (ts_ns, address) = (now, u64::from(*address));
                self.tables.push(Free { id, ts_ns, address, allocation_id: before.map(|(id, _)| id) })?;
            }
            if let Some((own, begin_ns)) = before {
                let fate = if *what > 0 { "reused" } else { "freed" };
                self.allocation(own, *address, begin_ns, fate, Some((now, id)))?;
            }
        }
        for (address, slot) in (0..).zip(live) {
            if let Some((own, begin_ns)) = slot {
                self.allocation(own, address, begin_ns, "live", None)?;
            }
        }
        Ok(())
    }

    fn allocation(
        &mut self,
        id: i64,
        address: u8,
        ts_ns: i64,
        fate: &str,
        end: Option<(i64, i64)>,
    ) -> Result<(), Halt> {
        self.tables.push(Allocation {
            id,
            ts_ns,
            thread_id: Some(0),
            address: address.into(),
            size_bytes: 16 + id as u64,
            stack_id: (id % 4 != 0).then_some(id % NAMES.len() as i64),
            fate: fate.into(),
            freed_ts_ns: end.map(|(ts_ns, _)| ts_ns),
            end_id: end.map(|(_, id)| id),
            lifetime_ns: end.map(|(end_ns, _)| end_ns - ts_ns),
        })
    }
}

fn pictured(plan: &Plan, target: &str, compare: impl FnOnce(&Picture, &crate::Converted)) {
    let plan = plan.clone();
    let trace = Made(move |tables: &mut Tables<'_>| plan.fill(tables));
    let from = Picture::of(&trace);
    let to = convert(&trace, target, None, "random");
    compare(&from, &to);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn calls_survive_in_nytprof(plan in plan()) {
        pictured(&plan, "nytprof", |from, to| nytprof::assert_same(from, to, "random"));
    }

    #[test]
    fn memory_and_points_survive_in_memlyze(plan in plan()) {
        pictured(&plan, "memlyze", |from, to| memlyze::assert_same(from, to, "random"));
    }

    #[test]
    fn entries_survive_in_cnanolog(plan in plan()) {
        pictured(&plan, "cnanolog", |from, to| cnanolog::assert_same(from, to, false, "random"));
    }

    #[test]
    fn spans_and_points_survive_in_easyprofiler(plan in plan()) {
        // A plan may consist of steps that make no row, and easy_profiler refuses an empty profile.
        let made = plan.clone();
        let from = Picture::of(&Made(move |tables: &mut Tables<'_>| made.fill(tables)));
        let is_empty = from.spans.is_empty() && from.events.is_empty() && from.counters.is_empty();
        prop_assume!(!is_empty || !from.logs.is_empty());
        pictured(&plan, "easyprofiler", |from, to| {
            if !from.spans.is_empty() {
                easyprofiler::assert_same(from, to, "random");
            }
        });
    }

    #[test]
    fn spans_and_points_survive_in_wtf(plan in plan()) {
        pictured(&plan, "wtf", |from, to| wtf::assert_same(from, false, to, "random"));
    }

    #[test]
    fn sums_survive_in_pynytprof(plan in plan()) {
        let plan = &plan;
        let mut real = None;
        pictured(plan, "nytprof", |_, to| real = Some(crate::pynytprof::counts(&to.picture)));
        pictured(plan, "pynytprof", |_, to| {
            assert_eq!(Some(crate::pynytprof::counts(&to.picture)), real);
        });
    }
}
