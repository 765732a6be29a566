//! The extension module of the Python package `traceloom`: bindings of the library of this workspace.
//!
//! The package in `python/traceloom` adds the parts that are simpler in Python. `python/tests` runs the examples of the
//! docstrings here.

mod callback;
mod error;
mod input;
mod lines;
mod log;
mod memory;
mod output;
mod profile;
mod sql;
mod table;
mod trace;
mod writer;

use pyo3::prelude::*;

/// The part of the package that is written in Rust.
#[pymodule]
mod _traceloom {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        error::TraceloomError,
        lines::Lines,
        log::{log_close, log_flush, log_open, log_write},
        memory::{memory_abandon, memory_gc, memory_marker, memory_start, memory_stop},
        profile::{profile_abandon, profile_convert, profile_start, profile_stop},
        table::{Batch, Batches, Table},
        trace::{Trace, open, sample},
        writer::Builder,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("FORMATS", traceloom::formats().map(|format| format.id).collect::<Vec<_>>())?;
        module.add("TABLES", traceloom::tables::Table::ALL.map(traceloom::tables::Table::name))
    }
}

/// A JSON document as Python objects; used for every result, so that it equals the output of the program.
fn parsed<'py>(py: Python<'py>, json: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json.to_string(),))
}
