//! Tables as Arrow streams.

use std::sync::Mutex;

use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader, ffi_stream::FFI_ArrowArrayStream};
use pyo3::{
    exceptions::{PyKeyError, PyRuntimeError},
    prelude::*,
    types::PyCapsule,
};
use traceloom::{
    Trace,
    tables::{Columns, Table as Id},
};

use crate::error::TraceloomError;

/// A table of a trace; nothing is read before rows are requested.
///
/// Any library that supports the Arrow C stream interface can read it directly, batch by batch: `pyarrow.table(t)`,
/// `polars.DataFrame(t)`, `duckdb.sql("select count(*) from t")` with `t = pyarrow.RecordBatchReader.from_stream(t)`.
///
/// >>> import traceloom
/// >>> spans = traceloom.sample("easyprofiler").spans
/// >>> spans.select(["name", "dur_ns"]).columns
/// ['name', 'dur_ns']
#[pyclass(module = "traceloom", frozen)]
pub(crate) struct Table {
    trace: Trace,
    id: Id,
    /// The indexes of the columns, in the requested order.
    columns: Vec<usize>,
    limit: Option<usize>,
}

impl Table {
    pub(crate) fn new(trace: &Trace, name: &str) -> PyResult<Self> {
        let Some(id) = Id::by_name(name) else {
            let known = Id::ALL.map(Id::name).join(", ");
            return Err(PyKeyError::new_err(format!("unknown table {name}; the tables are {known}")));
        };
        Ok(Self { trace: trace.clone(), id, columns: (0..id.columns().len()).collect(), limit: None })
    }

    fn reader(&self) -> PyResult<Box<dyn RecordBatchReader + Send>> {
        let stream = self.trace.stream(self.id, Columns::of(&self.columns));
        // The stream has the columns in the order of the table, each once.
        let mut sorted = self.columns.clone();
        sorted.sort_unstable();
        let order: Vec<usize> = self.columns.iter().filter_map(|column| sorted.binary_search(column).ok()).collect();
        let schema = stream.schema().project(&order).map_err(|error| TraceloomError::new_err(error.to_string()))?;
        let mut left = self.limit.unwrap_or(usize::MAX);
        let batches = stream.map_while(move |batch| {
            let batch = match batch.and_then(|batch| batch.project(&order)) {
                Ok(_) if left == 0 => return None,
                Ok(batch) => batch.slice(0, batch.num_rows().min(left)),
                Err(error) => return Some(Err(error)),
            };
            left -= batch.num_rows();
            Some(Ok(batch))
        });
        Ok(Box::new(RecordBatchIterator::new(batches, schema.into())))
    }
}

#[pymethods]
impl Table {
    /// The name of the table.
    #[getter]
    fn name(&self) -> &'static str {
        self.id.name()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| self.id.columns()[*column].name).collect()
    }

    /// The description of the table, as Markdown.
    #[getter]
    fn about(&self) -> &'static str {
        self.id.about()
    }

    /// Selects columns; the others are not decoded.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("cnanolog").logs.select(["message", "level"]).columns
    /// ['message', 'level']
    fn select(&self, columns: Vec<String>) -> PyResult<Self> {
        let number = |name: &String| {
            let found = self.columns.iter().find(|column| self.id.columns()[**column].name == name);
            found.copied().ok_or_else(|| {
                PyKeyError::new_err(format!(
                    "{} has no column {name}; the columns are {}",
                    self.name(),
                    self.columns().join(", ")
                ))
            })
        };
        let mut numbers: Vec<usize> = columns.iter().map(number).collect::<PyResult<_>>()?;
        let mut seen = std::collections::HashSet::new();
        numbers.retain(|number| seen.insert(*number));
        if numbers.is_empty() {
            return Err(pyo3::exceptions::PyValueError::new_err("no columns selected"));
        }
        Ok(Self { trace: self.trace.clone(), id: self.id, columns: numbers, limit: self.limit })
    }

    /// Limits the table to the first rows; the rest of the trace is not read.
    ///
    /// >>> import traceloom
    /// >>> [batch.num_rows for batch in traceloom.sample("wtf").spans.head(5)]
    /// [5]
    fn head(&self, rows: usize) -> Self {
        let limit = self.limit.map_or(rows, |limit| limit.min(rows));
        Self { trace: self.trace.clone(), id: self.id, columns: self.columns.clone(), limit: Some(limit) }
    }

    /// The number of rows.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let first = Columns::of(&self.columns[..1]);
        let (rows, limit) = (&mut 0_usize, self.limit.unwrap_or(usize::MAX));
        crate::error::detached(py, || {
            self.trace.tables().for_each(self.id, first, |batch| *rows += batch.num_rows())?;
            Ok((*rows).min(limit))
        })
    }

    /// Always true, because counting the rows may take long.
    fn __bool__(&self) -> bool {
        true
    }

    /// The rows, batch by batch.
    fn __iter__(&self) -> PyResult<Batches> {
        Ok(Batches(Mutex::new(self.reader()?)))
    }

    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<Bound<'py, PyAny>>) -> Stream<'py> {
        // The protocol allows to ignore the wish for other types.
        drop(requested_schema);
        capsule(py, self.reader()?)
    }

    /// All rows as a `pyarrow.Table`, in memory.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("wtf").spans.select(["name"]).to_arrow().column_names
    /// ['name']
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("pyarrow")?.call_method1("table", (this,))
    }

    /// All rows as a `pandas.DataFrame`, in memory.
    ///
    /// >>> import traceloom
    /// >>> bool((traceloom.sample("wtf").spans.to_pandas()["dur_ns"] >= 0).all())
    /// True
    fn to_pandas<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_arrow(this)?.call_method0("to_pandas")
    }

    /// All rows as a `polars.DataFrame`, in memory; `traceloom.scan` is lazy.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("wtf").spans.head(3).to_polars().height
    /// 3
    fn to_polars<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("polars")?.call_method1("DataFrame", (this,))
    }

    fn __repr__(&self) -> String {
        format!("<Table {} of {}: {}>", self.name(), self.trace.path().display(), self.columns().join(", "))
    }
}

/// The batches of a table.
#[pyclass(module = "traceloom", frozen)]
pub(crate) struct Batches(Mutex<Box<dyn RecordBatchReader + Send>>);

#[pymethods]
impl Batches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = py.detach(|| self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next());
        next.transpose().map(|batch| batch.map(Batch)).map_err(|error| match error {
            traceloom::tables::arrow_schema::ArrowError::ExternalError(error) => {
                TraceloomError::new_err(error.to_string())
            }
            error => PyRuntimeError::new_err(error.to_string()),
        })
    }
}

/// Some rows of a table.
#[pyclass(module = "traceloom", frozen)]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// The rows as an Arrow stream of one batch.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(&self, py: Python<'py>, requested_schema: Option<Bound<'py, PyAny>>) -> Stream<'py> {
        drop(requested_schema);
        capsule(py, Box::new(RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema())))
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}

/// A stream, as Arrow's PyCapsule interface asks for it.
type Stream<'py> = PyResult<Bound<'py, PyCapsule>>;

/// Hands a stream over.
pub(crate) fn capsule(py: Python<'_>, reader: Box<dyn RecordBatchReader + Send>) -> Stream<'_> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
}
