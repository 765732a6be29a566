//! The callbacks of CPython before 3.12: a trace function for lines, a profile function without them.

#![allow(unsafe_code)]

use std::os::raw::c_int;

use pyo3::{ffi, prelude::*, types::PyCFunction};

use super::{
    hooks::{Wanted, native},
    session::{ENTER, ENTER_NATIVE, LEAVE, MAX_LINE, record, record_native},
};
use crate::callback::{
    C_CALL, C_EXCEPTION, C_RETURN, CALL, LINE, Object, PyEval_SetProfile, PyEval_SetTrace, PyFrame, RETURN,
};

/// Starts the callbacks for this thread and threads that start later.
pub(super) fn install(py: Python<'_>, wanted: Wanted) -> PyResult<()> {
    let threading = py.import("threading")?;
    let entered = PyCFunction::new_closure(py, None, None, move |arguments, _| -> PyResult<()> {
        // A new thread calls its function for its first frame; then the C functions take over.
        if arguments.get_item(1)?.extract::<&str>()? == "call" {
            record(arguments.py(), arguments.get_item(0)?.getattr("f_code")?.as_ptr(), ENTER);
        }
        set(arguments.py(), wanted);
        Ok(())
    })?;
    threading.call_method1(if wanted.lines { "settrace" } else { "setprofile" }, (entered,))?;
    set(py, wanted);
    Ok(())
}

/// Ends the callbacks.
pub(super) fn remove(py: Python<'_>) -> PyResult<()> {
    // SAFETY: the caller is attached.
    unsafe {
        PyEval_SetTrace(None, std::ptr::null_mut());
        PyEval_SetProfile(None, std::ptr::null_mut());
    }
    let threading = py.import("threading")?;
    threading.call_method1("settrace", (py.None(),))?;
    threading.call_method1("setprofile", (py.None(),)).map(drop)
}

fn set(_: Python<'_>, wanted: Wanted) {
    let null = std::ptr::null_mut();
    // SAFETY: the caller is attached, and the functions fit. With lines, the trace function has the calls as well.
    unsafe {
        match (wanted.lines, wanted.builtins) {
            (true, true) => PyEval_SetProfile(Some(on_builtin), null),
            (true, false) => {}
            (false, true) => PyEval_SetProfile(Some(on_any), null),
            (false, false) => PyEval_SetProfile(Some(on_python), null),
        }
        if wanted.lines {
            PyEval_SetTrace(Some(on_python), null);
        }
    }
}

unsafe extern "C" fn on_any(object: Object, frame: PyFrame, what: c_int, argument: Object) -> c_int {
    // SAFETY: the arguments are passed on.
    unsafe {
        on_python(object, frame, what, argument);
        on_builtin(object, frame, what, argument)
    }
}

/// A frame is entered or left, or a line starts.
unsafe extern "C" fn on_python(_: Object, frame: PyFrame, what: c_int, _: Object) -> c_int {
    // SAFETY: CPython calls this attached, with the frame that runs, which keeps its code alive.
    unsafe {
        let step = match what {
            CALL => ENTER,
            LINE => u32::try_from(ffi::PyFrame_GetLineNumber(frame)).unwrap_or(0).min(MAX_LINE),
            RETURN => LEAVE,
            _ => return 0,
        };
        let code = ffi::PyFrame_GetCode(frame).cast::<ffi::PyObject>();
        record(Python::assume_attached(), code, step);
        ffi::Py_DECREF(code);
    }
    0
}

/// A function that is not written in Python is called, or returns.
unsafe extern "C" fn on_builtin(_: Object, frame: PyFrame, what: c_int, function: Object) -> c_int {
    let step = match what {
        C_CALL => ENTER_NATIVE,
        C_EXCEPTION | C_RETURN => LEAVE,
        _ => return 0,
    };
    // SAFETY: as in `on_python`; the last argument is the callee.
    unsafe {
        let Some(function) = native(function) else { return 0 };
        let code = ffi::PyFrame_GetCode(frame).cast::<ffi::PyObject>();
        record_native(Python::assume_attached(), code, function, step);
        ffi::Py_DECREF(code);
    }
    0
}
