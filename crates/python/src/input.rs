//! The source of a trace.

use std::{
    io::{self, Read},
    path::PathBuf,
};

use pyo3::{
    buffer::PyBuffer,
    prelude::*,
    types::{PyBytes, PyString},
};
use traceloom::{Limits, Source};

use crate::error::raised;

/// A path, bytes, or an open file, with a name for messages.
pub(crate) fn source(from: &Bound<'_, PyAny>) -> PyResult<(PathBuf, Source)> {
    if let Ok(buffer) = PyBuffer::<u8>::get(from) {
        return Ok(("<bytes>".into(), Source::bytes(buffer.to_vec(from.py())?)));
    }
    if from.hasattr("read")? {
        let name = from.getattr("name").ok().filter(|name| name.is_instance_of::<PyString>());
        let name = name.map_or_else(|| Ok("<file>".into()), |name| name.extract())?;
        return Ok((name, Source::spool(PythonFile(from), &Limits::default()).map_err(raised)?));
    }
    let path: PathBuf = from.extract()?;
    let source = Source::open(&path, &Limits::default()).map_err(|error| raised(error.in_file(&path)))?;
    Ok((path, source))
}

/// A Python file object.
struct PythonFile<'a, 'py>(&'a Bound<'py, PyAny>);

impl Read for PythonFile<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.call_method1("read", (buffer.len(),)).map_err(io::Error::other)?;
        let bytes = read
            .cast::<PyBytes>()
            .map_err(|_| io::Error::other("read() does not return bytes; open the file with \"rb\""))?;
        let bytes = bytes.as_bytes();
        let room = buffer
            .get_mut(..bytes.len())
            .ok_or_else(|| io::Error::other("read() returned more bytes than requested"))?;
        room.copy_from_slice(bytes);
        Ok(bytes.len())
    }
}
