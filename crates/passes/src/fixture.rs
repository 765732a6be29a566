//! Handmade tables, for tests.

use traceloom_core::{Loss, Result};
use traceloom_model::{
    Filter, Halt, TableSink, TableSource, Tables, allocations::Allocation, processes::Process, spans::Span,
    threads::Thread, traces::Trace, trackers::Extent,
};

use crate::{Options, Pass, Request, Target, write};

/// Fills tables.
pub type Fill = Box<dyn Fn(&mut Tables<'_>) -> Result<(), Halt>>;

/// Traces that exist only in tests.
pub struct Synthetic {
    /// The id of each trace, and the function that fills its tables.
    pub traces: Vec<(u64, Fill)>,
}

impl TableSource for Synthetic {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        for (trace_id, fill) in &self.traces {
            let mut tables = Tables::new(*trace_id, filter.clone(), sink);
            if let Err(halt) = fill(&mut tables).and_then(|()| tables.finish()) {
                return halt.into_result();
            }
        }
        Ok(())
    }
}

/// Name, id, depth, parent, start and duration of a span.
pub type Brief = (&'static str, i64, u32, Option<i64>, i64, Option<i64>);

impl Synthetic {
    /// One trace.
    pub fn new(fill: impl Fn(&mut Tables<'_>) -> Result<(), Halt> + 'static) -> Self {
        Self { traces: vec![(7, Box::new(fill))] }
    }

    /// Spans of a thread called `main`.
    pub fn spans(spans: &[Brief]) -> Self {
        let spans = spans.to_vec();
        Self::new(move |tables| {
            let mut extent = Extent::default();
            for span in &spans {
                extent.add(span.4);
                extent.add(span.4 + span.5.unwrap_or(0));
                push_span(tables, 0, "block", *span)?;
            }
            push_main(tables, extent)
        })
    }
}

/// The rows of a trace, a process and its thread `main`.
pub fn push_main(tables: &mut Tables<'_>, extent: Extent) -> Result<(), Halt> {
    push_thread(tables, 0, "main")?;
    tables.push(Process { pid: Some(42), name: Some("game".into()), ..Process::default() })?;
    tables.push(Trace { first_ts_ns: extent.first(), last_ts_ns: extent.last(), ..trace("game.prof") })
}

/// The row of a trace without any times.
pub fn trace(path: &str) -> Trace<'_> {
    Trace { path, format: "easyprofiler".into(), version: "2.1.0", clock: "tsc".into(), ..Trace::default() }
}

/// The row of a thread.
pub fn push_thread(tables: &mut Tables<'_>, id: i64, name: &str) -> Result<(), Halt> {
    let tid = Some(id as u64 + 100);
    tables.push(Thread { id, tid, process_id: 0, name: Some(name.into()), kind: None, location: None })
}

/// The row of a span.
pub fn push_span(tables: &mut Tables<'_>, thread_id: i64, category: &str, span: Brief) -> Result<(), Halt> {
    let (name, id, depth, parent_id, ts_ns, dur_ns) = span;
    tables.push(Span {
        id,
        parent_id,
        thread_id,
        depth,
        ts_ns,
        dur_ns,
        self_ns: dur_ns,
        name: name.into(),
        category: category.into(),
        ..Span::default()
    })
}

/// An allocation at the time given by its id, with only a size and a stack.
pub fn allocation(id: i64, size_bytes: u64, stack_id: Option<i64>, fate: &str) -> Allocation<'_> {
    let (ts_ns, address, fate) = (id, 16, fate.into());
    Allocation { id, ts_ns, address, size_bytes, stack_id, fate, ..Allocation::default() }
}

/// A pass over these tables.
pub fn pass<'a>(source: &'a dyn TableSource, options: &'a Options, target: &Target) -> Pass<'a> {
    Pass::new(&Request { source, options, variant: "" }, target).unwrap()
}

/// The output of a target, and the losses that it reports.
pub fn written(target: &Target, source: &dyn TableSource) -> (Vec<u8>, Loss) {
    written_with(target, source, &Options::default()).unwrap()
}

/// The same with options.
pub fn written_with(target: &Target, source: &dyn TableSource, options: &Options) -> Result<(Vec<u8>, Loss)> {
    let mut out = Vec::new();
    let loss = write(target, source, options, &mut out)?;
    Ok((out, loss))
}
