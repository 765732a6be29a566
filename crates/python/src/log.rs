//! What the logging handler writes to: the recorder, which a process has once.

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
        return Err(PyRuntimeError::new_err("a process writes one log at a time, and one is open"));
    }
    *guard = Some(Recorder::new().clog(path).start().map_err(crate::error::raised)?);
    Ok(())
}

/// Writes an entry; `level` is one of Python's.
#[pyfunction]
pub(crate) fn log_write(py: Python<'_>, level: i64, message: &str, file: &str, line: u32) {
    let level = match level {
        40.. => Level::Error,
        30.. => Level::Warn,
        20.. => Level::Info,
        _ => Level::Debug,
    };
    // A full ring makes the thread wait for the writer.
    py.detach(|| {
        let text = format_args!("{message}");
        LogBackend.log(&Record::builder().level(level).args(text).file(Some(file)).line(Some(line)).build());
    });
}

/// Returns when the kernel has every entry.
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
