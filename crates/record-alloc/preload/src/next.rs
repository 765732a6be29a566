//! The next definitions of the functions of this library.

use std::{
    cell::UnsafeCell,
    ffi::CStr,
    mem::{MaybeUninit, transmute_copy},
    sync::atomic::{AtomicU8, Ordering},
};

use libc::{c_int, c_void, size_t};

macro_rules! functions {
    ($($name:ident: $type:ty,)*) => {
        /// The next definition of each function.
        pub(crate) struct Next {
            $(pub(crate) $name: $type,)*
        }

        impl Next {
            fn find() -> Self {
                // SAFETY: the types are those of the C library's headers.
                unsafe {
                    Self {
                        $($name: transmute_copy(&symbol(
                            const { CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) }
                        )),)*
                    }
                }
            }
        }
    };
}

functions! {
    malloc: unsafe extern "C" fn(size_t) -> *mut c_void,
    calloc: unsafe extern "C" fn(size_t, size_t) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, size_t) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    posix_memalign: unsafe extern "C" fn(*mut *mut c_void, size_t, size_t) -> c_int,
    aligned_alloc: unsafe extern "C" fn(size_t, size_t) -> *mut c_void,
    memalign: unsafe extern "C" fn(size_t, size_t) -> *mut c_void,
    valloc: unsafe extern "C" fn(size_t) -> *mut c_void,
    pvalloc: unsafe extern "C" fn(size_t) -> *mut c_void,
    dlclose: unsafe extern "C" fn(*mut c_void) -> c_int,
}

fn symbol(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() { unavailable as *mut c_void } else { found }
}

/// Placeholder for a function that the C library does not have and that therefore is never called.
extern "C" fn unavailable() -> *mut c_void {
    std::ptr::null_mut()
}

struct Table(UnsafeCell<MaybeUninit<Next>>);

// SAFETY: written once, before the state says that it may be read.
unsafe impl Sync for Table {}

static TABLE: Table = Table(UnsafeCell::new(MaybeUninit::uninit()));
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const LOOKING: u8 = 1;
const KNOWN: u8 = 2;

/// The functions, or `None` while they are being looked up, which may allocate.
#[inline]
pub(crate) fn next() -> Option<&'static Next> {
    if STATE.load(Ordering::Acquire) != KNOWN && !look_up() {
        return None;
    }
    // SAFETY: the table is written and does not change.
    Some(unsafe { (*TABLE.0.get()).assume_init_ref() })
}

#[cold]
fn look_up() -> bool {
    if STATE.compare_exchange(UNKNOWN, LOOKING, Ordering::Acquire, Ordering::Acquire).is_err() {
        return STATE.load(Ordering::Acquire) == KNOWN;
    }
    // SAFETY: the state lets one thread come here, once.
    unsafe { (*TABLE.0.get()).write(Next::find()) };
    STATE.store(KNOWN, Ordering::Release);
    true
}
