//! Log lines of a trace of any format, from its tables.

use arrow_array::RecordBatch;
use serde_json::{Value as Json, json};
use traceloom_core::Result;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, select};

select! { struct OriginRows of traces { unix_origin_ns } }
select! { struct LogRows of logs { ts_ns, level_name, file, line, message } }

/// A log line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LogLine<'a> {
    /// Time from the start of the trace, if the line has a time.
    pub ts_ns: Option<i64>,
    /// Unix time, if the trace relates its clock to the time of day.
    pub ts_unix_ns: Option<i64>,
    /// Name of the level; empty if the line has none.
    pub level: &'a str,
    /// Source file.
    pub file: Option<&'a str>,
    /// Source line.
    pub line: Option<u32>,
    /// The text, with the arguments filled in.
    pub message: &'a str,
}

impl LogLine<'_> {
    /// The line as JSON.
    pub fn to_json(&self) -> Json {
        let Self { ts_ns, ts_unix_ns, level, file, line, message } = self;
        let level = Some(level).filter(|level| !level.is_empty());
        json!({
            "ts_unix_ns": ts_unix_ns, "ts_ns": ts_ns, "level": level, "file": file, "line": line, "message": message,
        })
    }
}

/// The log lines of a trace.
#[derive(Debug)]
pub struct Logs<S> {
    trace: S,
    /// Unix time of the start of the trace, if known.
    pub unix_origin_ns: Option<i64>,
}

impl<S: TableSource> Logs<S> {
    /// The log lines of a trace, which is read once for its origin.
    pub fn of(trace: S) -> Result<Self> {
        let mut origin = Origin(None);
        trace.pour(&Filter::default(), &mut origin)?;
        Ok(Self { trace, unix_origin_ns: origin.0 })
    }

    /// Passes every line to `visit`, in the order of the trace, until it says stop.
    pub fn each(&self, visit: impl FnMut(&LogLine<'_>) -> Result<Flow>) -> Result<()> {
        self.trace.pour(&Filter::default(), &mut Each { unix_origin_ns: self.unix_origin_ns, visit })
    }
}

struct Origin(Option<i64>);

impl TableSink for Origin {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Traces { OriginRows::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> Result<Flow> {
        let view = OriginRows::of(&batch)?;
        self.0 = (0..view.rows).find_map(|row| view.unix_origin_ns.get(row));
        Ok(Flow::Continue)
    }
}

struct Each<V> {
    unix_origin_ns: Option<i64>,
    visit: V,
}

impl<V: FnMut(&LogLine<'_>) -> Result<Flow>> TableSink for Each<V> {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Logs { LogRows::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> Result<Flow> {
        let view = LogRows::of(&batch)?;
        for row in 0..view.rows {
            let ts_ns = view.ts_ns.get(row);
            let ts_unix_ns = ts_ns.zip(self.unix_origin_ns).map(|(ts_ns, origin_ns)| origin_ns.saturating_add(ts_ns));
            let (level, message) = (view.level_name.get(row), view.message.get(row));
            let (file, line) = (view.file.get(row), view.line.get(row));
            if (self.visit)(&LogLine { ts_ns, ts_unix_ns, level, file, line, message })? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }
}
