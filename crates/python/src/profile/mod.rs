//! The profiler: lines and calls of a Python program as a NYTProf file.
//!
//! A callback stores sixteen bytes; a thread without the interpreter lock computes stacks, sums and records from them.

mod book;
mod hooks;
mod session;
mod stack;
mod timer;
mod trace;

use std::{
    io::BufWriter,
    path::PathBuf,
    sync::{Arc, Mutex, mpsc::sync_channel},
    thread,
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use traceloom::Conversion;

use self::{
    book::{About, Book},
    hooks::Wanted,
    session::{Codes, Session},
    timer::Timer,
};
use crate::{
    error::{detached, raised},
    output::written,
};

/// Max number of chunks of events that wait for the writer; a faster program waits.
const WAITING_CHUNKS: usize = 64;

/// Options of a profile, as attributes of a Python object.
#[derive(FromPyObject)]
pub(crate) struct Order {
    output: PathBuf,
    application: String,
    lines: bool,
    builtins: bool,
    timer: Option<Py<PyAny>>,
}

/// Starts recording lines and calls of all threads.
///
/// `own` is the folder of this package, whose frames are omitted.
#[pyfunction]
pub(crate) fn profile_start(py: Python<'_>, order: Order, own: String) -> PyResult<()> {
    if session::is_running(py) {
        return Err(PyRuntimeError::new_err("a profile is already being recorded"));
    }
    let Order { output, application, lines, builtins, timer } = order;
    let wanted = Wanted { lines, builtins };
    let file =
        std::fs::File::create(&output).map_err(|error| raised(traceloom::Error::from(error).in_file(&output)))?;
    let python = Python::version_str().split(' ').next().unwrap_or_default().to_owned();
    let codes = Arc::new(Mutex::new(Codes::new()));
    let timer = timer.map_or_else(Timer::counter, Timer::Python);
    let about = About { application, python, scale: timer.scale(), codes: Arc::clone(&codes), has_lines: lines };
    let (sender, receiver) = sync_channel(WAITING_CHUNKS);
    let book = Book::create(BufWriter::new(file), about).map_err(raised)?;
    let writer = thread::Builder::new().name("traceloom-profile".into()).spawn(move || book.write_all(&receiver))?;
    session::begin(py, Session::new(sender, codes, timer, own, writer));
    hooks::install(py, wanted).inspect_err(|_| {
        session::end(py);
    })
}

/// Ends the recording and completes the file.
#[pyfunction]
pub(crate) fn profile_stop(py: Python<'_>) -> PyResult<()> {
    hooks::remove(py)?;
    let Some(writer) = session::end(py) else {
        return Err(PyRuntimeError::new_err("no profile is being recorded"));
    };
    detached(py, || {
        writer.join().unwrap_or_else(|_| Err(traceloom::Error::internal("the writer of the profile panicked")))
    })
}

/// Discards the recording in the child of a fork, which has no writer.
#[pyfunction]
pub(crate) fn profile_abandon(py: Python<'_>) -> PyResult<()> {
    if session::is_running(py) {
        hooks::remove(py)?;
        session::abandon(py);
    }
    Ok(())
}

/// Converts a profile to another format.
#[pyfunction]
pub(crate) fn profile_convert(py: Python<'_>, from: PathBuf, to: PathBuf, format: &str) -> PyResult<()> {
    detached(py, || {
        let conversion = Conversion::to(format)?;
        written(&to, |out| traceloom::Trace::open(&from)?.convert(&conversion, out)).map(drop)
    })
}
