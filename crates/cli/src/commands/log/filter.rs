//! Selects the entries to show.

use std::cmp::Ordering;

use jiff::{civil::DateTime, tz::TimeZone};
use regex::bytes::Regex;
use traceloom::cnanolog::{Clock, Dictionary, Entry, Reader, text::Messages};
use traceloom_analysis::{levels::Levels, logs::LogLine};
use traceloom_core::{Error, Result, TimeRange, parse_duration};

use crate::args;

/// The filters given by the user.
pub(super) struct Filter {
    levels: Levels,
    since: Option<Time>,
    until: Option<Time>,
    grep: Option<Regex>,
}

/// A time given by the user.
#[derive(Clone, Copy, Debug)]
enum Time {
    UnixNs(i64),
    AfterStartNs(i64),
}

impl Filter {
    pub(super) fn new(arguments: &args::log::Log) -> Result<Self> {
        let time = |text: &Option<String>| text.as_deref().map(|text| parse(text, arguments.local)).transpose();
        let grep = arguments.grep.as_deref().map(Regex::new).transpose();
        // `--compat` filters levels itself, as CNanoLog's decompressor does.
        let names: &[String] = if arguments.compat { &[] } else { &arguments.level };
        Ok(Self {
            levels: Levels::new(names)?,
            since: time(&arguments.since)?,
            until: time(&arguments.until)?,
            grep: grep.map_err(|error| Error::usage(format!("--grep: {error}")))?,
        })
    }

    /// The filter for one file, whose sites and start time it needs.
    pub(super) fn of(&mut self, reader: &Reader) -> FileFilter {
        let clock = reader.clock();
        let unix_ns = |time: Time| match time {
            Time::UnixNs(ns) => ns,
            Time::AfterStartNs(ns) => clock.start().unix_ns().saturating_add(ns),
        };
        FileFilter {
            levels: self.numbers(reader.dictionary()),
            range: TimeRange::new(self.since.map(unix_ns), self.until.map(unix_ns)),
            grep: self.grep.clone(),
            clock,
            messages: Messages::default(),
            text: Vec::new(),
        }
    }

    /// Numbers of the wanted levels in one file; without a dictionary, any level may be one of them.
    fn numbers(&mut self, dictionary: Option<&Dictionary>) -> Option<Vec<u8>> {
        let Some(dictionary) = dictionary else {
            self.levels.accept_any();
            return None;
        };
        let named = dictionary.levels().map(|(_, name)| name);
        self.levels.add_numbered(named, |number| dictionary.level_name(number).is_none());
        if self.levels.is_all() {
            return None;
        }
        let is_wanted = |number: &u8| self.levels.wants_numbered(*number, dictionary.level_name(*number));
        Some((0..=u8::MAX).filter(is_wanted).collect())
    }

    /// Whether a line of the tables is shown. A line without a time passes the filters that need one.
    pub(super) fn keeps(&mut self, line: &LogLine<'_>) -> bool {
        let has_level = self.levels.takes(line.level);
        let time = |of: Time| match of {
            Time::UnixNs(ns) => line.ts_unix_ns.map(|at| at.cmp(&ns)),
            Time::AfterStartNs(ns) => line.ts_ns.map(|at| at.cmp(&ns)),
        };
        has_level
            && self.since.and_then(time).is_none_or(Ordering::is_ge)
            && self.until.and_then(time).is_none_or(Ordering::is_lt)
            && self.grep.as_ref().is_none_or(|grep| grep.is_match(line.message.as_bytes()))
    }

    /// Rejects levels that no file has; known only after the last file.
    pub(super) fn finish(&self) -> Result<()> {
        self.levels.check()
    }
}

/// Parses a date and time, or a time after the start of the log.
fn parse(text: &str, local: bool) -> Result<Time> {
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Ok(Time::UnixNs(saturate(timestamp.as_nanosecond())));
    }
    if let Ok(date_time) = text.parse::<DateTime>() {
        let zone = if local { TimeZone::system() } else { TimeZone::UTC };
        let zoned = date_time.to_zoned(zone).map_err(|error| Error::usage(format!("`{text}`: {error}")))?;
        return Ok(Time::UnixNs(saturate(zoned.timestamp().as_nanosecond())));
    }
    let wrong = format!(
        "`{text}` is not a time; expected something like `2025-11-02 14:00:05`, or `90s` after the start of the log"
    );
    parse_duration(text).map(Time::AfterStartNs).map_err(|_| Error::usage(wrong))
}

fn saturate(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// The filter for one file.
pub(super) struct FileFilter {
    levels: Option<Vec<u8>>,
    range: TimeRange,
    grep: Option<Regex>,
    clock: Clock,
    messages: Messages,
    text: Vec<u8>,
}

impl FileFilter {
    /// A copy for one of `among` threads that filter entries of the same file.
    pub(super) fn shared(&self, among: usize) -> Self {
        Self {
            levels: self.levels.clone(),
            range: self.range,
            grep: self.grep.clone(),
            clock: self.clock,
            messages: Messages::shared(among),
            text: Vec::new(),
        }
    }

    /// Whether the last result could differ if this copy had seen all earlier entries.
    pub(super) fn depends_on_others(&self) -> bool {
        self.messages.depends_on_others()
    }

    /// Number of messages that were searched only up to the limit of their text.
    pub(super) fn cut(&self) -> u64 {
        self.messages.cut()
    }

    /// Whether an entry is shown. An entry without a time or site passes the filters that need one.
    pub(super) fn keeps(&mut self, entry: &Entry<'_>) -> bool {
        self.is_in_time(entry) && self.is_of_level(entry) && self.matches(entry)
    }

    fn is_in_time(&self, entry: &Entry<'_>) -> bool {
        let unix_ns = |ticks: u64| self.clock.moment(ticks).unix_ns();
        self.range.is_all() || entry.timestamp.is_none_or(|ticks| self.range.contains(unix_ns(ticks)))
    }

    fn is_of_level(&self, entry: &Entry<'_>) -> bool {
        let Some(levels) = &self.levels else { return true };
        entry.site().is_none_or(|site| levels.contains(&site.level))
    }

    fn matches(&mut self, entry: &Entry<'_>) -> bool {
        let Some(grep) = &self.grep else { return true };
        self.text.clear();
        self.messages.put(entry, &mut self.text);
        grep.is_match(&self.text)
    }
}
