//! How entries are shown.

use std::io::{self, IsTerminal, Write};

use anstyle::Style;
use jiff::tz::TimeZone;
use traceloom_bytes::{Error, Located, Position, Result, Text};
use traceloom_cnanolog::{
    Entry, Reader, Record,
    text::{Compat, Json, Lines, Pattern, Step, Zone, utc},
};

use super::filter::FileFilter;
use crate::{args, output::Styles};

/// Turns the entries of one file into lines.
pub(super) struct Render {
    form: Form,
    line: Vec<u8>,
    /// A person looks: colours, and no control characters of the log's.
    is_shown: bool,
}

enum Form {
    Compat(Box<Compat>),
    Json(Json),
    Lines(Box<Lines>),
}

impl Render {
    pub(super) fn new(reader: &Reader, arguments: &args::Log) -> Result<Self> {
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
        Ok(Self { form, line: Vec::new(), is_shown: io::stdout().is_terminal() })
    }

    /// Writes what a record asks for; false where the original would stop.
    pub(super) fn put(
        &mut self,
        located: &Located<Record<'_>>,
        filter: &mut FileFilter<'_>,
        out: &mut dyn Write,
    ) -> Result<bool> {
        if let Form::Compat(compat) = &mut self.form {
            self.line.clear();
            let step = compat.put(&located.record, &mut self.line);
            out.write_all(&self.line)?;
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
    pub(super) fn put_entry(&mut self, located: &Located<Record<'_>>, out: &mut dyn Write) -> Result<()> {
        let Record::Entry(entry) = &located.record else { return Ok(()) };
        self.line.clear();
        match &mut self.form {
            Form::Compat(compat) => _ = compat.put(&located.record, &mut self.line),
            Form::Json(json) => json.put(entry, located.offset, &mut self.line),
            Form::Lines(lines) => {
                lines.put(entry, &mut self.line);
                if self.is_shown {
                    let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                    let style = style_of(entry);
                    return Ok(writeln!(out, "{style}{}{style:#}", Text(line))?);
                }
            }
        }
        Ok(out.write_all(&self.line)?)
    }
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
