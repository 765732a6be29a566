//! Errors for C: a return code and a message.

use std::{
    cell::RefCell,
    ffi::{CString, c_char, c_int},
    fmt::Display,
};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// The reason why the last failed call of this thread failed; valid until another call fails.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns 0, or -1 and stores the reason for [`traceloom_error`].
pub(crate) fn code<T, E: Display>(outcome: Result<T, E>) -> c_int {
    let Err(error) = outcome else { return 0 };
    let text = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
    let _ = LAST.try_with(|last| last.replace(text));
    -1
}
