//! Rows that refer to missing rows harm no target: a store may hold anything.

mod support;

use std::panic::AssertUnwindSafe;

use traceloom_export::{Options, targets, write};
use traceloom_model::{
    Halt, Tables, allocations::Allocation, args::Arg, calls::Call, counters::Counter, events::Event, frees::Free,
    links::Link, logs::Log, spans::Span, stacks::Stack, switches::Switch, threads::Thread,
};

use support::{Made, push_trace, span};

/// An id that no row has.
const NOBODY: i64 = 99;

/// Rows of every kind; `thread` is the thread of rows without a duration.
fn fill(thread: i64, tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(span(0, 0, None, 0, Some(100), "a"))?;
    tables.push(Span { thread_id: NOBODY, ..span(1, 1, Some(NOBODY), 5, Some(10), "b") })?;
    tables.push(Span { definition_id: Some(NOBODY), ..span(-1, 7, Some(-1), 8, None, "its own parent") })?;
    let (thread_id, definition_id) = (Some(thread), Some(NOBODY));
    let (name, category) = ("e".into(), "event".into());
    tables.push(Event { id: 0, ts_ns: 5, thread_id, span_id: Some(NOBODY), name, category, definition_id })?;
    let (value_id, value, text) = (None, Some(f64::NAN), None);
    tables.push(Counter { id: 0, ts_ns: 6, thread_id: Some(thread), name, value_id, value, text })?;
    let (level_name, file, line, format) = ("?".into(), None, None, None);
    let (ts_ns, thread_id, message) = (Some(7), Some(thread), "l");
    tables.push(Log { id: 0, ts_ns, thread_id, level: -1, level_name, file, line, format, message, definition_id })?;
    tables.push(Switch { id: 0, ts_ns: 8, dur_ns: -5, thread_id: NOBODY, target_tid: u64::MAX, name })?;
    let (from_span_id, to_span_id, kind) = (Some(NOBODY), Some(0), "branch".into());
    tables.push(Link { id: 0, flow_id: 1, from_span_id, to_span_id, ts_ns: 9, kind })?;
    tables.push(Stack { id: 0, parent_id: Some(0), frame_id: NOBODY, depth: 0 })?;
    push_memory(thread, tables)?;
    push_call(tables)?;
    tables.push(Thread { id: 0, tid: None, process_id: NOBODY, name: None, kind: None, location: None })?;
    for (id, owner_table) in (0..).zip(["spans", "nothing", "logs"]) {
        push_arg(id, owner_table, tables)?;
    }
    push_trace("", 100, tables)
}

fn push_memory(thread: i64, tables: &mut Tables<'_>) -> Result<(), Halt> {
    for (id, stack_id) in [(0, Some(0)), (1, Some(NOBODY)), (2, None)] {
        tables.push(Allocation {
            id,
            ts_ns: 10,
            thread_id: Some(thread),
            address: 1,
            size_bytes: u64::MAX,
            stack_id,
            fate: "freed".into(),
            freed_ts_ns: Some(-4),
            end_id: Some(NOBODY),
            lifetime_ns: Some(-14),
        })?;
    }
    tables.push(Free { id: 0, ts_ns: 11, address: 1, allocation_id: Some(NOBODY) })
}

fn push_call(tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(Call {
        caller: Some("nobody".into()),
        callee: "".into(),
        count: u64::MAX,
        incl_ns: i64::MIN,
        excl_ns: i64::MAX,
        ..Call::default()
    })
}

fn push_arg(id: i64, owner_table: &str, tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(Arg {
        id,
        owner_table: owner_table.into(),
        owner_id: NOBODY,
        key: "".into(),
        idx: Some(u32::MAX),
        r#type: "".into(),
        ..Arg::default()
    })
}

fn check(thread: i64) {
    let mut wrong = Vec::new();
    for target in targets() {
        let variants = target.variants.iter().map(|variant| Some(variant.id.to_owned()));
        let all: Vec<Option<String>> = if target.variants.is_empty() { vec![None] } else { variants.collect() };
        for variant in all {
            let options = Options { variant: variant.clone(), ..Options::default() };
            let name = format!("{}:{}", target.id, variant.unwrap_or_default());
            let source = Made(|tables: &mut Tables<'_>| fill(thread, tables));
            let write = || write(target, &source, &options, &mut Vec::new());
            match std::panic::catch_unwind(AssertUnwindSafe(write)) {
                Err(_) => wrong.push(format!("{name} panics")),
                Ok(Err(error)) => wrong.push(format!("{name}: {error}")),
                Ok(Ok(_)) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn rows_that_refer_to_nothing_harm_no_target() {
    check(0);
}

/// A thread that is in no span and in no row of `threads`.
#[test]
fn points_of_unknown_threads_harm_no_target() {
    check(NOBODY + 1);
}
