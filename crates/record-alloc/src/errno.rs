//! Preserves `errno`, which a program may read after a call during which something was recorded.

pub(crate) struct Errno(i32);

/// Saves the current value and restores it when the result is dropped.
#[inline]
pub(crate) fn keep() -> Errno {
    // SAFETY: every thread has an errno.
    Errno(unsafe { *libc::__errno_location() })
}

impl Drop for Errno {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: every thread has an errno.
        unsafe { *libc::__errno_location() = self.0 }
    }
}
