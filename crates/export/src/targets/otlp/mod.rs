//! OpenTelemetry's protocol as a file: one message of traces or logs, in consecutive parts.
//!
//! A message is the concatenation of its parts, so the output is written part by part, each with a process and its
//! spans or log records.

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
use traceloom_model::Table;

use self::{around::Waiting, batches::Batches, events::SpanEvents, links::Links, resources::resources};
use traceloom_passes::{
    ArgRows, AttributeRows, EVENTS, LAYERS, LOGS, LinkRows, Need, Numbering, Pass, ROSTER, Target, Timeline, Variant,
    Writer, phrase,
};

pub(super) static TARGET: Target = Target {
    id: "otlp",
    name: "OpenTelemetry",
    about: "OTLP as protobuf, for collectors and tracing backends: traces with events and links, or logs",
    extensions: &["otlp", "otlp.pb"],
    variants: &[
        Variant::new("best", "traces if there are spans, otherwise logs"),
        Variant::new("logs", "LogsData: log entries, and events outside spans"),
        Variant::new("traces", "TracesData: spans with the events inside them and flows as links"),
    ],
    needs: &[
        ROSTER,
        LAYERS,
        &[Need::of::<AttributeRows<'_>>(), EVENTS, LOGS, Need::of::<LinkRows<'_>>(), Need::of::<ArgRows<'_>>()],
    ],
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let clock = Clock::new(pass);
    // The traces' process and thread numbers are written unchanged; this only determines the process of each thread.
    let numbering = Numbering::new(&pass.roster, &mut Loss::default());
    let batches = Batches::new(resources(pass, &numbering)?, out);
    let mut output = Output { numbering, clock, batches };
    let records = pass.rows(Table::Logs) + pass.rows(Table::Events);
    let has_traces = !pass.spans.is_empty() || records == 0;
    if pass.variant == "traces" || pass.variant == "best" && has_traces {
        lose_table(pass, Table::Logs)?;
        let mut events = SpanEvents::new(pass, &output.clock)?;
        let links = Links::new(pass)?;
        spans::write(pass, &mut events, &links, &mut output)?;
        events.finish(&mut pass.loss);
    } else {
        lose_table(pass, Table::Links)?;
        lose_spans(pass)?;
        write_logs(pass, &mut output)?;
    }
    output.batches.finish()
}

/// Context for writing spans and log records.
struct Output<'o> {
    numbering: Numbering,
    clock: Clock,
    batches: Batches<'o>,
}

/// Writes log records, in file order if there are no spans that could contain them.
fn write_logs(pass: &mut Pass<'_>, output: &mut Output<'_>) -> Result<()> {
    let mut waiting = (!pass.spans.is_empty()).then(|| Waiting::new(&pass.options.limits));
    let Output { numbering, clock, batches } = output;
    logs::pour(pass, clock, |found, record| {
        if let Some(waiting) = &mut waiting
            && waiting.keep(found, record)?
        {
            return Ok(());
        }
        let process = match found.thread {
            Some(thread) => numbering.process_of(thread, found.owner.trace()),
            None => numbering.first_process(found.owner.trace()),
        };
        batches.turn_to(process)?;
        batches.add(record)
    })?;
    waiting.map_or(Ok(()), |waiting| waiting.write(pass, output))
}

/// Counts the rows of a table that the variant does not show.
fn lose_table(pass: &mut Pass<'_>, table: Table) -> Result<()> {
    pass.rest().pour(&[table], |table, batch| {
        traceloom_passes::lose_table(&mut pass.loss, table, batch, &pass.options.slice);
        Ok(())
    })
}

fn lose_spans(pass: &mut Pass<'_>) -> Result<()> {
    for span in pass.spans.iter(&pass.roster)? {
        let span = span?;
        span.lose(phrase(span.table()), &mut pass.loss);
    }
    Ok(())
}

/// The start of times without a known origin: one second into 1970, because 0 means that there is no time.
const UNKNOWN_START_NS: i64 = 1_000_000_000;

/// Times since 1970, or since the start if the traces do not know the time of day.
#[derive(Debug)]
struct Clock {
    timeline: Timeline,
    start_ns: i64,
}

impl Clock {
    fn new(pass: &mut Pass<'_>) -> Self {
        let Pass { timeline, roster, loss, .. } = pass;
        let start_ns = timeline.unix_origin_ns().unwrap_or_else(|| {
            for trace in roster.traces.iter().filter(|trace| trace.first_ts_ns.is_some()) {
                loss.lose("the time of day, which is unknown: the output starts in 1970", || trace.path.clone());
            }
            UNKNOWN_START_NS
        });
        Self { timeline: *timeline, start_ns }
    }

    #[inline]
    fn at(&self, ts_ns: i64) -> u64 {
        self.timeline.at(ts_ns).saturating_add_signed(self.start_ns)
    }

    /// Whether an interval exceeds the times that can be represented.
    #[inline]
    fn is_far(&self, start_ns: i64, end_ns: i64) -> bool {
        self.timeline.is_far(start_ns, end_ns) || self.timeline.at(start_ns).checked_add_signed(self.start_ns).is_none()
    }
}
