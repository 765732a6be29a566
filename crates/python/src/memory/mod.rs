//! The memory tracer: allocations of the interpreter with Python's stacks, as a Memlyze file.
//!
//! Hooks around the allocators store events; a thread without the interpreter lock writes them.

mod hooks;
mod shadow;
mod tape;
mod write;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, mpsc::sync_channel},
    thread,
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

use self::{
    tape::{TAPE, Tape, tape},
    write::Writing,
};
use crate::error::detached;

/// Max number of chunks of events that wait for the writer.
const WAITING_CHUNKS: usize = 64;

/// Starts recording allocations.
///
/// `own` is the folder of this package, whose frames are omitted.
#[pyfunction]
pub(crate) fn memory_start(py: Python<'_>, path: PathBuf, own: String) -> PyResult<()> {
    if tape().is_some() {
        return Err(PyRuntimeError::new_err("memory is already being traced"));
    }
    let (sender, receiver) = sync_channel(WAITING_CHUNKS);
    let nodes = Arc::new(Mutex::new(Vec::new()));
    let clock = quanta::Clock::new();
    let writing = Writing::new(path, own, Arc::clone(&nodes), clock.clone());
    let writer = thread::Builder::new().name("traceloom-memory".into()).spawn(move || writing.write_all(&receiver))?;
    *tape() = Some(Tape::new(sender, nodes, clock, writer));
    shadow::install(py)?;
    hooks::install(py);
    Ok(())
}

/// Ends the recording and completes the file.
#[pyfunction]
pub(crate) fn memory_stop(py: Python<'_>) -> PyResult<()> {
    hooks::remove(py);
    shadow::remove(py)?;
    let Some(tape) = tape().take() else { return Err(PyRuntimeError::new_err("memory is not being traced")) };
    let writer = tape.finish();
    detached(py, || {
        writer.join().unwrap_or_else(|_| Err(traceloom::Error::internal("the writer of the trace panicked")))
    })
}

/// Discards the recording in the child of a fork, which has no writer.
#[pyfunction]
pub(crate) fn memory_abandon(py: Python<'_>) -> PyResult<()> {
    // A thread that does not exist in the child may have held the lock.
    let Ok(mut tape) = TAPE.try_lock() else { return Ok(()) };
    let Some(running) = tape.take() else { return Ok(()) };
    drop(tape);
    std::mem::forget(running);
    hooks::remove(py);
    shadow::remove(py)
}

/// Records a garbage collection.
#[pyfunction]
pub(crate) fn memory_gc(objects: u64) {
    if let Some(tape) = &mut *tape() {
        tape.collected(objects);
    }
}

/// Records a marker.
#[pyfunction]
pub(crate) fn memory_marker(name: String) {
    if let Some(tape) = &mut *tape() {
        tape.mark(name);
    }
}
