//! Which entries are shown.

use jiff::{civil::DateTime, tz::TimeZone};
use regex::bytes::Regex;
use traceloom_bytes::{Error, Result};
use traceloom_cnanolog::{Clock, Dictionary, Entry, Reader, text::Messages};

use crate::{args, units::parse_time};

/// What the user asked for.
pub(super) struct Filter {
    levels: Vec<String>,
    since: Option<Time>,
    until: Option<Time>,
    grep: Option<Regex>,
    /// `--compat` filters as the original does, by itself.
    is_off: bool,
}

/// A time as given.
#[derive(Clone, Copy, Debug)]
enum Time {
    UnixNs(i64),
    AfterStartNs(i64),
}

/// The built-in levels, the least severe first.
static SEVERITY: [&str; 4] = ["DEBUG", "INFO", "WARN", "ERROR"];

impl Filter {
    pub(super) fn new(arguments: &args::Log) -> Result<Self> {
        let time = |text: &Option<String>| text.as_deref().map(|text| parse(text, arguments.local)).transpose();
        let grep = arguments.grep.as_deref().map(Regex::new).transpose();
        Ok(Self {
            levels: arguments.level.clone(),
            since: time(&arguments.since)?,
            until: time(&arguments.until)?,
            grep: grep.map_err(|error| Error::usage(format!("--grep: {error}")))?,
            is_off: arguments.compat,
        })
    }

    /// The filter for one file, whose sites and start it needs.
    pub(super) fn of(&self, reader: &Reader) -> Result<FileFilter<'_>> {
        let clock = reader.clock();
        let unix_ns = |time: Time| match time {
            Time::UnixNs(ns) => ns,
            Time::AfterStartNs(ns) => clock.start().unix_ns().saturating_add(ns),
        };
        let levels = match reader.dictionary() {
            Some(dictionary) if !self.levels.is_empty() && !self.is_off => Some(levels(&self.levels, dictionary)?),
            _ => None,
        };
        let (since, until) = (self.since.map(unix_ns), self.until.map(unix_ns));
        Ok(FileFilter {
            levels,
            since,
            until,
            grep: self.grep.as_ref(),
            clock,
            messages: Messages::default(),
            text: Vec::new(),
        })
    }
}

/// Numbers of the levels with these names.
fn levels(names: &[String], dictionary: &Dictionary) -> Result<Vec<u8>> {
    let mut wanted = Vec::new();
    for name in names {
        let (name, and_worse) = name.strip_suffix('+').map_or((name.as_str(), false), |name| (name, true));
        let from = SEVERITY.iter().position(|known| known.eq_ignore_ascii_case(name));
        let custom = dictionary.levels().filter(|(_, known)| known.eq_ignore_ascii_case(name.as_bytes()));
        wanted.extend(custom.map(|(level, _)| level));
        if let Some(from) = from {
            let names = SEVERITY.iter().skip(from).take(if and_worse { SEVERITY.len() } else { 1 });
            wanted.extend(
                names.filter_map(|name| (0..4).find(|level| dictionary.numbering().name(*level) == Some(name))),
            );
        } else if !wanted
            .iter()
            .any(|level| dictionary.level_name(*level).is_some_and(|known| known.eq_ignore_ascii_case(name.as_bytes())))
        {
            let custom = dictionary.levels().map(|(_, name)| String::from_utf8_lossy(name).into_owned());
            let known: Vec<_> = SEVERITY.iter().map(|name| (*name).to_owned()).chain(custom).collect();
            return Err(Error::usage(format!("there is no level {name}; there are {}", known.join(", "))));
        }
    }
    Ok(wanted)
}

/// Reads a date and time, or a time after the log's start.
fn parse(text: &str, local: bool) -> Result<Time> {
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Ok(Time::UnixNs(saturate(timestamp.as_nanosecond())));
    }
    if let Ok(date_time) = text.parse::<DateTime>() {
        let zone = if local { TimeZone::system() } else { TimeZone::UTC };
        let zoned = date_time.to_zoned(zone).map_err(|error| Error::usage(format!("`{text}`: {error}")))?;
        return Ok(Time::UnixNs(saturate(zoned.timestamp().as_nanosecond())));
    }
    let wrong =
        format!("`{text}` is no time: write `2025-11-02 14:00:05`, or `90s` for 90 seconds after the log's start");
    parse_time(text).map(Time::AfterStartNs).map_err(|_| Error::usage(wrong))
}

fn saturate(ns: i128) -> i64 {
    i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
}

/// The filter for one file.
pub(super) struct FileFilter<'f> {
    levels: Option<Vec<u8>>,
    since: Option<i64>,
    until: Option<i64>,
    grep: Option<&'f Regex>,
    clock: Clock,
    messages: Messages,
    text: Vec<u8>,
}

impl FileFilter<'_> {
    /// Whether an entry is shown; one without a time or a site passes what asks for those.
    pub(super) fn keeps(&mut self, entry: &Entry<'_>) -> bool {
        let ns = entry.timestamp.map(|ticks| self.clock.moment(ticks).unix_ns());
        let in_time = ns
            .is_none_or(|ns| self.since.is_none_or(|since| ns >= since) && self.until.is_none_or(|until| ns <= until));
        let site = entry.site();
        let of_level = match (&self.levels, site) {
            (Some(levels), Some(site)) => levels.contains(&site.level),
            _ => true,
        };
        in_time && of_level && self.matches(entry)
    }

    fn matches(&mut self, entry: &Entry<'_>) -> bool {
        let Some(grep) = self.grep else { return true };
        self.text.clear();
        self.messages.put(entry, &mut self.text);
        grep.is_match(&self.text)
    }
}
