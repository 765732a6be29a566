//! Prints the log lines of a trace of another format, from its tables.

use traceloom::{
    Trace,
    cnanolog::{
        CNanoLog, Moment,
        text::{NO_TIMESTAMP, Pattern, Stamp, Token},
    },
};
use traceloom_analysis::logs::{LogLine, Logs};
use traceloom_core::{Error, Result};
use traceloom_model::Flow;

use super::{
    Printer,
    lines::TakeLines,
    render::{show, style_of, zone},
};
use crate::{Outcome, args};

/// The pattern of traces that have no time of day.
const RELATIVE: &[u8] = b"[%r] [%l] [%f:%n] %m";

/// Whether a trace is printed from its tables: it has no entries of its own, and no option needs them.
pub(super) fn suits(trace: &Trace, arguments: &args::log::Log) -> bool {
    let needs_entries = arguments.compat || arguments.dictionary.is_some() || arguments.levels.is_some();
    !trace.is::<CNanoLog>() && !needs_entries
}

/// Prints the lines of one trace.
pub(super) fn print(trace: &Trace, printer: &mut Printer<'_>) -> Result<Outcome> {
    let (logs, mut has_lines) = (Logs::of(trace)?, false);
    let mut render = Render::new(printer.arguments, logs.unix_origin_ns.is_some());
    logs.each(|line| {
        has_lines = true;
        if printer.filter.keeps(line) {
            printer.out.put(render.line(line, printer.out.is_shown())?)?;
        } else if printer.out.has_context() {
            printer.out.put_other(render.line(line, printer.out.is_shown())?)?;
        }
        Ok(if printer.out.is_full() { Flow::Stop } else { Flow::Continue })
    })?;
    printer.out.flush()?;
    if !has_lines {
        let message = format!("no log lines in this {} trace", trace.format().name);
        return Err(Error::unsupported(message).in_file(trace.path()));
    }
    Ok(Outcome::Fine)
}

/// Renders lines, as JSON or by a pattern.
struct Render {
    /// `None` for JSON.
    pattern: Option<Pattern>,
    stamp: Stamp,
    line: Vec<u8>,
}

impl Render {
    fn new(arguments: &args::log::Log, has_time_of_day: bool) -> Self {
        let pattern = match &arguments.pattern {
            Some(pattern) => Pattern::library(pattern.as_bytes()),
            None if has_time_of_day => Pattern::default(),
            None => Pattern::library(RELATIVE),
        };
        Self { pattern: (!arguments.json).then_some(pattern), stamp: Stamp::new(zone(arguments)), line: Vec::new() }
    }

    /// The line with its newline.
    fn line(&mut self, line: &LogLine<'_>, is_shown: bool) -> Result<&[u8]> {
        self.line.clear();
        let Self { pattern, stamp, line: out } = self;
        match pattern {
            None => out.extend_from_slice(line.to_json().to_string().as_bytes()),
            Some(pattern) => pattern.tokens().iter().for_each(|token| put(token, line, stamp, out)),
        }
        out.push(b'\n');
        if is_shown {
            let plain = std::mem::take(out);
            show(&plain, style_of(line.level.as_bytes()), out)?;
        }
        Ok(&self.line)
    }
}

fn put(token: &Token, line: &LogLine<'_>, stamp: &mut Stamp, out: &mut Vec<u8>) {
    let level = if line.level.is_empty() { "-" } else { line.level };
    let moment = line
        .ts_unix_ns
        .map(|ns| Moment { sec: ns.div_euclid(1_000_000_000), nsec: ns.rem_euclid(1_000_000_000) as u32 });
    match (token, moment) {
        (Token::Literal(text), _) => out.extend_from_slice(text),
        (Token::Message, _) => out.extend_from_slice(line.message.as_bytes()),
        (Token::Level, _) => out.extend_from_slice(level.as_bytes()),
        (Token::LevelLetter, _) => out.extend(level.chars().next().map(String::from).unwrap_or_default().bytes()),
        (Token::File, _) => out.extend_from_slice(line.file.unwrap_or("-").as_bytes()),
        (Token::Line, _) => out.extend_from_slice(line.line.unwrap_or(0).to_string().as_bytes()),
        (Token::Relative | Token::Ticks, _) => put_relative(line.ts_ns, out),
        (Token::DateTime, Some(moment)) => stamp.put_date_time(moment, out),
        (Token::ShortTime, Some(moment)) => stamp.put_short_time(moment, out),
        (Token::Date, Some(moment)) => stamp.put_date(moment, out),
        (Token::Time, Some(moment)) => stamp.put_time(moment, out),
        (Token::DateTime | Token::ShortTime | Token::Date | Token::Time, None) => {
            out.extend_from_slice(NO_TIMESTAMP.as_bytes());
        }
    }
}

/// Seconds since the start of the trace with nine digits.
fn put_relative(ts_ns: Option<i64>, out: &mut Vec<u8>) {
    let Some(ns) = ts_ns else { return out.extend_from_slice(NO_TIMESTAMP.as_bytes()) };
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    out.extend_from_slice(format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000).as_bytes());
}
