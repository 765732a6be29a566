//! `stats`: how often, how long, how much of the whole.

mod json;
mod text;

use std::io::Write;

use traceloom_analysis::stats::{self, Options, Pairing};
use traceloom_core::Result;

use crate::{Outcome, args::figures::Stats as Arguments, output::stdout};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let traces = arguments.reading.open_set(&arguments.files)?;
    let report = stats::of_traces(traces.placed(), &options(arguments))?;
    let mut out = stdout();
    if arguments.json {
        writeln!(out, "{}", json::report(&report, arguments))?;
    } else {
        text::write(&mut out, &report, arguments)?;
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

fn options(arguments: &Arguments) -> Options {
    let defaults = Options::default();
    let relation = arguments.value.clone().zip(arguments.inside.clone());
    Options {
        by: arguments.by.iter().map(|by| (*by).into()).collect(),
        range: arguments.range.unwrap_or_default(),
        names: arguments.names.clone(),
        sort: arguments.sort.into(),
        histogram: arguments.histogram.clone(),
        relation: relation.map(|(value, span)| Pairing { value, span }),
        ..defaults
    }
}
