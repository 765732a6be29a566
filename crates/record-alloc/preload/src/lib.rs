//! `libtraceloom_alloc.so`: interposes the C library's allocator and records its calls.
//!
//! C++'s `new` and Rust's default allocator call `malloc`, so they are recorded as well.
//! `traceloom_record_alloc::environment` describes the environment variables of the library.

#![cfg(target_os = "linux")]

mod arena;
mod next;

use std::{
    ffi::CStr,
    sync::atomic::{AtomicU8, Ordering},
};

use libc::{c_char, c_int, c_void, size_t};
use traceloom_record_alloc::hooks;

use crate::next::next;

const UNTRIED: u8 = 0;
const TRYING: u8 = 1;
const TRIED: u8 = 2;
static START: AtomicU8 = AtomicU8::new(UNTRIED);

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Starts the recording at the first call after the C library has set up the environment.
#[inline]
fn start_once() {
    if START.load(Ordering::Relaxed) != TRIED {
        try_start();
    }
}

#[cold]
fn try_start() {
    // SAFETY: the C library owns the variable; it is null until it is set up.
    let is_early = unsafe { environ.is_null() };
    if is_early || START.compare_exchange(UNTRIED, TRYING, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    hooks::start_from_environment();
    START.store(TRIED, Ordering::Relaxed);
}

#[inline]
fn allocated(address: *mut c_void, size: size_t) -> *mut c_void {
    start_once();
    hooks::allocated(address.cast(), size);
    address
}

#[inline]
fn reallocated(old: *mut c_void, size: size_t, resize: impl FnOnce() -> *mut c_void) -> *mut c_void {
    start_once();
    if arena::owns(old) {
        return arena::move_out(old, size);
    }
    hooks::reallocated(old.cast(), size, || resize().cast()).cast()
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: size_t) -> *mut c_void {
    let Some(next) = next() else { return arena::allocate(size) };
    // SAFETY: the caller's promise is passed on.
    allocated(unsafe { (next.malloc)(size) }, size)
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: size_t, size: size_t) -> *mut c_void {
    let Some(next) = next() else { return arena::allocate(count.saturating_mul(size)) };
    // SAFETY: the caller's promise is passed on.
    allocated(unsafe { (next.calloc)(count, size) }, count.wrapping_mul(size))
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(old: *mut c_void, size: size_t) -> *mut c_void {
    let Some(next) = next() else { return arena::move_out(old, size) };
    // SAFETY: the caller's promise is passed on.
    reallocated(old, size, || unsafe { (next.realloc)(old, size) })
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(old: *mut c_void, count: size_t, size: size_t) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else {
        // SAFETY: every thread has an errno.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return std::ptr::null_mut();
    };
    // SAFETY: the caller's promise is passed on.
    unsafe { realloc(old, bytes) }
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(address: *mut c_void) {
    if address.is_null() || arena::owns(address) {
        return;
    }
    hooks::freed(address.cast());
    if let Some(next) = next() {
        // SAFETY: the caller's promise is passed on.
        unsafe { (next.free)(address) };
    }
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(out: *mut *mut c_void, alignment: size_t, size: size_t) -> c_int {
    let Some(next) = next() else { return libc::ENOMEM };
    // SAFETY: the caller's promise is passed on.
    let outcome = unsafe { (next.posix_memalign)(out, alignment, size) };
    if outcome == 0 {
        // SAFETY: a call that succeeds has set it.
        allocated(unsafe { *out }, size);
    }
    outcome
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: size_t, size: size_t) -> *mut c_void {
    let Some(next) = next() else { return std::ptr::null_mut() };
    // SAFETY: the caller's promise is passed on.
    allocated(unsafe { (next.aligned_alloc)(alignment, size) }, size)
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(alignment: size_t, size: size_t) -> *mut c_void {
    let Some(next) = next() else { return std::ptr::null_mut() };
    // SAFETY: the caller's promise is passed on.
    allocated(unsafe { (next.memalign)(alignment, size) }, size)
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn valloc(size: size_t) -> *mut c_void {
    let Some(next) = next() else { return std::ptr::null_mut() };
    // SAFETY: the caller's promise is passed on.
    allocated(unsafe { (next.valloc)(size) }, size)
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvalloc(size: size_t) -> *mut c_void {
    let Some(next) = next() else { return std::ptr::null_mut() };
    // SAFETY: the caller's promise is passed on.
    allocated(unsafe { (next.pvalloc)(size) }, size)
}

/// # Safety
/// Same as in the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    let Some(next) = next() else { return -1 };
    // SAFETY: the caller's promise is passed on.
    let outcome = unsafe { (next.dlclose)(handle) };
    hooks::unloaded();
    outcome
}

/// Records a marker; a program declares this function as weak and calls it if it exists.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_alloc_marker(name: *const c_char) {
    // SAFETY: the caller's promise.
    hooks::marker(unsafe { CStr::from_ptr(name) }.to_bytes());
}
