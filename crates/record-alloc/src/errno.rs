//! Keeps `errno`: a program may look at it after a call that only recorded something meanwhile.

pub(crate) struct Errno(i32);

/// Keeps the present value until the result is dropped.
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
