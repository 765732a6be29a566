//! How functions for C fail: a code, and a text for people.

use std::{
    cell::RefCell,
    ffi::{CString, c_char, c_int},
    fmt::Display,
};

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Why the last call of this thread that failed did so; valid until another one fails.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// 0, or -1 and the reason for [`traceloom_error`].
pub(crate) fn code<T, E: Display>(outcome: Result<T, E>) -> c_int {
    let Err(error) = outcome else { return 0 };
    let text = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
    let _ = LAST.try_with(|last| last.replace(text));
    -1
}
