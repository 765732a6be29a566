//! The callbacks that CPython calls: `sys.monitoring` from 3.12 on, a trace function before.

#![allow(unsafe_code)]

use std::{ffi::CStr, os::raw::c_int};

use pyo3::{exceptions::PyRuntimeError, ffi, prelude::*, types::PyCFunction};

use super::session::{ENTER, LEAVE, record};

/// The events of `sys.monitoring`, and what is called for them.
const EVENTS: &[(&str, ffi::PyCFunctionFast)] = &[
    ("LINE", on_line),
    ("PY_START", on_enter),
    ("PY_RESUME", on_enter),
    ("PY_THROW", on_enter),
    ("PY_RETURN", on_leave),
    ("PY_YIELD", on_leave),
    ("PY_UNWIND", on_leave),
];

/// Starts the callbacks, for all threads.
pub(super) fn install(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let Ok(monitoring) = sys.getattr("monitoring") else { return install_trace(py) };
    let tool = monitoring.getattr("PROFILER_ID")?;
    monitoring.call_method1("use_tool_id", (&tool, "traceloom")).map_err(|error| {
        let taken = PyRuntimeError::new_err("another profiler is active");
        taken.set_cause(py, Some(error));
        taken
    })?;
    let known = monitoring.getattr("events")?;
    let mut all = 0_u32;
    for (name, function) in EVENTS {
        let event = known.getattr(*name)?;
        monitoring.call_method1("register_callback", (&tool, &event, callable(py, *function)?))?;
        all |= event.extract::<u32>()?;
    }
    monitoring.call_method1("set_events", (&tool, all)).map(drop)
}

/// Ends the callbacks.
pub(super) fn remove(py: Python<'_>) -> PyResult<()> {
    let sys = py.import("sys")?;
    let Ok(monitoring) = sys.getattr("monitoring") else { return remove_trace(py) };
    let tool = monitoring.getattr("PROFILER_ID")?;
    let owner = monitoring.call_method1("get_tool", (&tool,))?;
    if owner.extract::<&str>().ok() != Some("traceloom") {
        return Ok(());
    }
    monitoring.call_method1("set_events", (&tool, 0))?;
    let known = monitoring.getattr("events")?;
    for (name, _) in EVENTS {
        monitoring.call_method1("register_callback", (&tool, known.getattr(*name)?, py.None()))?;
    }
    monitoring.call_method1("free_tool_id", (&tool,)).map(drop)
}

/// A function of Python with as little around it as CPython allows.
fn callable(py: Python<'_>, function: ffi::PyCFunctionFast) -> PyResult<Bound<'_, PyAny>> {
    const NAME: &CStr = c"traceloom";
    // CPython keeps the address; a recording leaves a few hundred bytes.
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

unsafe extern "C" fn on_line(
    _: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    _: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this attached, with a code and a line.
    unsafe {
        let line = ffi::PyLong_AsLong(*arguments.add(1));
        record(Python::assume_attached(), *arguments, u32::try_from(line).unwrap_or(0).min(LEAVE - 1));
        none()
    }
}

unsafe extern "C" fn on_enter(
    _: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    _: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this attached, with a code first.
    unsafe {
        record(Python::assume_attached(), *arguments, ENTER);
        none()
    }
}

unsafe extern "C" fn on_leave(
    _: *mut ffi::PyObject,
    arguments: *mut *mut ffi::PyObject,
    _: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls this attached, with a code first.
    unsafe {
        record(Python::assume_attached(), *arguments, LEAVE);
        none()
    }
}

/// A new reference to `None`.
unsafe fn none() -> *mut ffi::PyObject {
    // SAFETY: `None` lives as long as the interpreter.
    unsafe {
        let none = ffi::Py_None();
        ffi::Py_INCREF(none);
        none
    }
}

/// The C function that `PyEval_SetTrace` takes; the limited API does not declare it, but every CPython exports it.
type TraceFunction =
    unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyFrameObject, c_int, *mut ffi::PyObject) -> c_int;

unsafe extern "C" {
    fn PyEval_SetTrace(function: Option<TraceFunction>, object: *mut ffi::PyObject);
}

const TRACE_CALL: c_int = 0;
const TRACE_LINE: c_int = 2;
const TRACE_RETURN: c_int = 3;

fn install_trace(py: Python<'_>) -> PyResult<()> {
    let entered = PyCFunction::new_closure(py, None, None, |arguments, _| -> PyResult<()> {
        // A new thread calls its trace function for its first frame; from then on the C function takes over.
        let frame = arguments.get_item(0)?;
        record(arguments.py(), frame.getattr("f_code")?.as_ptr(), ENTER);
        set_trace(arguments.py(), Some(on_trace));
        Ok(())
    })?;
    py.import("threading")?.call_method1("settrace", (entered,))?;
    set_trace(py, Some(on_trace));
    Ok(())
}

fn remove_trace(py: Python<'_>) -> PyResult<()> {
    set_trace(py, None);
    py.import("threading")?.call_method1("settrace", (py.None(),)).map(drop)
}

fn set_trace(_: Python<'_>, function: Option<TraceFunction>) {
    // SAFETY: the caller is attached, and the function fits.
    unsafe { PyEval_SetTrace(function, std::ptr::null_mut()) }
}

unsafe extern "C" fn on_trace(
    _: *mut ffi::PyObject,
    frame: *mut ffi::PyFrameObject,
    what: c_int,
    _: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: CPython calls this attached, with the frame that runs, which keeps its code alive.
    unsafe {
        let step = match what {
            TRACE_CALL => ENTER,
            TRACE_LINE => u32::try_from(ffi::PyFrame_GetLineNumber(frame)).unwrap_or(0).min(LEAVE - 1),
            TRACE_RETURN => LEAVE,
            _ => return 0,
        };
        let code = ffi::PyFrame_GetCode(frame).cast::<ffi::PyObject>();
        record(Python::assume_attached(), code, step);
        ffi::Py_DECREF(code);
    }
    0
}
