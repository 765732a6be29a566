//! `report --interactive`: the viewer and the traces in one file.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use traceloom::Trace;
use traceloom_analysis::{notes, units::time};
use traceloom_core::{Error, Result, Slice, TimeRange};
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, select};
use traceloom_report::{Packable, Packed, write_interactive};

use crate::{
    Outcome,
    args::answers::Report as Arguments,
    companion::Companion,
    each,
    output::{note, write_file},
    units::Bytes,
};

static PAGE: Companion = Companion {
    file: "traceloom-page.html",
    variable: "TRACELOOM_PAGE",
    places: &["", "../share/traceloom", "../page"],
    built_by: "cargo xtask page",
};

/// Space for the tag around a trace and for a message about it in another tag.
const TAG_BYTES: u64 = 1 << 10;

pub(super) fn run(arguments: &Arguments) -> Result<Outcome> {
    let path = PAGE.path()?;
    let page = fs::read_to_string(&path).map_err(|error| Error::from(error).in_file(&path))?;
    let count = (arguments.files.len() as u64).max(1);
    // Every tag lists the missing parts of all traces.
    let tags = TAG_BYTES * count * count;
    let room = arguments.max_size.saturating_sub(page.len() as u64 + tags) / count;
    let (mut traces, mut notices) = (Vec::new(), Vec::new());
    let outcome = each(&arguments.files, |path| {
        let trace = arguments.reading.open(path)?;
        let extent = extent(&trace)?;
        let packed = pack(path, &trace, extent, room).map_err(|error| error.in_file(path))?;
        notices.extend(packed.kept.zip(extent).map(|(kept, all)| notice(path, kept, all, arguments.max_size)));
        traces.push(packed);
        let noted = notes::read(path)?.len();
        if noted > 0 {
            let file = path.display();
            note(&format!(
                "{file}: an interactive report leaves out its notes ({noted}); a report without --interactive includes them"
            ));
        }
        Ok(Outcome::Fine)
    })?;
    if traces.is_empty() {
        return Ok(outcome);
    }
    notices.iter().for_each(|notice| note(notice));
    let inputs: Vec<_> = arguments.files.iter().map(AsRef::as_ref).collect();
    write_file(&arguments.output, &inputs, |out| write_interactive(&page, &traces, &notices.join(" "), out))?;
    Ok(outcome)
}

fn pack(path: &Path, trace: &Trace, extent: Option<(i64, i64)>, room: u64) -> Result<Packed> {
    let write = |range: Option<TimeRange>, out: &mut dyn Write| match range {
        Some(range) => trace.slice(&Slice { range, threads: Vec::new() }, out).map(drop),
        None => Ok(io::copy(&mut trace.source().stream(), out).map(drop)?),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Packed::new(&Packable { name, bytes: trace.source().len()?, extent, write: &write }, room)
}

select! { struct Rows of traces { first_ts_ns, last_ts_ns } }

/// The first and last time of a trace.
fn extent(trace: &Trace) -> Result<Option<(i64, i64)>> {
    let mut batches = Batches::of(Wanted::nothing().and(Table::Traces, Rows::COLUMNS));
    trace.pour(&Filter::default(), &mut batches)?;
    let Some(rows) = batches.table(Table::Traces).next().map(Rows::of).transpose()?.filter(|rows| rows.rows > 0) else {
        return Ok(None);
    };
    Ok(rows.first_ts_ns.get(0).zip(rows.last_ts_ns.get(0)))
}

/// Describes what was left out, and why.
fn notice(path: &Path, kept: TimeRange, (first, last): (i64, i64), max_size: u64) -> String {
    let length = |to: i64| time(to.abs_diff(first) as f64);
    format!(
        "INCOMPLETE: {} is cut after {} of {} to keep the file below {}; slice the trace, or raise --max-size.",
        path.file_name().unwrap_or_default().to_string_lossy(),
        length(kept.to_ns().unwrap_or(last)),
        length(last),
        Bytes(max_size),
    )
}
