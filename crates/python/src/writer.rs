//! Traces built by a Python program.

use std::{path::PathBuf, sync::Mutex};

use pyo3::{exceptions::PyValueError, prelude::*};
use traceloom::{Conversion, LogLevel, Place, TraceBuilder};

use crate::{
    error::{detached, raised},
    output::{losses, written},
    parsed,
};

/// Collects a trace; the package has the public class.
#[pyclass(module = "traceloom", frozen)]
pub(crate) struct Builder(Mutex<TraceBuilder>);

impl Builder {
    /// Adds an item to a thread.
    fn on(&self, thread: &str, add: impl FnOnce(&mut TraceBuilder, usize) -> traceloom::Result<()>) -> PyResult<()> {
        let mut builder = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let thread = builder.thread(thread);
        add(&mut builder, thread).map_err(raised)
    }
}

#[pymethods]
impl Builder {
    #[new]
    fn new(name: &str, unix_ns: i64) -> Self {
        Self(Mutex::new(TraceBuilder::new(name).starting_at(unix_ns)))
    }

    fn begin(&self, thread: &str, name: &str, ts_ns: i64) -> PyResult<()> {
        self.on(thread, |builder, thread| builder.begin(thread, name, ts_ns))
    }

    fn end(&self, thread: &str, ts_ns: i64) -> PyResult<()> {
        self.on(thread, |builder, thread| builder.end(thread, ts_ns))
    }

    fn event(&self, thread: &str, name: &str, ts_ns: i64) -> PyResult<()> {
        self.on(thread, |builder, thread| builder.event(thread, name, ts_ns))
    }

    fn value(&self, thread: &str, name: &str, ts_ns: i64, value: f64) -> PyResult<()> {
        self.on(thread, |builder, thread| builder.value(thread, name, ts_ns, value))
    }

    fn log(&self, thread: &str, level: &str, ts_ns: i64, message: &str) -> PyResult<()> {
        let all = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
        let level = all.into_iter().find(|known| known.as_str().eq_ignore_ascii_case(level)).ok_or_else(|| {
            PyValueError::new_err(format!(
                "unknown level {level}; the levels are {}",
                all.map(LogLevel::as_str).join(", ")
            ))
        })?;
        self.on(thread, |builder, thread| builder.log(thread, level, ts_ns, message))
    }

    fn allocate(
        &self,
        thread: &str,
        ts_ns: i64,
        address: u64,
        size: u64,
        stack: Vec<(String, String, u32)>,
    ) -> PyResult<()> {
        let stack = stack.into_iter().map(|(function, file, line)| Place { function, file, line }).collect();
        self.on(thread, |builder, _| {
            builder.allocate(ts_ns, address, size, stack);
            Ok(())
        })
    }

    fn free(&self, ts_ns: i64, address: u64) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).free(ts_ns, address);
    }

    /// Writes the file and returns the losses.
    fn write<'py>(&self, py: Python<'py>, path: PathBuf, to: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let conversion = match to {
            Some(to) => Conversion::to(to).map_err(raised)?.named(&path),
            None => Conversion::for_path(&path),
        };
        let loss = detached(py, || {
            let builder = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            written(&path, |out| conversion.write(&*builder, out))
        })?;
        parsed(py, &losses(&loss))
    }
}
