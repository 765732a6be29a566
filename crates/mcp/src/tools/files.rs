//! Tools that write a file, only in the folders that the user allowed.

use std::{io::Write, path::Path, sync::Arc};

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{Conversion, Trace, Traces, analysis::summary::Summary};
use traceloom_core::{Error, Loss, Result, Slice, TimeRange, staged};

use super::{Answer, Call, Kind, file};

const WRITTEN: &str = "file:str, size_bytes:int, losses:[what:str, count:int, example:str]";

pub(super) static TOOLS: &[Kind] = &[
    Kind::new::<Cut>(
        "slice",
        "Write a time range or some threads of a trace as a smaller trace of the same format, to a new file in an \
         allowed folder.",
        WRITTEN,
        slice,
    )
    .writing(),
    Kind::new::<Convert>(
        "convert",
        "Convert a trace for another tool or format, such as perfetto, chrome, firefox, speedscope, pprof or folded, \
         to a new file in an allowed folder. Reports data that the output cannot hold.",
        WRITTEN,
        convert,
    )
    .writing(),
    Kind::new::<Report>(
        "report",
        "Write a report to share with people, as one HTML file (or Markdown, if the name ends with .md), to a new file in an \
         allowed folder. Two traces are compared.",
        WRITTEN,
        report,
    )
    .writing(),
];

/// What to keep.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cut {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// The new file.
    output: String,
    /// The start, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// The exclusive end, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// Only these threads, by number or name.
    #[serde(default)]
    threads: Vec<String>,
}

fn slice(call: &Call<'_>) -> Result<Answer> {
    let arguments: Cut = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    let slice = Slice { range: TimeRange::new(arguments.from_ns, arguments.to_ns), threads: arguments.threads };
    write(call, &arguments.output, |out| Ok(trace.slice(&slice, out)?.loss))
}

/// What to write.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Convert {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// The new file; its extension determines the format unless `to` is given.
    output: String,
    /// The format or tool, such as `perfetto`, or with a variant, such as `easyprofiler:1.3.0`.
    to: Option<String>,
}

fn convert(call: &Call<'_>) -> Result<Answer> {
    let arguments: Convert = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    let conversion = match &arguments.to {
        Some(to) => Conversion::to(to)?.named(&arguments.output),
        None => Conversion::for_path(&arguments.output),
    };
    write(call, &arguments.output, |out| Ok(trace.convert(&conversion, out)?.loss))
}

/// What to report on.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Report {
    /// Handles or paths of the traces; may be omitted if only one is open.
    #[serde(default)]
    traces: Vec<String>,
    /// The new file.
    output: String,
}

fn report(call: &Call<'_>) -> Result<Answer> {
    let arguments: Report = call.arguments()?;
    let traces = if arguments.traces.is_empty() {
        vec![call.opened(None)?]
    } else {
        arguments.traces.iter().map(|one| call.opened(Some(one))).collect::<Result<Vec<_>>>()?
    };
    let mut report = traceloom_report::Report::default();
    if let [(before, _), (after, _)] = traces.as_slice() {
        let set = |trace: &Trace| Traces::from_iter([trace.clone()]).set();
        report.compare(set(before)?.traces(), set(after)?.traces(), None)?;
    }
    for (trace, known) in &traces {
        match known.get() {
            Some(summary) => report.add_summarized(trace, Summary::clone(summary))?,
            None => report.add(trace)?,
        }
        if let Some(made) = report.summary() {
            known.get_or_init(|| Arc::new(made.clone()));
        }
    }
    let is_markdown = Path::new(&arguments.output).extension().is_some_and(|extension| extension == "md");
    let page = if is_markdown { report.to_markdown() } else { report.to_html() };
    write(call, &arguments.output, |out| Ok(out.write_all(page.as_bytes()).map(|()| Loss::default())?))
}

/// Writes a new file completely or not at all, and never overwrites another.
fn write(call: &Call<'_>, output: &str, work: impl FnOnce(&mut dyn Write) -> Result<Loss>) -> Result<Answer> {
    let path = call.state.shelf.access.writable(Path::new(output))?;
    let in_file = |error: std::io::Error| Error::from(error).in_file(&path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut growing = staged::create(folder).map_err(in_file)?;
    let loss = {
        let mut out = std::io::BufWriter::with_capacity(256 << 10, growing.as_file_mut());
        let loss = work(&mut out)?;
        out.flush().map_err(in_file)?;
        loss
    };
    call.job.check()?;
    let size_bytes = growing.as_file().metadata().map_err(in_file)?.len();
    growing.persist_noclobber(&path).map_err(|error| in_file(error.error))?;
    let losses =
        loss.entries().map(|(what, count, example)| json!({ "what": what, "count": count, "example": example }));
    let losses: Vec<Json> = losses.collect();
    Ok(Answer::new(json!({ "file": file(&path), "size_bytes": size_bytes, "losses": losses }), None))
}
