//! `per_frame(['name'])`: every span with the frame in which it started.

use std::{collections::HashMap, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch,
    cast::AsArray,
    types::{Int32Type, Int64Type, UInt64Type},
};
use arrow_schema::{DataType, Field};
use datafusion::{
    catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider},
    common::{Result, internal_err, plan_err},
    logical_expr::Expr,
};
use serde::{Deserialize, Serialize};

use super::lookup::{AnyLookup, Index, Lookup, LookupTable};

/// The function.
#[derive(Debug)]
pub(super) struct PerFrame {
    pub(super) spans: Arc<dyn TableProvider>,
}

impl TableFunctionImpl for PerFrame {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let name = match args.exprs() {
            [] => None,
            [Expr::Literal(value, _)] if value.try_as_str().flatten().is_some() => {
                value.try_as_str().flatten().map(str::to_owned)
            }
            _ => {
                return plan_err!(
                    "per_frame expects the name of the spans that are frames, such as 'Frame', or no argument"
                );
            }
        };
        Ok(Arc::new(LookupTable::new(&self.spans, AnyLookup::Frame(Query { name }))))
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Query {
    /// The name of frames; spans of the category `frame` if not given.
    name: Option<String>,
}

impl Lookup for Query {
    fn name(&self) -> &'static str {
        "per_frame"
    }

    fn key_columns(&self) -> &'static [&'static str] {
        match self.name {
            Some(_) => &["trace_id", "ts_ns", "dur_ns", "name"],
            None => &["trace_id", "ts_ns", "dur_ns", "category"],
        }
    }

    fn row_columns(&self) -> &'static [&'static str] {
        &["trace_id", "ts_ns"]
    }

    fn added(&self) -> Vec<Field> {
        ["frame", "frame_ts_ns", "frame_dur_ns"].map(|name| Field::new(name, DataType::Int64, true)).to_vec()
    }

    fn trace_id(&self) -> Option<u64> {
        None
    }

    fn index(&self) -> Box<dyn Index> {
        let (column, wanted) = match &self.name {
            Some(name) => ("name", name.clone()),
            None => ("category", "frame".to_owned()),
        };
        Box::new(Frames { column, wanted, by_trace: HashMap::new() })
    }
}

struct Frames {
    column: &'static str,
    wanted: String,
    /// Start and duration of the frames, per trace; sorted by time once complete.
    by_trace: HashMap<u64, Vec<(i64, Option<i64>)>>,
}

impl Index for Frames {
    fn take(&mut self, spans: &RecordBatch) -> Result<()> {
        let Some(names) = spans.column_by_name(self.column) else {
            return internal_err!("spans have a {}", self.column);
        };
        let names = names.as_dictionary::<Int32Type>();
        let entries = names.values().as_string::<i32>();
        let wanted: Vec<bool> = (0..entries.len()).map(|entry| entries.value(entry) == self.wanted).collect();
        if !wanted.contains(&true) {
            return Ok(());
        }
        let (traces, times) = times(spans)?;
        let Some(durations) = spans.column_by_name("dur_ns") else { return internal_err!("spans have durations") };
        let durations = durations.as_primitive::<Int64Type>();
        for (row, key) in names.keys().values().iter().enumerate() {
            if names.is_valid(row) && wanted.get(*key as usize) == Some(&true) {
                let duration = durations.is_valid(row).then(|| durations.value(row));
                self.by_trace.entry(traces.value(row)).or_default().push((times.value(row), duration));
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.by_trace.values_mut().for_each(|frames| frames.sort_unstable());
    }

    fn find(&self, rows: &RecordBatch) -> Result<(Option<BooleanArray>, Vec<ArrayRef>)> {
        let (traces, times) = times(rows)?;
        let found = |row: usize| {
            let frames = self.by_trace.get(&traces.value(row))?;
            let number = frame_at(frames, times.value(row))?;
            Some((number as i64, frames[number]))
        };
        let found: Vec<Option<Numbered>> = (0..rows.num_rows()).map(found).collect();
        let column = |part: fn(&Numbered) -> Option<i64>| -> ArrayRef {
            Arc::new(found.iter().map(|found| found.as_ref().and_then(part)).collect::<Int64Array>())
        };
        Ok((None, vec![column(|found| Some(found.0)), column(|found| Some(found.1.0)), column(|found| found.1.1)]))
    }

    fn bytes(&self) -> usize {
        self.by_trace.values().map(|frames| frames.capacity() * size_of::<(i64, Option<i64>)>()).sum()
    }
}

/// Number, start and duration of a frame.
type Numbered = (i64, (i64, Option<i64>));

/// The last frame that has started, if it has not ended. A frame that was never closed lasts to the end.
fn frame_at(frames: &[(i64, Option<i64>)], ts_ns: i64) -> Option<usize> {
    let number = frames.partition_point(|(begin, _)| *begin <= ts_ns).checked_sub(1)?;
    let (begin, duration) = frames[number];
    let is_in = duration.is_none_or(|duration| ts_ns == begin || ts_ns < begin.saturating_add(duration));
    is_in.then_some(number)
}

fn times(batch: &RecordBatch) -> Result<(&arrow_array::UInt64Array, &Int64Array)> {
    match (batch.column_by_name("trace_id"), batch.column_by_name("ts_ns")) {
        (Some(traces), Some(times)) => Ok((traces.as_primitive::<UInt64Type>(), times.as_primitive::<Int64Type>())),
        _ => internal_err!("spans have times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_between_frames_is_in_none() {
        let frames = [(10, Some(5)), (20, Some(0)), (30, None)];
        let of = |ts_ns| frame_at(&frames, ts_ns);
        assert_eq!(
            [9, 10, 14, 15, 20, 21, 30, i64::MAX].map(of),
            [None, Some(0), Some(0), None, Some(1), None, Some(2), Some(2)]
        );
    }
}
