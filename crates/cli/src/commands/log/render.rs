//! Renders entries as text.

use std::io::{self, Write};

use anstyle::Style;
use jiff::tz::TimeZone;
use traceloom::cnanolog::{
    Reader, Record,
    text::{Compat, Json, Lines, Messages, Pattern, Step, Zone, utc},
};
use traceloom_core::{Error, Located, Position, Result, Text};

use super::{filter::FileFilter, lines::TakeLines};
use crate::{args, output::Styles};

/// Turns the entries of one file into lines.
pub(super) struct Render {
    form: Form,
    line: Vec<u8>,
}

enum Form {
    Compat(Box<Compat>),
    Json(Json),
    Lines(Box<Lines>),
}

impl Render {
    pub(super) fn new(reader: &Reader, arguments: &args::log::Log) -> Self {
        let zone = zone(arguments);
        let pattern = arguments.pattern.as_deref().map(str::as_bytes);
        let form = if arguments.compat {
            let mut compat = Compat::new(reader, pattern, zone);
            if let (Some(dictionary), false) = (reader.dictionary(), arguments.level.is_empty()) {
                for name in compat.filter(&arguments.level.join(","), dictionary) {
                    let style = Styles::WARNING;
                    anstream::eprintln!("{style}warning:{style:#} unknown level {name}");
                }
            }
            Form::Compat(Box::new(compat))
        } else if arguments.json {
            Form::Json(Json::new(reader.clock()))
        } else {
            let pattern = pattern.map(Pattern::library).unwrap_or_default();
            Form::Lines(Box::new(Lines::new(pattern, reader.clock(), zone)))
        };
        Self { form, line: Vec::new() }
    }

    /// A copy for one of `among` threads that render lines of the same file.
    pub(super) fn shared(mut self, among: usize) -> Self {
        match &mut self.form {
            Form::Compat(_) => {}
            Form::Json(json) => json.messages = Messages::shared(among),
            Form::Lines(lines) => lines.messages = Messages::shared(among),
        }
        self
    }

    /// The renderer of messages; the decompressor's text has its own, with other limits.
    fn messages(&self) -> Option<&Messages> {
        match &self.form {
            Form::Compat(_) => None,
            Form::Json(json) => Some(&json.messages),
            Form::Lines(lines) => Some(&lines.messages),
        }
    }

    /// Whether the last line could differ if this copy had rendered all earlier lines.
    pub(super) fn depends_on_others(&self) -> bool {
        self.messages().is_some_and(Messages::depends_on_others)
    }

    /// Number of messages that were cut off.
    pub(super) fn cut(&self) -> u64 {
        self.messages().map_or(0, Messages::cut)
    }

    /// Writes the line of a record; false if the decompressor would stop.
    pub(super) fn put(
        &mut self,
        located: &Located<Record<'_>>,
        filter: &mut FileFilter,
        out: &mut impl TakeLines,
    ) -> Result<bool> {
        if let Form::Compat(compat) = &mut self.form {
            self.line.clear();
            let step = compat.put(&located.record, &mut self.line);
            out.put(&self.line)?;
            return match step {
                Step::Continue => Ok(true),
                Step::Done => Ok(false),
                Step::Fails(message) => {
                    out.flush()?;
                    Err(Error::unrecognized(format!("CNanoLog's decompressor stops here: {message}"))
                        .at(Position::at(located.offset)))
                }
            };
        }
        let Record::Entry(entry) = &located.record else { return Ok(true) };
        if filter.keeps(entry) {
            self.put_entry(located, out)?;
        } else if out.has_context() {
            self.render(located, out.is_shown())?;
            out.put_other(&self.line)?;
        }
        Ok(true)
    }

    /// Writes the line of an entry.
    pub(super) fn put_entry(&mut self, located: &Located<Record<'_>>, out: &mut impl TakeLines) -> Result<()> {
        self.render(located, out.is_shown())?;
        out.put(&self.line)
    }

    fn render(&mut self, located: &Located<Record<'_>>, is_shown: bool) -> Result<()> {
        self.line.clear();
        let Record::Entry(entry) = &located.record else { return Ok(()) };
        match &mut self.form {
            Form::Compat(compat) => _ = compat.put(&located.record, &mut self.line),
            Form::Json(json) => json.put(entry, located.offset, &mut self.line),
            Form::Lines(lines) => {
                lines.put(entry, &mut self.line);
                if is_shown {
                    let line = std::mem::take(&mut self.line);
                    let level = entry.site().and_then(|site| entry.dictionary()?.level_name(site.level));
                    show(&line, style_of(level.unwrap_or_default()), &mut self.line)?;
                }
            }
        }
        Ok(())
    }
}

/// Rejects a pattern with unknown tokens.
pub(super) fn check_pattern(arguments: &args::log::Log) -> Result<()> {
    let known = if arguments.compat { "tTrlfLm%" } else { "tTdDrlLfnm%" };
    let mut characters = arguments.pattern.as_deref().unwrap_or_default().chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            continue;
        }
        let token = characters.next().map(String::from).unwrap_or_default();
        if token.is_empty() || !known.contains(&token) {
            let all: Vec<String> = known.chars().map(|token| format!("%{token}")).collect();
            return Err(Error::usage(format!(
                "unknown token `%{token}` in --pattern; the tokens are {}",
                all.join(" ")
            )));
        }
    }
    Ok(())
}

/// Writes a line for a person: in color, and without control characters other than tabs.
pub(super) fn show(line: &[u8], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    write!(out, "{style}")?;
    for (index, text) in line.split(|byte| *byte == b'\t').enumerate() {
        let tab = if index > 0 { "\t" } else { "" };
        write!(out, "{tab}{}", Text(text))?;
    }
    writeln!(out, "{style:#}")
}

/// The color of a level.
pub(super) fn style_of(level: &[u8]) -> Style {
    match level {
        b"ERROR" => Styles::ERROR,
        b"WARN" => Styles::WARNING,
        b"DEBUG" => Styles::DIM,
        _ => Style::new(),
    }
}

/// The time zone of the times to print.
pub(super) fn zone(arguments: &args::log::Log) -> Zone {
    if arguments.local { local } else { utc }
}

fn local(unix: i64) -> i32 {
    let timestamp = jiff::Timestamp::from_second(unix).unwrap_or_default();
    TimeZone::system().to_offset(timestamp).seconds()
}
