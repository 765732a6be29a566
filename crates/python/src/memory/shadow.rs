//! The Python stack of each thread, kept up to date by a profile function, because an allocator must not query it.

#![allow(unsafe_code)]

use std::{cell::RefCell, os::raw::c_int, sync::Arc};

use pyo3::{ffi, prelude::*, types::PyCFunction};

use super::tape::{Place, Tape};
use crate::callback::{CALL, Function, Object, PyEval_SetProfile, PyFrame, RETURN};

/// A frame that is running or waits for a call.
struct Frame {
    frame: PyFrame,
    code: usize,
    /// The node of its caller, once it was needed.
    below: Option<u32>,
    /// Its position when it was last needed, and its node at that time.
    last: (i32, u32),
}

thread_local! {
    static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

// Every CPython exports these; the limited API does not declare them.
unsafe extern "C" {
    fn PyFrame_GetBack(frame: PyFrame) -> PyFrame;
    fn PyFrame_GetLasti(frame: PyFrame) -> c_int;
    fn PyCode_Addr2Line(code: Object, offset: c_int) -> c_int;
}

/// Follows this thread and all that start later.
pub(super) fn install(py: Python<'_>) -> PyResult<()> {
    let entered = PyCFunction::new_closure(py, None, None, |arguments, _| -> PyResult<()> {
        // A new thread calls its profile function for its first frame; then the C function takes over.
        if arguments.get_item(1)?.extract::<&str>()? == "call" {
            push(arguments.get_item(0)?.as_ptr().cast());
        }
        set_profile(arguments.py(), Some(on_profile));
        Ok(())
    })?;
    py.import("threading")?.call_method1("setprofile", (entered,))?;
    follow_running(py);
    set_profile(py, Some(on_profile));
    Ok(())
}

/// Stops tracking.
pub(super) fn remove(py: Python<'_>) -> PyResult<()> {
    set_profile(py, None);
    _ = STACK.try_with(|stack| stack.borrow_mut().clear());
    py.import("threading")?.call_method1("setprofile", (py.None(),)).map(drop)
}

fn set_profile(_: Python<'_>, function: Option<Function>) {
    // SAFETY: the caller is attached, and the function fits.
    unsafe { PyEval_SetProfile(function, std::ptr::null_mut()) }
}

/// Adds the frames that are already running.
fn follow_running(_: Python<'_>) {
    let mut frames = Vec::new();
    // SAFETY: the caller is attached; each function gives a new reference or null. A frame that runs outlives the reference.
    unsafe {
        let mut frame = ffi::PyThreadState_GetFrame(ffi::PyThreadState_Get());
        while !frame.is_null() {
            frames.push(frame);
            let back = PyFrame_GetBack(frame);
            ffi::Py_DECREF(frame.cast());
            frame = back;
        }
    }
    STACK.with(|stack| stack.borrow_mut().clear());
    frames.into_iter().rev().for_each(push);
}

fn push(frame: PyFrame) {
    // SAFETY: the frame runs, and keeps its code alive.
    let code = unsafe {
        let code = ffi::PyFrame_GetCode(frame).cast::<ffi::PyObject>();
        ffi::Py_DECREF(code);
        code as usize
    };
    _ = STACK.try_with(|stack| stack.borrow_mut().push(Frame { frame, code, below: None, last: (-1, 0) }));
}

unsafe extern "C" fn on_profile(_: Object, frame: PyFrame, what: c_int, _: Object) -> c_int {
    if what == CALL {
        push(frame);
    } else if what == RETURN {
        _ = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            if let Some(index) = stack.iter().rposition(|entry| entry.frame == frame) {
                stack.truncate(index);
            }
        });
    }
    0
}

/// The node of the innermost frame; the caller is attached and marked as busy.
pub(super) fn node(tape: &mut Tape) -> u32 {
    let found = STACK.try_with(|stack| {
        let stack = &mut *stack.try_borrow_mut().ok()?;
        let top = stack.len().checked_sub(1)?;
        let first = stack.iter().rposition(|frame| frame.below.is_some()).unwrap_or(0);
        let mut below = stack[first].below.unwrap_or(0);
        for frame in &mut stack[first..top] {
            frame.below = Some(below);
            below = frame.node(below, tape);
        }
        stack[top].below = Some(below);
        Some(stack[top].node(below, tape))
    });
    found.ok().flatten().unwrap_or(0)
}

impl Frame {
    #[inline]
    fn node(&mut self, below: u32, tape: &mut Tape) -> u32 {
        // SAFETY: the frame is on the stack of this thread.
        let at = unsafe { PyFrame_GetLasti(self.frame) };
        if self.last.0 == at && self.last.1 != 0 {
            return self.last.1;
        }
        let call = (below, self.code, at);
        let node = tape.known(call).unwrap_or_else(|| self.meet(call, tape));
        self.last = (at, node);
        node
    }

    #[cold]
    fn meet(&self, call: (u32, usize, i32), tape: &mut Tape) -> u32 {
        // SAFETY: the allocator's caller is attached, and the frame keeps its code alive; from here on we do, so that no other
        // code gets its address.
        let (code, line) = unsafe {
            let pointer = self.code as Object;
            ffi::Py_INCREF(pointer);
            (Bound::from_borrowed_ptr(Python::assume_attached(), pointer), PyCode_Addr2Line(pointer, call.2))
        };
        let text = |name: &str| code.getattr(name).and_then(|text| text.extract::<String>()).unwrap_or_default();
        let place = Place { file: text("co_filename"), function: text("co_qualname") };
        tape.add(call, Arc::new(place), u32::try_from(line).unwrap_or(0))
    }
}
