//! Queries.

use pyo3::prelude::*;
use traceloom::Trace;

/// Runs a query with the engine of this build.
#[cfg(feature = "sql")]
pub(crate) fn query<'py>(py: Python<'py>, trace: &Trace, sql: &str) -> PyResult<Bound<'py, PyAny>> {
    use arrow_array::RecordBatchIterator;

    let rows = crate::error::detached(py, || trace.sql(sql))?;
    let batches = RecordBatchIterator::new(rows.batches.into_iter().map(Ok), rows.schema);
    let stream = crate::table::capsule(py, Box::new(batches))?;
    let reader =
        py.import("pyarrow")?.getattr("RecordBatchReader")?.call_method1("_import_from_c_capsule", (stream,))?;
    reader.call_method0("read_all")
}

/// Returns an error that suggests an alternative.
#[cfg(not(feature = "sql"))]
pub(crate) fn query<'py>(_: Python<'py>, _: &Trace, _: &str) -> PyResult<Bound<'py, PyAny>> {
    Err(pyo3::exceptions::PyNotImplementedError::new_err(
        "this build has no SQL engine; use DuckDB with the streams:\n    \
         spans = pyarrow.RecordBatchReader.from_stream(trace.spans)\n    \
         duckdb.sql('select name, sum(dur_ns) from spans group by name')",
    ))
}
