//! Records and log entries as Python objects, one at a time.

use std::{ops::ControlFlow, sync::Mutex};

use pyo3::{prelude::*, types::PyBytes};
use traceloom::{
    Pull, Records, Result, Trace,
    cnanolog::{CNanoLog, Record, text::Json},
};

use crate::error::raised;

/// Bytes of JSON per chunk, because passing data between threads costs more than a line.
const CHUNK_BYTES: usize = 64 << 10;

/// An iterator of dictionaries.
#[pyclass(module = "traceloom", frozen)]
pub(crate) struct Lines(Mutex<State>);

struct State {
    chunks: Pull<Vec<u8>>,
    chunk: Vec<u8>,
    /// Number of bytes of the chunk already returned.
    given: usize,
}

impl Lines {
    /// Every record as stored.
    pub(crate) fn of_records(trace: &Trace) -> Self {
        let trace = trace.clone();
        Self::new(move |give| trace.records(|record| give.line(|out| record.push_json(out))).map(drop))
    }

    /// Every log entry, as `traceloom log --json` prints it.
    pub(crate) fn of_log(trace: &Trace) -> Result<Self> {
        let mut reader = trace.reader::<CNanoLog>()?;
        let mut json = Json::new(reader.clock());
        Ok(Self::new(move |give| {
            while let Some(located) = reader.next()? {
                let Record::Entry(entry) = &located.record else { continue };
                if give.line(|out| json.put(entry, located.offset, out)).is_break() {
                    break;
                }
            }
            Ok(())
        }))
    }

    fn new(visit: impl FnOnce(&mut Chunks<'_>) -> Result<()> + Send + 'static) -> Self {
        let chunks = Pull::new(move |give| {
            let mut chunks = Chunks { chunk: Vec::new(), give };
            visit(&mut chunks)?;
            _ = chunks.flush();
            Ok(())
        });
        Self(Mutex::new(State { chunks, chunk: Vec::new(), given: 0 }))
    }
}

/// Collects lines.
struct Chunks<'g> {
    chunk: Vec<u8>,
    give: &'g mut dyn FnMut(Vec<u8>) -> ControlFlow<()>,
}

impl Chunks<'_> {
    fn line(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> ControlFlow<()> {
        put(&mut self.chunk);
        if self.chunk.last() != Some(&b'\n') {
            self.chunk.push(b'\n');
        }
        if self.chunk.len() < CHUNK_BYTES { ControlFlow::Continue(()) } else { self.flush() }
    }

    fn flush(&mut self) -> ControlFlow<()> {
        (self.give)(std::mem::take(&mut self.chunk))
    }
}

impl State {
    /// The next line; releases the interpreter lock while waiting for it.
    fn next(&mut self) -> Option<Result<&[u8]>> {
        while self.given == self.chunk.len() {
            self.given = 0;
            match self.chunks.next()? {
                Ok(chunk) => self.chunk = chunk,
                Err(error) => return Some(Err(error)),
            }
        }
        let rest = &self.chunk[self.given..];
        let len = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
        self.given += len;
        Some(Ok(&rest[..len]))
    }
}

#[pymethods]
impl Lines {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let line = py.detach(|| {
            let mut state = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            state.next().map(|line| line.map(<[u8]>::to_vec))
        });
        let Some(line) = line.transpose().map_err(raised)? else { return Ok(None) };
        py.import("json")?.call_method1("loads", (PyBytes::new(py, &line),)).map(Some)
    }
}
