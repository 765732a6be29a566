//! Traces as `traceloom-record` writes them, with given contents.

use traceloom_core::Result;
use traceloom_wtf::{
    Composer, FileInfo, Form, HAS_HIGH_RESOLUTION_TIMES, Text, Value,
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
