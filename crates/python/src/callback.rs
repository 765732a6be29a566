//! The functions that CPython calls for every step of a thread: the limited API does not declare them, but every CPython has
//! them.

#![allow(unsafe_code)]

use std::os::raw::c_int;

use pyo3::ffi;

pub(crate) type Object = *mut ffi::PyObject;
pub(crate) type PyFrame = *mut ffi::PyFrameObject;

/// A trace function or a profile function.
pub(crate) type Function = unsafe extern "C" fn(Object, PyFrame, c_int, Object) -> c_int;

unsafe extern "C" {
    pub(crate) fn PyEval_SetTrace(function: Option<Function>, object: Object);
    pub(crate) fn PyEval_SetProfile(function: Option<Function>, object: Object);
}

pub(crate) const CALL: c_int = 0;
pub(crate) const LINE: c_int = 2;
pub(crate) const RETURN: c_int = 3;
pub(crate) const C_CALL: c_int = 4;
pub(crate) const C_EXCEPTION: c_int = 5;
pub(crate) const C_RETURN: c_int = 6;
