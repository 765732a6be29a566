//! The callbacks for CPython: from `sys.monitoring` since 3.12, and from `trace` before.

#![allow(unsafe_code)]

use std::ffi::CStr;

use pyo3::{exceptions::PyRuntimeError, ffi, prelude::*};

use super::{
    session::{ENTER, ENTER_NATIVE, LEAVE, MAX_LINE, record, record_native},
    trace,
};
use crate::callback::Object;

/// What to record in addition to calls of Python functions.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) lines: bool,
    /// Calls of functions that are not written in Python.
    pub(super) builtins: bool,
}

/// The events of `sys.monitoring`, and their callbacks.
const CALLS: &[(&str, ffi::PyCFunctionFast)] = &[
    ("PY_START", on_code::<ENTER>),
    ("PY_RESUME", on_code::<ENTER>),
    ("PY_THROW", on_code::<ENTER>),
    ("PY_RETURN", on_code::<LEAVE>),
    ("PY_YIELD", on_code::<LEAVE>),
    ("PY_UNWIND", on_code::<LEAVE>),
];
const LINES: &[(&str, ffi::PyCFunctionFast)] = &[("LINE", on_line)];
const BUILTINS: &[(&str, ffi::PyCFunctionFast)] =
    &[("CALL", on_native::<ENTER_NATIVE>), ("C_RETURN", on_native::<LEAVE>), ("C_RAISE", on_native::<LEAVE>)];

impl Wanted {
    fn events(self) -> impl Iterator<Item = &'static (&'static str, ffi::PyCFunctionFast)> {
        let (lines, builtins) = (if self.lines { LINES } else { &[] }, if self.builtins { BUILTINS } else { &[] });
        CALLS.iter().chain(lines).chain(builtins)
    }
}

/// Starts the callbacks, for all threads.
pub(super) fn install(py: Python<'_>, wanted: Wanted) -> PyResult<()> {
    let sys = py.import("sys")?;
    let Ok(monitoring) = sys.getattr("monitoring") else { return trace::install(py, wanted) };
    let tool = monitoring.getattr("PROFILER_ID")?;
    monitoring.call_method1("use_tool_id", (&tool, "traceloom")).map_err(|error| {
        let taken = PyRuntimeError::new_err("another profiler is active");
        taken.set_cause(py, Some(error));
        taken
    })?;
    let known = monitoring.getattr("events")?;
    let mut all = 0_u32;
    for (name, function) in wanted.events() {
        let event = known.getattr(*name)?;
        monitoring.call_method1("register_callback", (&tool, &event, callable(py, *function)?))?;
        all |= event.extract::<u32>()?;
    }
    monitoring.call_method1("set_events", (&tool, all)).map(drop)
}

/// Ends the callbacks.
pub(super) fn remove(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let Ok(monitoring) = sys.getattr("monitoring") else { return trace::remove(py) };
    let tool = monitoring.getattr("PROFILER_ID")?;
    let owner = monitoring.call_method1("get_tool", (&tool,))?;
    if owner.extract::<&str>().ok() != Some("traceloom") {
        return Ok(());
    }
    monitoring.call_method1("set_events", (&tool, 0))?;
    let known = monitoring.getattr("events")?;
    for (name, _) in (Wanted { lines: true, builtins: true }).events() {
        monitoring.call_method1("register_callback", (&tool, known.getattr(*name)?, py.None()))?;
    }
    monitoring.call_method1("free_tool_id", (&tool,)).map(drop)
}

/// A Python function with the least overhead that CPython allows.
fn callable(py: Python<'_>, function: ffi::PyCFunctionFast) -> PyResult<Bound<'_, PyAny>> {
    const NAME: &CStr = c"traceloom";
    // CPython keeps the address, so a recording leaks a few hundred bytes.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: NAME.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFast: function },
        ml_flags: ffi::METH_FASTCALL,
        ml_doc: std::ptr::null(),
    }));
    // SAFETY: the definition lives forever, and its flags say what the function is.
    unsafe {
        let function = ffi::PyCMethod_New(definition, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, function)
    }
}

unsafe extern "C" fn on_line(_: Object, arguments: *mut Object, _: ffi::Py_ssize_t) -> Object {
    // SAFETY: CPython calls this attached, with a code and a line.
    unsafe {
        let line = ffi::PyLong_AsLong(*arguments.add(1));
        record(Python::assume_attached(), *arguments, u32::try_from(line).unwrap_or(0).min(MAX_LINE));
        none()
    }
}

unsafe extern "C" fn on_code<const WHAT: u32>(_: Object, arguments: *mut Object, _: ffi::Py_ssize_t) -> Object {
    // SAFETY: CPython calls this attached, with a code first.
    unsafe {
        record(Python::assume_attached(), *arguments, WHAT);
        none()
    }
}

unsafe extern "C" fn on_native<const WHAT: u32>(_: Object, arguments: *mut Object, _: ffi::Py_ssize_t) -> Object {
    // SAFETY: CPython calls this attached, with a code, an offset and the callee.
    unsafe {
        if let Some(function) = native(*arguments.add(2)) {
            record_native(Python::assume_attached(), *arguments, function, WHAT);
        }
        none()
    }
}

unsafe extern "C" {
    /// The type of built-in methods that have a class; the limited API does not declare it.
    static mut PyCMethod_Type: ffi::PyTypeObject;
}

/// A built-in function or method and what identifies it; none for any other callable, such as a class.
pub(super) unsafe fn native(callable: Object) -> Option<(usize, Object)> {
    // SAFETY: the caller passes a live object. Bound methods are short-lived, so they are identified by their C
    // function.
    unsafe {
        let kind = ffi::Py_TYPE(callable);
        if kind == &raw mut ffi::PyMethodDescr_Type {
            return Some((callable as usize, callable));
        }
        if kind != &raw mut ffi::PyCFunction_Type && kind != &raw mut PyCMethod_Type {
            return None;
        }
        ffi::PyCFunction_GetFunction(callable).map(|function| (function as usize, callable))
    }
}

/// A new reference to `None`.
unsafe fn none() -> Object {
    // SAFETY: `None` lives as long as the interpreter.
    unsafe {
        let none = ffi::Py_None();
        ffi::Py_INCREF(none);
        none
    }
}
