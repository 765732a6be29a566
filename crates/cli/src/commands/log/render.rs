//! How entries are shown.

use std::io::{self, Write};

use anstyle::Style;
use jiff::tz::TimeZone;
use traceloom::cnanolog::{
    Entry, Reader, Record,
    text::{Compat, Json, Lines, Pattern, Step, Zone, utc},
};
use traceloom_core::{Error, Located, Position, Result, Text};

use super::{Out, filter::FileFilter};
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
    pub(super) fn new(reader: &Reader, arguments: &args::Log) -> Self {
        let zone: Zone = if arguments.local { local } else { utc };
        let pattern = arguments.pattern.as_deref().map(str::as_bytes);
        let form = if arguments.compat {
            let mut compat = Compat::new(reader, pattern, zone);
            if let (Some(dictionary), false) = (reader.dictionary(), arguments.level.is_empty()) {
                for name in compat.filter(&arguments.level.join(","), dictionary) {
                    let style = Styles::WARNING;
                    anstream::eprintln!("{style}warning:{style:#} there is no level {name}; it is ignored");
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

    /// Writes what a record asks for; false where the original would stop.
    pub(super) fn put(
        &mut self,
        located: &Located<Record<'_>>,
        filter: &mut FileFilter,
        out: &mut Out,
    ) -> Result<bool> {
        if let Form::Compat(compat) = &mut self.form {
            self.line.clear();
            let step = compat.put(&located.record, &mut self.line);
            out.to.write_all(&self.line)?;
            return match step {
                Step::Continue => Ok(true),
                Step::Done => Ok(false),
                Step::Fails(message) => {
                    out.flush()?;
                    Err(Error::unrecognized(format!("the original gives up: {message}"))
                        .at(Position::at(located.offset)))
                }
            };
        }
        if let Record::Entry(entry) = &located.record
            && filter.keeps(entry)
        {
            self.put_entry(located, out)?;
        }
        Ok(true)
    }

    /// Writes the line of an entry.
    pub(super) fn put_entry(&mut self, located: &Located<Record<'_>>, out: &mut Out) -> Result<()> {
        let Record::Entry(entry) = &located.record else { return Ok(()) };
        self.line.clear();
        match &mut self.form {
            Form::Compat(compat) => _ = compat.put(&located.record, &mut self.line),
            Form::Json(json) => json.put(entry, located.offset, &mut self.line),
            Form::Lines(lines) => {
                lines.put(entry, &mut self.line);
                if out.is_shown {
                    return Ok(show(&self.line, style_of(entry), &mut out.to)?);
                }
            }
        }
        Ok(out.to.write_all(&self.line)?)
    }
}

/// Writes a line for a person: in colour, and without control characters other than tabs.
fn show(line: &[u8], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    write!(out, "{style}")?;
    for (index, text) in line.split(|byte| *byte == b'\t').enumerate() {
        let tab = if index > 0 { "\t" } else { "" };
        write!(out, "{tab}{}", Text(text))?;
    }
    writeln!(out, "{style:#}")
}

/// The colour of an entry's level.
fn style_of(entry: &Entry<'_>) -> Style {
    let name = entry.site().and_then(|site| entry.dictionary()?.level_name(site.level));
    match name {
        Some(b"ERROR") => Styles::ERROR,
        Some(b"WARN") => Styles::WARNING,
        Some(b"DEBUG") => Styles::DIM,
        _ => Style::new(),
    }
}

fn local(unix: i64) -> i32 {
    let timestamp = jiff::Timestamp::from_second(unix).unwrap_or_default();
    TimeZone::system().to_offset(timestamp).seconds()
}
