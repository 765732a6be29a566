//! Traces built row by row.

use traceloom_model::{spans::Span, threads::Thread, traces::Trace};
pub(crate) use traceloom_testkit::planted::Made;

/// An outermost span on a thread.
pub(crate) fn span<'a>(id: i64, thread_id: i64, name: &'a str, ts_ns: i64, dur_ns: i64) -> Span<'a> {
    Span {
        id,
        thread_id,
        ts_ns,
        dur_ns: Some(dur_ns),
        self_ns: Some(dur_ns),
        name: name.into(),
        category: "block".into(),
        ..Span::default()
    }
}

pub(crate) fn thread(id: i64, name: &str) -> Thread<'_> {
    Thread { id, tid: Some(100 + id as u64), process_id: 0, name: Some(name.into()), kind: None, location: None }
}

pub(crate) fn trace(last_ts_ns: i64) -> Trace<'static> {
    Trace {
        path: "made",
        format: "made".into(),
        version: "1",
        clock: "monotonic".into(),
        first_ts_ns: Some(0),
        last_ts_ns: Some(last_ts_ns),
        ..Trace::default()
    }
}
