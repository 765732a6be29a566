//! Traces as `traceloom-record` writes them, with given contents.

use std::ops::Range;

use traceloom_core::Result;
use traceloom_wtf::{
    Builtins, Composer, FileInfo, Form, HAS_HIGH_RESOLUTION_TIMES, Text, TypeId, Value, ZoneId,
    raw::{EventClass, EventFlags},
    recorded,
};

/// A log entry.
#[derive(Clone, Debug)]
pub struct LogEntry {
    /// Microseconds since the start of the trace.
    pub time_us: i64,
    /// Name of the level.
    pub level: String,
    /// Source file.
    pub file: String,
    /// Source line.
    pub line: u32,
    /// The text.
    pub message: String,
}

/// A `.wtf-trace` of the recorder with these log entries; `unix_ms` is its start.
pub fn wtf_log(unix_ms: u64, entries: &[LogEntry]) -> Result<Vec<u8>> {
    let info = FileInfo { flags: HAS_HIGH_RESOLUTION_TIMES, timebase_ms: unix_ms as f64, ..FileInfo::default() };
    let mut composer = Composer::new(Vec::new(), Form::Binary, &info)?;
    let kind = composer.define(recorded::LOG, EventClass::INSTANCE, EventFlags(0), recorded::LOG_ARGS)?;
    let zone = composer.zone(Some("main"), Some("native_thread"), None)?;
    for LogEntry { time_us, level, file, line, message } in entries {
        let [level, message, format, file] =
            [level, message, "", file].map(|text| Value::Text(Some(Text::utf8(text.as_bytes()))));
        composer.event(zone, kind, *time_us, [level, message, format, file, Value::Uint(*line)])?;
    }
    composer.finish()
}

/// A thread of a recording.
#[derive(Clone, Debug, Default)]
pub struct RecordedThread {
    /// Its name.
    pub name: String,
    /// Spans: names, and times in microseconds. A span contains another one or does not overlap with it.
    pub spans: Vec<(String, Range<i64>)>,
    /// Marks: names, and times in microseconds.
    pub marks: Vec<(String, i64)>,
    /// Log entries.
    pub entries: Vec<LogEntry>,
}

/// A `.wtf-trace` of the recorder with these threads.
pub fn wtf_threads(threads: &[RecordedThread]) -> Result<Vec<u8>> {
    let info = FileInfo { flags: HAS_HIGH_RESOLUTION_TIMES, ..FileInfo::default() };
    let mut composer = Composer::new(Vec::new(), Form::Binary, &info)?;
    let builtins = Builtins::define(&mut composer)?;
    let log = composer.define(recorded::LOG, EventClass::INSTANCE, EventFlags(0), recorded::LOG_ARGS)?;
    let mut events: Vec<(i64, ZoneId, TypeId, Vec<Value<'_>>)> = Vec::new();
    for RecordedThread { name, spans, marks, entries } in threads {
        let zone = composer.zone(Some(name), Some("native_thread"), None)?;
        for (span, time_us) in spans {
            let kind = composer.define(span, EventClass::SCOPE, EventFlags(0), "")?;
            events.push((time_us.start, zone, kind, Vec::new()));
            events.push((time_us.end, zone, builtins.leave, Vec::new()));
        }
        for (mark, time_us) in marks {
            events.push((*time_us, zone, builtins.mark, vec![text_of(mark), Value::Any(None)]));
        }
        for LogEntry { time_us, level, file, line, message } in entries {
            let [level, message, format, file] = [level, message, "", file].map(text_of);
            events.push((*time_us, zone, log, vec![level, message, format, file, Value::Uint(*line)]));
        }
    }
    events.sort_by_key(|(time_us, ..)| *time_us);
    events.into_iter().try_for_each(|(time_us, zone, kind, values)| composer.event(zone, kind, time_us, values))?;
    composer.finish()
}

fn text_of(text: &str) -> Value<'_> {
    Value::Text(Some(Text::utf8(text.as_bytes())))
}
