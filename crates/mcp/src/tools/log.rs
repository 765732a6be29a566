//! `log`: the lines of a log, each as `traceloom log --json` prints it.

use std::collections::VecDeque;

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use traceloom::cnanolog::{
    self, CNanoLog, Clock, Entry, Extra, Record,
    text::{self, Messages},
};
use traceloom_core::{Error, Records, Result, TimeRange};

use super::{Answer, Call, DEFAULT_ROWS, Kind, MAX_ROWS};
use crate::inert::Cut;

pub(super) static TOOLS: &[Kind] = &[Kind::new::<Log>(
    "log",
    "Log lines, filtered by level, text and time, in the order of the trace. `ts_unix_ns` is Unix time in nanoseconds; subtract \
     `start_unix_ns` to get the time from the start of the trace that other tools use. `offset` is in bytes. Equals `traceloom log \
     --json`.",
    "start_unix_ns:int, lines:[ts_unix_ns:int?, level:str?, file:str?, line:int?, message:str, args:any, offset:int]",
    log,
)];

/// Which lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Log {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// Only these levels, such as `ERROR`.
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
    if !trace.is::<CNanoLog>() {
        let message = format!("is {} and has no log lines; `open` lists its contents", trace.format().name);
        return Err(Error::unsupported(message).in_file(trace.path()));
    }
    let in_file = |error: Error| error.in_file(trace.path());
    let mut reader = cnanolog::open_with(trace.source().clone(), trace.options(), Extra::default()).map_err(in_file)?;
    let clock = reader.clock();
    let rows = arguments.limit.unwrap_or(DEFAULT_ROWS).clamp(1, MAX_ROWS);
    let mut filter = Filter::new(&arguments, clock);
    // Only offsets are kept, because the last lines are known only at the end.
    let (mut offsets, mut total) = (VecDeque::new(), 0_u64);
    while let Some(located) = reader.next().map_err(in_file)? {
        let Record::Entry(entry) = &located.record else { continue };
        if !filter.keeps(entry) {
            continue;
        }
        total += 1;
        if offsets.len() < rows {
            offsets.push_back(located.offset);
        } else if arguments.tail {
            offsets.pop_front();
            offsets.push_back(located.offset);
        }
    }
    let (mut lines, mut text, mut json) = (Vec::<Json>::new(), Vec::new(), text::Json::new(clock));
    for offset in offsets {
        reader.seek(offset);
        let Some(located) = reader.next().map_err(in_file)? else { continue };
        let Record::Entry(entry) = &located.record else { continue };
        text.clear();
        json.put(entry, offset, &mut text);
        lines.push(serde_json::from_slice(&text).map_err(|error| Error::internal(error.to_string()))?);
    }
    let shown = lines.len() as u64;
    let mut answer = Answer::new(json!({ "start_unix_ns": clock.start().unix_ns(), "lines": lines }), Some(rows));
    answer.cuts.extend((shown < total).then(|| Cut::new("lines", shown, total)));
    Ok(answer)
}

/// The requested entries. As in the program, an entry without a time or site passes the filters that need one.
struct Filter<'a> {
    arguments: &'a Log,
    range: TimeRange,
    clock: Clock,
    messages: Messages,
    text: Vec<u8>,
}

impl<'a> Filter<'a> {
    fn new(arguments: &'a Log, clock: Clock) -> Self {
        let range = TimeRange::new(arguments.from_ns, arguments.to_ns);
        Self { arguments, range, clock, messages: Messages::default(), text: Vec::new() }
    }

    fn keeps(&mut self, entry: &Entry<'_>) -> bool {
        let is_in_time = |ticks: u64| self.range.contains(self.clock.since_start_ns(ticks));
        (self.range.is_all() || entry.timestamp.is_none_or(is_in_time))
            && self.is_of_level(entry)
            && self.has_text(entry)
    }

    fn is_of_level(&self, entry: &Entry<'_>) -> bool {
        let wanted = &self.arguments.levels;
        let Some((dictionary, site)) = entry.dictionary().zip(entry.site()).filter(|_| !wanted.is_empty()) else {
            return true;
        };
        let nameless = format!("LEVEL_{}", site.level);
        let level = dictionary.level_name(site.level).unwrap_or(nameless.as_bytes());
        wanted.iter().any(|wanted| level.eq_ignore_ascii_case(wanted.as_bytes()))
    }

    fn has_text(&mut self, entry: &Entry<'_>) -> bool {
        let Some(part) = &self.arguments.contains else { return true };
        self.text.clear();
        self.messages.put(entry, &mut self.text);
        String::from_utf8_lossy(&self.text).contains(part.as_str())
    }
}
