//! Traces built row by row.

use traceloom_core::Result;
use traceloom_model::{Filter, Halt, TableSink, TableSource, Tables, spans::Span, threads::Thread, traces::Trace};

/// A trace whose rows come from a function.
pub(crate) struct Made<F>(pub(crate) F);

impl<F: Fn(&mut Tables<'_>) -> Result<(), Halt>> TableSource for Made<F> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let mut tables = Tables::new(1, filter.clone(), sink);
        (self.0)(&mut tables).and_then(|()| tables.finish()).or_else(Halt::into_result)
    }
}

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
