//! `log`: log lines, each as `traceloom log --json` prints it.

use std::collections::VecDeque;

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::{
    Trace,
    analysis::{
        levels::Levels,
        logs::{LogLine, Logs},
    },
    cnanolog::{
        self, CNanoLog, Clock, Dictionary, Entry, Extra, Record,
        text::{self, Messages},
    },
    tables::Flow,
};
use traceloom_core::{Error, Records, Result, TimeRange};

use super::{Answer, Call, Kind, max_rows};
use crate::inert::{Cut, kept_row};

pub(super) static TOOLS: &[Kind] = &[Kind::new::<Log>(
    "log",
    "Log lines, filtered by level, text and time, in the order of the trace. `ts_unix_ns` is Unix time in nanoseconds; subtract \
     `start_unix_ns` to get the time from the start of the trace that other tools use, which is `ts_ns` if present. `offset` is \
     in bytes. Equals `traceloom log --json`.",
    "start_unix_ns:int?, lines:[ts_unix_ns:int?, ts_ns?:int?, level:str?, file:str?, line:int?, message:str, args?:any, \
     offset?:int]",
    log,
)];

/// Which lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Log {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// Only these levels, such as `ERROR`; `WARN+` is WARN and ERROR. A level without a name is called `LEVEL_` and its
    /// number, such as `LEVEL_9`.
    #[serde(default)]
    levels: Vec<String>,
    /// Only messages that contain this text.
    contains: Option<String>,
    /// Only lines at or after this time, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// Only lines before this time, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// Return the last lines instead of the first.
    #[serde(default)]
    tail: bool,
    /// Max number of lines (default 20, at most 1000).
    limit: Option<usize>,
}

fn log(call: &Call<'_>) -> Result<Answer> {
    let arguments: Log = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    // A format for logs has arguments and offsets, which the tables do not have.
    if trace.is::<CNanoLog>() {
        of_entries(&trace, &arguments).map_err(|error| error.in_file(trace.path()))
    } else {
        of_tables(&trace, &arguments)
    }
}

/// The first or last items, and the number of all.
struct Kept<T> {
    rows: usize,
    is_tail: bool,
    items: VecDeque<T>,
    total: u64,
}

impl<T> Kept<T> {
    /// Creates an empty list that keeps as many items as a call asks for.
    fn new(arguments: &Log) -> Self {
        let rows = max_rows(arguments.limit);
        Self { rows, is_tail: arguments.tail, items: VecDeque::new(), total: 0 }
    }

    /// Counts an item, and keeps it if it is among the first or last so far.
    fn offer(&mut self, item: impl FnOnce() -> T) {
        self.total += 1;
        if self.items.len() == self.rows && self.is_tail {
            self.items.pop_front();
        }
        if self.items.len() < self.rows {
            self.items.push_back(item());
        }
    }
}

fn answer(start_unix_ns: Option<i64>, lines: Vec<Json>, rows: usize, total: u64) -> Answer {
    let cut = Cut::if_less("lines", lines.len(), total);
    Answer::new(json!({ "start_unix_ns": start_unix_ns, "lines": lines }), Some(rows)).cut([cut])
}

/// Only offsets are kept while reading, because the last lines are known only at the end.
fn of_entries(trace: &Trace, arguments: &Log) -> Result<Answer> {
    let mut kept = Kept::new(arguments);
    let mut reader = cnanolog::open_with(trace.source().clone(), trace.options(), Extra::default())?;
    let clock = reader.clock();
    let mut filter = Filter::new(arguments, clock)?;
    add_levels(&mut filter.levels, reader.dictionary());
    filter.levels.check()?;
    while let Some(located) = reader.next()? {
        let Record::Entry(entry) = &located.record else { continue };
        if filter.keeps(entry) {
            kept.offer(|| located.offset);
        }
    }
    let (mut lines, mut text, mut json) = (Vec::<Json>::new(), Vec::new(), text::Json::new(clock));
    for offset in kept.items {
        reader.seek(offset);
        let Some(located) = reader.next()? else { continue };
        let Record::Entry(entry) = &located.record else { continue };
        text.clear();
        json.put(entry, offset, &mut text);
        let line = serde_json::from_slice(&text).map_err(|error| Error::internal(error.to_string()))?;
        lines.push(kept_row(line));
    }
    Ok(answer(Some(clock.start().unix_ns()), lines, kept.rows, kept.total))
}

/// Adds the levels of a log, also those that no entry has; without a dictionary, any level may be one of them.
fn add_levels(levels: &mut Levels, dictionary: Option<&Dictionary>) {
    let Some(dictionary) = dictionary else { return levels.accept_any() };
    let named = dictionary.levels().map(|(_, name)| name);
    levels.add_numbered(named, |number| dictionary.level_name(number).is_none());
}

fn of_tables(trace: &Trace, arguments: &Log) -> Result<Answer> {
    let (mut kept, mut has_lines) = (Kept::new(arguments), false);
    let mut levels = Levels::new(&arguments.levels)?;
    let logs = Logs::of(trace)?;
    logs.each(|line| {
        has_lines = true;
        if levels.takes(line.level) && arguments.keeps(line) {
            kept.offer(|| kept_row(line.to_json()));
        }
        Ok(Flow::Continue)
    })?;
    if !has_lines {
        let message = format!("no log lines in this {} trace; `open` lists its contents", trace.format().name);
        return Err(Error::unsupported(message).in_file(trace.path()));
    }
    levels.check()?;
    Ok(answer(logs.unix_origin_ns, kept.items.into(), kept.rows, kept.total))
}

impl Log {
    fn range(&self) -> TimeRange {
        TimeRange::new(self.from_ns, self.to_ns)
    }

    /// Whether the time and text of a line are wanted.
    fn keeps(&self, line: &LogLine<'_>) -> bool {
        line.ts_ns.is_none_or(|ts_ns| self.range().contains(ts_ns))
            && self.contains.as_ref().is_none_or(|part| line.message.contains(part.as_str()))
    }
}

/// The requested entries. As in the program, an entry without a time or site passes the filters that need one.
struct Filter<'a> {
    arguments: &'a Log,
    levels: Levels,
    range: TimeRange,
    clock: Clock,
    messages: Messages,
    text: Vec<u8>,
}

impl<'a> Filter<'a> {
    fn new(arguments: &'a Log, clock: Clock) -> Result<Self> {
        let (levels, range) = (Levels::new(&arguments.levels)?, arguments.range());
        Ok(Self { arguments, levels, range, clock, messages: Messages::default(), text: Vec::new() })
    }

    fn keeps(&mut self, entry: &Entry<'_>) -> bool {
        let is_in_time = |ticks: u64| self.range.contains(self.clock.since_start_ns(ticks));
        (self.range.is_all() || entry.timestamp.is_none_or(is_in_time))
            && self.is_of_level(entry)
            && self.has_text(entry)
    }

    fn is_of_level(&self, entry: &Entry<'_>) -> bool {
        let Some((dictionary, site)) = entry.dictionary().zip(entry.site()) else { return true };
        self.levels.wants_numbered(site.level, dictionary.level_name(site.level))
    }

    fn has_text(&mut self, entry: &Entry<'_>) -> bool {
        let Some(part) = &self.arguments.contains else { return true };
        self.text.clear();
        self.messages.put(entry, &mut self.text);
        String::from_utf8_lossy(&self.text).contains(part.as_str())
    }
}
