//! The output of the logging handler: the recorder, of which a process has one.

use std::{path::PathBuf, sync::Mutex};

use log::{Level, Log, Record};
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use traceloom_record::{Guard, LogBackend, Recorder};

static GUARD: Mutex<Option<Guard>> = Mutex::new(None);

fn guard() -> std::sync::MutexGuard<'static, Option<Guard>> {
    GUARD.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Starts a log.
#[pyfunction]
pub(crate) fn log_open(path: PathBuf) -> PyResult<()> {
    let mut guard = guard();
    if guard.is_some() {
        return Err(PyRuntimeError::new_err("another log is already open; a process can write only one log at a time"));
    }
    *guard = Some(Recorder::new().clog(path).start().map_err(crate::error::raised)?);
    Ok(())
}

/// Writes an entry; `level` is a Python level.
#[pyfunction]
pub(crate) fn log_write(py: Python<'_>, level: i64, message: &str, file: &str, line: u32) {
    let level = match level {
        40.. => Level::Error,
        30.. => Level::Warn,
        20.. => Level::Info,
        _ => Level::Debug,
    };
    // If the ring is full, the thread waits for the writer.
    py.detach(|| {
        let text = format_args!("{message}");
        LogBackend.log(&Record::builder().level(level).args(text).file(Some(file)).line(Some(line)).build());
    });
}

/// Waits until all entries are written to the operating system.
#[pyfunction]
pub(crate) fn log_flush(py: Python<'_>) -> PyResult<()> {
    crate::error::detached(py, traceloom_record::flush)
}

/// Completes the log.
#[pyfunction]
pub(crate) fn log_close(py: Python<'_>) -> PyResult<()> {
    let taken = guard().take();
    crate::error::detached(py, || taken.map_or(Ok(()), Guard::close))
}
