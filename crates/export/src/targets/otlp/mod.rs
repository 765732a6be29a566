//! OpenTelemetry's protocol as a file: one message of traces or of logs, in parts that follow each other.
//!
//! A message is the sum of its parts, so the output is written part by part, each with a process and what belongs to it.

mod around;
mod attributes;
mod batches;
mod events;
mod fields;
mod ids;
mod links;
mod logs;
mod resources;
mod spans;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::{Table, TableSource};

use self::{around::Waiting, batches::Batches, events::SpanEvents, links::Links, resources::resources};
use traceloom_passes::{
    COLORED_SPAN_COLUMNS, Descriptor, Gathered, Layer, Need, Numbering, Options, Request, Roster, Target, ThreadIndex,
    Timeline, Variant, lose_table, phrase,
};

/// OpenTelemetry.
#[derive(Debug)]
pub(super) struct Otlp;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "otlp",
    name: "OpenTelemetry",
    about: "OTLP as protobuf, for collectors and what stands behind them: traces with events and links, or logs",
    extensions: &["otlp", "otlp.pb"],
    variants: &[
        Variant { id: "best", about: "traces where there are spans, else logs" },
        Variant { id: "logs", about: "LogsData: log entries, and events outside of spans" },
        Variant { id: "traces", about: "TracesData: spans with the events inside of them and flows as links" },
    ],
    needs: &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Processes, &[]),
        Need::of(Table::Threads, &[]),
        Need::of(Table::Attributes, &[]),
        Need::by_begin(Table::Spans, COLORED_SPAN_COLUMNS),
        Need::by_begin(Table::Switches, &[]),
        Need::of(Table::Events, &["ts_ns", "thread_id", "span_id", "name", "category"]),
        Need::of(Table::Logs, &["ts_ns", "thread_id", "level", "level_name", "file", "line", "format", "message"]),
        Need::of(Table::Links, &[]),
        Need::of(Table::Args, &[]),
    ],
    ..Descriptor::EMPTY
};

impl Target for Otlp {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, variant, .. } = *request;
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let clock = Clock::new(&gathered.roster, &mut loss);
        // Numbers are as the traces have them; this is about who belongs to whom.
        let numbering = Numbering::new(&gathered.roster, &mut Loss::default());
        let resources = resources(source, &mut gathered, &numbering, &mut loss)?;
        let mut batches = Batches::new(resources, out);
        let records = gathered.rows(Table::Logs) + gathered.rows(Table::Events);
        let has_traces = !gathered.spans.is_empty() || records == 0;
        if variant == "traces" || variant == "best" && has_traces {
            lose_rows(source, &gathered, Table::Logs, options, &mut loss)?;
            let mut events = SpanEvents::new(source, &mut gathered, options, &clock, &mut loss)?;
            let links = Links::new(source, &mut gathered, options, &mut loss)?;
            spans::write(&mut gathered, &numbering, &clock, (&mut events, &links), &mut batches, &mut loss)?;
            events.finish(&mut loss);
        } else {
            lose_rows(source, &gathered, Table::Links, options, &mut loss)?;
            lose_spans(&gathered, &mut loss)?;
            write_logs(source, &mut gathered, options, &numbering, &clock, &mut batches, &mut loss)?;
        }
        batches.finish()?;
        Ok(loss)
    }
}

/// Writes log records, in the order of the file where there is no span that they could lie in.
fn write_logs(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    numbering: &Numbering,
    clock: &Clock,
    batches: &mut Batches<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let mut waiting = (!gathered.spans.is_empty()).then(|| Waiting::new(&options.limits));
    logs::pour(source, gathered, options, clock, loss, |found, record| {
        if let Some(waiting) = &mut waiting
            && waiting.keep(found, record)?
        {
            return Ok(());
        }
        let process = match found.thread {
            Some(thread) => numbering.process_of(thread, found.trace),
            None => numbering.first_process(found.trace),
        };
        batches.turn_to(process)?;
        batches.add(record)
    })?;
    waiting.map_or(Ok(()), |waiting| waiting.write(gathered, numbering, batches))
}

/// Counts rows that the variant does not show.
fn lose_rows(
    source: &dyn TableSource,
    gathered: &Gathered,
    table: Table,
    options: &Options,
    loss: &mut Loss,
) -> Result<()> {
    gathered.rest().pour(source, &[table], |table, batch| {
        lose_table(loss, table, batch, &options.slice);
        Ok(())
    })
}

fn lose_spans(gathered: &Gathered, loss: &mut Loss) -> Result<()> {
    for span in gathered.spans.iter(&gathered.roster)? {
        let span = span?;
        let table = if span.layer == Layer::Switches { Table::Switches } else { Table::Spans };
        loss.lose(phrase(table), || format!("{} {}", table.name(), span.id));
    }
    Ok(())
}

/// Where times begin that are not known: a second into 1970, since 0 means that there is no time.
const UNKNOWN_START_NS: i64 = 1_000_000_000;

/// Times since 1970, or since the begin where the traces do not know when it was.
#[derive(Debug)]
struct Clock {
    timeline: Timeline,
    start_ns: i64,
}

impl Clock {
    fn new(roster: &Roster, loss: &mut Loss) -> Self {
        let timeline = Timeline::new(roster);
        let start_ns = timeline.unix_origin_ns().unwrap_or_else(|| {
            for trace in roster.traces.iter().filter(|trace| trace.first_ts_ns.is_some()) {
                loss.lose("when it was: the output begins in 1970", || trace.path.clone());
            }
            UNKNOWN_START_NS
        });
        Self { timeline, start_ns }
    }

    #[inline]
    fn at(&self, trace: usize, ts_ns: i64) -> u64 {
        self.timeline.at(trace, ts_ns).saturating_add_signed(self.start_ns)
    }

    /// Whether an interval reaches beyond what can be counted.
    #[inline]
    fn is_far(&self, trace: usize, begin_ns: i64, end_ns: i64) -> bool {
        self.timeline.is_far(trace, begin_ns, end_ns)
            || self.timeline.at(trace, begin_ns).checked_add_signed(self.start_ns).is_none()
    }
}

/// Where a row is.
#[derive(Clone, Copy, Debug)]
struct Found {
    trace: usize,
    thread: Option<ThreadIndex>,
    ts_ns: Option<i64>,
}

/// Finds out where rows are.
struct Rows<'a> {
    roster: &'a mut Roster,
    options: &'a Options,
}

impl Rows<'_> {
    /// Where a row is; none where the slice leaves it out.
    fn find(self, trace_id: u64, thread_id: Option<i64>, ts_ns: Option<i64>) -> Result<Option<Found>> {
        let found = self.roster.point(&self.options.slice, trace_id, thread_id, ts_ns)?;
        Ok(found.map(|(trace, thread)| Found { trace, thread, ts_ns }))
    }
}
