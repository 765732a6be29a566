//! The rows of the tables that only fleet stores have.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    UInt64Array,
    types::{Int32Type, Int64Type},
};
use traceloom_analysis::diff::NameFigures;
use traceloom_core::{Error, Result};
use traceloom_query::fleet::FleetTable;

use crate::read::FileFacts;

/// The row of a trace that was read.
pub(crate) fn ingested(trace_id: u64, file: &FileFacts, errors: u64, warnings: u64) -> Result<RecordBatch> {
    let verdict: [ArrayRef; 3] = [
        Arc::new(UInt64Array::from(vec![errors])),
        Arc::new(UInt64Array::from(vec![warnings])),
        Arc::new(BooleanArray::from(vec![errors + warnings > 0])),
    ];
    batch(FleetTable::Ingested, of_file(trace_id, file).into_iter().chain(verdict).collect())
}

/// The columns of every file, readable or not.
fn of_file(trace_id: u64, file: &FileFacts) -> [ArrayRef; 5] {
    [
        Arc::new(UInt64Array::from(vec![trace_id])),
        Arc::new(Int64Array::from(vec![0])),
        Arc::new(StringArray::from(vec![file.path.to_string_lossy().into_owned()])),
        Arc::new(StringArray::from(vec![file.hash.clone()])),
        Arc::new(UInt64Array::from(vec![file.bytes])),
    ]
}

/// The row of a file that cannot be read.
pub(crate) fn quarantined(trace_id: u64, file: &FileFacts, finding: &str) -> Result<RecordBatch> {
    let finding: ArrayRef = Arc::new(StringArray::from(vec![finding]));
    batch(FleetTable::Quarantine, of_file(trace_id, file).into_iter().chain([finding]).collect())
}

/// The rows of the names of a trace.
pub(crate) fn sums(trace_id: u64, names: &[NameFigures]) -> Result<RecordBatch> {
    let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let integers = |of: &dyn Fn(&NameFigures) -> Option<u64>| -> ArrayRef {
        Arc::new(names.iter().map(|name| of(name).map(whole)).collect::<Int64Array>())
    };
    let floats = |of: &dyn Fn(&NameFigures) -> Option<f64>| -> ArrayRef {
        Arc::new(names.iter().map(of).collect::<Float64Array>())
    };
    let lists = |of: fn(&(u64, u64)) -> u64| -> ArrayRef {
        let list = |name: &NameFigures| {
            let items = || name.histogram.iter().map(|entry| Some(whole(of(entry)))).collect::<Vec<_>>();
            (!name.histogram.is_empty()).then(items)
        };
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(names.iter().map(list)))
    };
    let quantile = |number: usize| floats(&move |name| name.quantiles_ns.map(|quantiles| quantiles[number]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from(vec![trace_id; names.len()])),
        Arc::new((0..names.len() as i64).collect::<Int64Array>()),
        Arc::new(names.iter().map(|name| name.name.as_str()).collect::<DictionaryArray<Int32Type>>()),
        integers(&|name| Some(name.calls)),
        integers(&|name| Some(name.total_ns)),
        integers(&|name| Some(name.self_ns)),
        integers(&|name| name.reach_ns.map(|[min, _]| min)),
        integers(&|name| name.reach_ns.map(|[_, max]| max)),
        quantile(0),
        quantile(1),
        quantile(2),
        floats(&|name| name.deviation_ns),
        lists(|(duration, _)| *duration),
        lists(|(_, count)| *count),
    ];
    batch(FleetTable::Sums, columns)
}

fn batch(table: FleetTable, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    let wrong = |error| Error::internal(format!("cannot build rows of {}: {error}", table.name()));
    RecordBatch::try_new(table.schema(), columns).map_err(wrong)
}
