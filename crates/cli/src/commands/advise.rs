//! `advise`: problems worth fixing.

use std::{io::Write, path::Path};

use traceloom_analysis::advise::{self, Advice, Evidence, Options, Unit, Weight};
use traceloom_core::Result;

use crate::{
    Outcome,
    args::figures::Advise as Arguments,
    each,
    input::shown_name,
    output::{Styles, clean, stdout},
    table::Rounded,
    units::Bytes,
};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    each(&arguments.each.files, |path| one(path, arguments))
}

fn one(path: &Path, arguments: &Arguments) -> Result<Outcome> {
    let trace = arguments.each.reading.open(path)?;
    let options =
        Options { budget_ns: arguments.budget.max(0).unsigned_abs(), hot: arguments.hot, spike: arguments.spike };
    let all = advise::of_trace(&trace, &options)?;
    let mut out = stdout();
    if arguments.each.json {
        writeln!(out, "{}", advise::to_json(path, &all))?;
    } else {
        write(&mut out, &shown_name(path), &all, arguments.sql)?;
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

fn write(out: &mut dyn Write, file: &str, all: &[Advice], with_sql: bool) -> Result<()> {
    let (bold, dim, good) = (Styles::NAME, Styles::DIM, Styles::GOOD);
    if all.is_empty() {
        return Ok(writeln!(out, "{bold}{file}{bold:#}: {good}no problems found{good:#}")?);
    }
    let findings = if all.len() == 1 { "1 finding".to_owned() } else { format!("{} findings", all.len()) };
    writeln!(out, "{bold}{file}{bold:#}: {findings}")?;
    for advice in all {
        writeln!(out)?;
        write_advice(out, advice)?;
        for evidence in &advice.evidence {
            writeln!(out, "        {}", clean(&fact(evidence)))?;
        }
        if with_sql {
            writeln!(out, "        {dim}{}{dim:#}", clean(&advice.query))?;
        }
    }
    Ok(())
}

/// Writes a finding as one line.
pub(super) fn write_advice(out: &mut dyn Write, advice: &Advice) -> Result<()> {
    let style = match advice.weight {
        Weight::High => Styles::ERROR,
        Weight::Medium => Styles::WARNING,
        Weight::Low => Styles::NOTE,
    };
    let (dim, weight, rule) = (Styles::DIM, advice.weight.as_str().to_uppercase(), advice.rule.as_str());
    Ok(writeln!(out, "{style}{weight:<6}{style:#}  {} {dim}[{rule}]{dim:#}", clean(&advice.message))?)
}

fn fact(evidence: &Evidence) -> String {
    let value = amount(evidence.value, evidence.unit);
    match evidence.ts_ns {
        Some(ts_ns) => format!("{value} {} at {}", evidence.what, Rounded(ts_ns as f64)),
        None => format!("{value} {}", evidence.what),
    }
}

fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => Bytes(value.max(0.0) as u64).to_string(),
        Unit::Count => format!("{value:.0}"),
        Unit::Nanoseconds => Rounded(value).to_string(),
        Unit::Number => format!("{value}"),
        Unit::Part => format!("{:.1} %", value * 100.0),
        Unit::Times => format!("{value:.1} times"),
    }
}
