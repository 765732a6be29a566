//! Selects the entries to show.

use std::{cmp::Ordering, collections::BTreeSet};

use jiff::{civil::DateTime, tz::TimeZone};
use regex::bytes::Regex;
use traceloom::cnanolog::{Clock, Dictionary, Entry, Reader, text::Messages};
use traceloom_analysis::logs::LogLine;
use traceloom_core::{Error, Result, TimeRange, parse_duration};

use crate::args;

/// The filters given by the user.
pub(super) struct Filter {
    levels: Vec<LevelName>,
    since: Option<Time>,
    until: Option<Time>,
    grep: Option<Regex>,
    /// Custom levels of all files, to list them if a level is unknown.
    customs: BTreeSet<String>,
    /// A file has no dictionary, so its levels are unknown.
    is_blind: bool,
}

/// A level given by the user.
struct LevelName {
    name: String,
    and_worse: bool,
    /// One of the files has it.
    is_known: bool,
}

/// A time given by the user.
#[derive(Clone, Copy, Debug)]
enum Time {
    UnixNs(i64),
    AfterStartNs(i64),
}

/// The built-in levels, least severe first.
static SEVERITY: [&str; 4] = ["DEBUG", "INFO", "WARN", "ERROR"];
/// Max number of custom levels to list; in tables, every line may have its own.
const MAX_CUSTOMS: usize = 100;

impl Filter {
    pub(super) fn new(arguments: &args::log::Log) -> Result<Self> {
        let time = |text: &Option<String>| text.as_deref().map(|text| parse(text, arguments.local)).transpose();
        let grep = arguments.grep.as_deref().map(Regex::new).transpose();
        // `--compat` filters levels itself, as CNanoLog's decompressor does.
        let names: &[String] = if arguments.compat { &[] } else { &arguments.level };
        Ok(Self {
            levels: names.iter().map(|name| LevelName::parse(name)).collect::<Result<_>>()?,
            since: time(&arguments.since)?,
            until: time(&arguments.until)?,
            grep: grep.map_err(|error| Error::usage(format!("--grep: {error}")))?,
            customs: BTreeSet::new(),
            is_blind: false,
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

    /// Numbers of the wanted levels in one file.
    fn numbers(&mut self, dictionary: Option<&Dictionary>) -> Option<Vec<u8>> {
        if self.levels.is_empty() {
            return None;
        }
        let Some(dictionary) = dictionary else {
            self.is_blind = true;
            return None;
        };
        self.customs.extend(dictionary.levels().map(|(_, name)| String::from_utf8_lossy(name).into_owned()));
        let mut numbers = Vec::new();
        for level in &mut self.levels {
            let found = level.numbers(dictionary);
            level.is_known |= !found.is_empty();
            numbers.extend(found);
        }
        Some(numbers)
    }

    /// Whether a line of the tables is shown. A line without a time passes the filters that need one.
    pub(super) fn keeps(&mut self, line: &LogLine<'_>) -> bool {
        let has_level = self.has_level(line.level);
        let time = |of: Time| match of {
            Time::UnixNs(ns) => line.ts_unix_ns.map(|at| at.cmp(&ns)),
            Time::AfterStartNs(ns) => line.ts_ns.map(|at| at.cmp(&ns)),
        };
        has_level
            && self.since.and_then(time).is_none_or(Ordering::is_ge)
            && self.until.and_then(time).is_none_or(Ordering::is_lt)
            && self.grep.as_ref().is_none_or(|grep| grep.is_match(line.message.as_bytes()))
    }

    /// Whether a level is among the wanted ones.
    fn has_level(&mut self, level: &str) -> bool {
        if self.levels.is_empty() {
            return true;
        }
        if self.customs.len() < MAX_CUSTOMS && severity(level).is_none() && !self.customs.contains(level) {
            self.customs.insert(level.to_owned());
        }
        let mut is_wanted = false;
        for wanted in &mut self.levels {
            let (from, of_line) = (severity(&wanted.name), severity(level));
            let is_worse = wanted.and_worse && from.zip(of_line).is_some_and(|(from, of_line)| of_line >= from);
            let is_this = is_worse || level.eq_ignore_ascii_case(&wanted.name);
            wanted.is_known |= is_this || from.is_some();
            is_wanted |= is_this;
        }
        is_wanted
    }

    /// Rejects levels that no file has; known only after the last file.
    pub(super) fn finish(&self) -> Result<()> {
        let unknown = self.levels.iter().find(|level| !level.is_known && !self.is_blind);
        let Some(LevelName { name, .. }) = unknown else { return Ok(()) };
        let known: Vec<&str> = SEVERITY.into_iter().chain(self.customs.iter().map(String::as_str)).collect();
        Err(Error::usage(format!("unknown level {name}; the levels are {}", known.join(", "))))
    }
}

impl LevelName {
    fn parse(text: &str) -> Result<Self> {
        let (name, and_worse) = text.strip_suffix('+').map_or((text, false), |name| (name, true));
        if and_worse && severity(name).is_none() {
            let known = SEVERITY.join(", ");
            return Err(Error::usage(format!("invalid level `{name}+`: only {known} are ordered by severity")));
        }
        Ok(Self { name: name.to_owned(), and_worse, is_known: false })
    }

    /// The numbers of this level in one file; a level without a name is called `LEVEL_9`.
    fn numbers(&self, dictionary: &Dictionary) -> Vec<u8> {
        let customs = dictionary.levels().filter(|(_, known)| known.eq_ignore_ascii_case(self.name.as_bytes()));
        let mut numbers: Vec<u8> = customs.map(|(level, _)| level).collect();
        if let Some(from) = severity(&self.name) {
            let wanted = SEVERITY.iter().skip(from).take(if self.and_worse { SEVERITY.len() } else { 1 });
            let number = |name: &&str| (0..4).find(|level| dictionary.numbering().name(*level) == Some(*name));
            numbers.extend(wanted.filter_map(number));
        }
        let nameless = |level: &u8| {
            dictionary.level_name(*level).is_none() && self.name.eq_ignore_ascii_case(&format!("LEVEL_{level}"))
        };
        numbers.extend((0..=u8::MAX).filter(nameless));
        numbers
    }
}

fn severity(name: &str) -> Option<usize> {
    SEVERITY.iter().position(|known| known.eq_ignore_ascii_case(name))
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
