//! An open trace.

use std::path::PathBuf;

use pyo3::{
    exceptions::{PyAttributeError, PyValueError},
    prelude::*,
    types::PyBytes,
};
use serde_json::Value as Json;
use traceloom::{
    Conversion, Error, OpenOptions, Verdict,
    analysis::{
        diff, memory,
        stats::{self, Options as StatsOptions},
    },
    tables::{Filter, Table as Id},
};
use traceloom_report::Report;

use crate::{
    error::{detached, raised},
    input,
    lines::Lines,
    output::{losses, written},
    parsed,
    table::Table,
};

/// An open trace: its format is known and its bytes are decompressed.
///
/// The file is not kept in memory; every method reads it again, through a window of bounded size.
///
/// >>> import traceloom
/// >>> trace = traceloom.sample("easyprofiler")
/// >>> trace.format
/// 'easyprofiler'
/// >>> len(trace.threads) > 0
/// True
/// >>> trace.findings()
/// []
#[pyclass(module = "traceloom", frozen)]
pub(crate) struct Trace(traceloom::Trace);

/// Opens a trace and detects its format and compression.
///
/// `source` is a path, bytes, or a file opened in binary mode. `format` is the id of the format, which is then not
/// detected. With `strict`, a file that the format's own tool rejects is an error.
///
/// >>> import traceloom
/// >>> traceloom.open(traceloom.sample("nytprof").convert(to="nytprof")).format
/// 'nytprof'
#[pyfunction]
#[pyo3(signature = (source, *, format = None, strict = false))]
pub(crate) fn open(source: &Bound<'_, PyAny>, format: Option<String>, strict: bool) -> PyResult<Trace> {
    let (name, bytes) = input::source(source)?;
    let options = OpenOptions::new().strict(strict);
    let options = format.into_iter().fold(options, OpenOptions::format);
    detached(source.py(), || options.open_source(name, bytes)).map(Trace)
}

/// A small sample trace of a format, created with its writer.
///
/// >>> import traceloom
/// >>> [traceloom.sample(format).format for format in traceloom.FORMATS] == traceloom.FORMATS
/// True
#[pyfunction]
pub(crate) fn sample(format: &str) -> PyResult<Trace> {
    traceloom::Trace::sample(format).map(Trace).map_err(raised)
}

impl Trace {
    fn answer<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&traceloom::Trace) -> traceloom::Result<Json> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let json = detached(py, || work(&self.0).map_err(|error| error.in_file(self.0.path())))?;
        parsed(py, &json)
    }
}

#[pymethods]
impl Trace {
    /// The path with which the trace was opened.
    #[getter]
    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    /// The id of the format.
    #[getter]
    fn format(&self) -> &'static str {
        self.0.format().id
    }

    /// A table by its name; `traceloom.TABLES` lists the names.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("memlyze")["allocations"].name
    /// 'allocations'
    fn __getitem__(&self, table: &str) -> PyResult<Table> {
        Table::new(&self.0, table)
    }

    /// `trace.spans` is `trace["spans"]`.
    fn __getattr__(&self, name: &str) -> PyResult<Table> {
        Table::new(&self.0, name).map_err(|_| PyAttributeError::new_err(format!("a trace has no attribute {name}")))
    }

    fn __dir__(this: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let own = this.get_type().dir()?;
        let names = own.iter().map(|name| name.extract()).collect::<PyResult<Vec<String>>>()?;
        Ok(names.into_iter().chain(Id::ALL.map(|table| table.name().to_owned())).collect())
    }

    /// Summarizes the trace: format, duration, contents, problems, as in `traceloom info --json`.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("cnanolog").info()["format"]
    /// 'cnanolog'
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, |trace| Ok(trace.info()?.to_json(trace.path())))
    }

    /// Checks the trace, as in `traceloom check --json`.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("wtf").check()["accepted"]
    /// True
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, |trace| Ok(Verdict::of_trace(trace)?.to_json(trace.path())))
    }

    /// The problems of the trace, the list from `check()`.
    ///
    /// >>> import traceloom
    /// >>> cut = traceloom.sample("wtf").convert(to="wtf")[:-3]
    /// >>> traceloom.open(cut).findings()[0]["severity"]
    /// 'error'
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.check(py)?.get_item("findings")
    }

    /// Statistics by name: calls, times and shares, as in `traceloom stats --json`.
    ///
    /// `limit` is the number of rows of each list.
    ///
    /// >>> import traceloom
    /// >>> stats = traceloom.sample("easyprofiler").stats(limit=1)
    /// >>> stats["spans"][0]["name"]
    /// 'Draw'
    #[pyo3(signature = (*, limit = None))]
    fn stats<'py>(&self, py: Python<'py>, limit: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, |trace| {
            let set = traceloom::Traces::from_iter([trace.clone()]).set()?;
            Ok(stats::of_traces(set.placed(), &StatsOptions::default())?.to_json(limit.unwrap_or(usize::MAX)))
        })
    }

    /// Compares this trace with a later one, as in `traceloom diff --json`.
    ///
    /// With `all`, unchanged rows are listed as well.
    ///
    /// >>> import traceloom
    /// >>> trace = traceloom.sample("easyprofiler")
    /// >>> trace.diff(trace)["rows"]
    /// []
    #[pyo3(signature = (after, *, all = false, limit = None))]
    fn diff<'py>(&self, py: Python<'py>, after: &Self, all: bool, limit: Option<usize>) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, |before| {
            let (before, after) = (std::slice::from_ref(before), std::slice::from_ref(&after.0));
            let report = diff::of_traces(before, after, &diff::Options::default())?;
            Ok(report.to_json(all, limit.unwrap_or(usize::MAX)))
        })
    }

    /// Memory usage, allocations at the peak, and leaks, as in `traceloom memory --json`.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("memlyze").memory()["allocations"] > 0
    /// True
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.answer(py, |trace| {
            let report = memory::memory(trace, &Filter::default(), &memory::Options::default())?;
            if report.totals.allocations == 0 && report.totals.frees == 0 {
                return Err(Error::unsupported("the trace has no allocations; `info()` lists its contents"));
            }
            Ok(report.to_json(&memory::Extract::whole(&report)))
        })
    }

    /// The log entries, as in `traceloom log --json`: an iterator of dictionaries.
    ///
    /// >>> import traceloom
    /// >>> next(traceloom.sample("cnanolog").log())["level"]
    /// 'INFO'
    fn log(&self) -> PyResult<Lines> {
        Lines::of_log(&self.0).map_err(raised)
    }

    /// Every record as stored, as in `traceloom dump --json`: an iterator of dictionaries.
    ///
    /// >>> import traceloom
    /// >>> next(traceloom.sample("wtf").records())["offset"]
    /// 0
    fn records(&self) -> Lines {
        Lines::of_records(&self.0)
    }

    /// Converts the trace to another format, version, or tool.
    ///
    /// `path` is the output. Its extension determines the target unless `to` is given, such as `"perfetto"` or
    /// `"easyprofiler:1.3.0"`. Returns the losses, or without a path the output as bytes. `range` is a time range such
    /// as `"1.5s..1.7s"`, and `threads` are numbers or names.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("wtf").convert(to="chrome")[:1]
    /// b'{'
    #[pyo3(signature = (path = None, *, to = None, range = None, threads = Vec::new()))]
    fn convert<'py>(
        &self,
        py: Python<'py>,
        path: Option<PathBuf>,
        to: Option<&str>,
        range: Option<&str>,
        threads: Vec<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let conversion = match (to, &path) {
            (Some(to), _) => Conversion::to(to).map_err(raised)?,
            (None, Some(path)) => Conversion::for_path(path),
            (None, None) => return Err(PyValueError::new_err("no output given; pass a path, or a target with `to`")),
        };
        let range = range.map(str::parse).transpose().map_err(raised)?;
        let conversion = conversion.range(range.unwrap_or_default());
        let conversion = threads.into_iter().fold(conversion, Conversion::thread);
        let Some(path) = path else {
            let mut bytes = Vec::new();
            detached(py, || self.0.convert(&conversion, &mut bytes))?;
            return Ok(PyBytes::new(py, &bytes).into_any());
        };
        let conversion = conversion.named(&path);
        let edited = detached(py, || written(&path, |out| self.0.convert(&conversion, out)))?;
        parsed(py, &losses(&edited.loss))
    }

    /// Runs an SQL query and returns a `pyarrow.Table`, if this build has the engine.
    ///
    /// Without the engine, pass the tables to DuckDB, which reads their streams.
    ///
    /// >>> import duckdb, pyarrow, traceloom
    /// >>> spans = pyarrow.RecordBatchReader.from_stream(traceloom.sample("wtf").spans)
    /// >>> duckdb.sql("select count(*) > 0 from spans").fetchall()
    /// [(True,)]
    fn query<'py>(&self, py: Python<'py>, sql: &str) -> PyResult<Bound<'py, PyAny>> {
        crate::sql::query(py, &self.0, sql)
    }

    /// The report of the trace, which a notebook shows inline.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("memlyze").show(height=300).height
    /// 300
    #[pyo3(signature = (*, height = 640))]
    fn show<'py>(this: &Bound<'py, Self>, height: u32) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("traceloom._notebook")?.getattr("Report")?.call1((this.get().to_html(this.py())?, height))
    }

    /// The report of the trace as one HTML document, as in `traceloom report`.
    ///
    /// >>> import traceloom
    /// >>> traceloom.sample("memlyze").to_html()[:15].lower()
    /// '<!doctype html>'
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        let mut report = Report::default();
        detached(py, || report.add(&self.0))?;
        Ok(report.to_html())
    }

    fn __repr__(&self) -> String {
        format!("<Trace {} ({})>", self.0.path().display(), self.0.format().name)
    }
}
