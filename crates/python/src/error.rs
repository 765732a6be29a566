//! Errors of the library as exceptions.

use pyo3::{
    create_exception,
    exceptions::{PyException, PyOSError, PyValueError},
    prelude::*,
};
use traceloom::{Error, ErrorKind};

create_exception!(
    traceloom,
    TraceloomError,
    PyException,
    "A file cannot be read, or does not contain the requested data."
);

/// The exception for an error, by the kind of error.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error.kind() {
        // With the error number, Python creates `FileNotFoundError` and related exceptions.
        ErrorKind::Io(io) => match io.raw_os_error() {
            Some(number) => PyOSError::new_err((number, message)),
            None => PyOSError::new_err(message),
        },
        ErrorKind::Usage(_) => PyValueError::new_err(message),
        _ => TraceloomError::new_err(message),
    }
}

/// Runs work without the interpreter lock, and raises its error.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> traceloom::Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(raised)
}
