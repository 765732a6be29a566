//! `advise`: what is worth a look.

use std::{io::Write, path::Path};

use serde_json::{Value as Json, json};
use traceloom_analysis::advise::{self, Advice, Evidence, Options, Rule, Unit, Weight};
use traceloom_core::Result;

use crate::{
    Outcome,
    args::figures::Advise as Arguments,
    each,
    input::display_name,
    output::{Styles, clean, stdout},
    table::Rounded,
    units::Bytes,
};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    each(&arguments.files, |path| one(path, arguments))
}

fn one(path: &Path, arguments: &Arguments) -> Result<Outcome> {
    let trace = arguments.reading.open(path)?;
    let all = advise::of_trace(&trace, &options(arguments))?;
    let mut out = stdout();
    if arguments.json {
        let list: Vec<Json> = all.iter().map(to_json).collect();
        writeln!(out, "{}", json!({"file": path.to_string_lossy(), "advice": list}))?;
    } else {
        write(&mut out, &display_name(path), &all)?;
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

fn options(arguments: &Arguments) -> Options {
    let long_ns = arguments.long.max(0).unsigned_abs();
    Options {
        long_ns,
        very_long_ns: long_ns.saturating_mul(5),
        hot: [1.0, 2.0, 3.0].map(|times| arguments.hot * times),
        imbalance: arguments.imbalance,
        switches: arguments.switches,
        spike: arguments.spike,
        growth: arguments.growth,
        logs: arguments.logs,
    }
}

fn write(out: &mut dyn Write, file: &str, all: &[Advice]) -> Result<()> {
    let (bold, dim, good) = (Styles::NAME, Styles::DIM, Styles::GOOD);
    if all.is_empty() {
        return Ok(writeln!(out, "{bold}{file}{bold:#}: {good}nothing stands out{good:#}")?);
    }
    let things = if all.len() == 1 { "one thing is".to_owned() } else { format!("{} things are", all.len()) };
    writeln!(out, "{bold}{file}{bold:#}: {things} worth a look")?;
    for advice in all {
        let style = match advice.weight {
            Weight::High => Styles::ERROR,
            Weight::Medium => Styles::WARNING,
            Weight::Low => Styles::NOTE,
        };
        let (weight, rule) = (advice.weight.as_str(), advice.rule.as_str());
        writeln!(out, "\n{style}{weight}{style:#} {} {dim}[{rule}]{dim:#}", clean(&sentence(advice)))?;
        for evidence in &advice.evidence {
            writeln!(out, "    {}", clean(&fact(evidence)))?;
        }
        writeln!(out, "    {dim}{}{dim:#}", clean(&advice.query))?;
    }
    Ok(())
}

fn sentence(advice: &Advice) -> String {
    let (subject, count) = (&advice.subject, advice.count);
    let (value, limit) = (amount(advice.value, advice.rule.unit()), amount(advice.limit, advice.rule.unit()));
    match advice.rule {
        Rule::LongSpan => format!("{subject} takes up to {value}; {count} took longer than {limit}"),
        Rule::HotName => format!("{value} of the trace is spent in {subject} itself"),
        Rule::FrameSpike => {
            format!("{count} frames of {subject} take more than {limit} as long as the median, the longest {value}")
        }
        Rule::Growth => format!("{subject} grows by {value} and never falls"),
        Rule::LogStorm => format!("{subject:?} is logged {value} times in one second, {count} times in all"),
        Rule::ManySwitches => format!("{subject} was taken off the processor {value} times"),
        Rule::UnbalancedThreads => format!("{subject} is busy {value} as long as the least busy of {count} threads"),
    }
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

fn to_json(advice: &Advice) -> Json {
    let unit = |unit: Unit| match unit {
        Unit::Bytes => "bytes",
        Unit::Count => "count",
        Unit::Nanoseconds => "ns",
        Unit::Number => "number",
        Unit::Part => "part",
        Unit::Times => "times",
    };
    let evidence = advice.evidence.iter().map(|evidence| {
        json!({"what": evidence.what, "ts_ns": evidence.ts_ns, "value": evidence.value, "unit": unit(evidence.unit)})
    });
    json!({
        "rule": advice.rule.as_str(),
        "weight": advice.weight.as_str(),
        "subject": advice.subject,
        "message": sentence(advice),
        "value": advice.value,
        "limit": advice.limit,
        "unit": unit(advice.rule.unit()),
        "count": advice.count,
        "evidence": evidence.collect::<Vec<_>>(),
        "query": advice.query,
    })
}
