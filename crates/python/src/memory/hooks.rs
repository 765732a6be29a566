//! Hooks around the allocators of CPython.

#![allow(unsafe_code)]

use std::{
    cell::{Cell, UnsafeCell},
    os::raw::{c_int, c_void},
};

use pyo3::prelude::*;

use super::{
    shadow,
    tape::{Tape, tape},
};

/// `PyMemAllocatorEx`: the same since 3.5. Every CPython exports its functions; the limited API does not declare them.
#[repr(C)]
#[derive(Clone, Copy)]
struct Allocator {
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

unsafe extern "C" {
    fn PyMem_GetAllocator(domain: c_int, allocator: *mut Allocator);
    fn PyMem_SetAllocator(domain: c_int, allocator: *mut Allocator);
    fn PyGILState_Check() -> c_int;
}

/// `PYMEM_DOMAIN_RAW`, `PYMEM_DOMAIN_MEM`, `PYMEM_DOMAIN_OBJ`.
const DOMAINS: usize = 3;
/// The domain whose callers need not be attached.
const RAW: usize = 0;

/// The allocators that were there before, by domain.
struct Originals(UnsafeCell<[Option<Allocator>; DOMAINS]>);

// SAFETY: written only while the interpreter is held and no hook is installed.
unsafe impl Sync for Originals {}

static ORIGINALS: Originals = Originals(UnsafeCell::new([None; DOMAINS]));

thread_local! {
    /// Whether a hook is running; calls from it, such as to the allocator of a lower domain, are not recorded again.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// Installs the hooks.
pub(super) fn install(_: Python<'_>) {
    for domain in 0..DOMAINS {
        // SAFETY: the caller is attached; the structures live until the hooks are gone.
        unsafe {
            let mut original = std::mem::MaybeUninit::<Allocator>::uninit();
            PyMem_GetAllocator(domain as c_int, original.as_mut_ptr());
            (*ORIGINALS.0.get())[domain] = Some(original.assume_init());
            let context = domain as *mut c_void;
            let mut hook = Allocator { context, malloc, calloc, realloc, free };
            PyMem_SetAllocator(domain as c_int, &mut hook);
        }
    }
}

/// Removes the hooks; memory that was allocated through them can be freed normally.
pub(super) fn remove(_: Python<'_>) {
    for domain in 0..DOMAINS {
        // SAFETY: as above. The originals stay known for a thread that is in a hook right now.
        unsafe {
            if let Some(mut original) = (*ORIGINALS.0.get())[domain] {
                PyMem_SetAllocator(domain as c_int, &mut original);
            }
        }
    }
}

/// The allocator below a hook.
unsafe fn original(context: *mut c_void) -> Allocator {
    // SAFETY: hooks are installed after their originals are known.
    unsafe { (*ORIGINALS.0.get())[context as usize].expect("a hook has an original") }
}

/// Runs a hook, unless one is already running on this thread.
fn outermost<T>(inner: impl FnOnce() -> T, outer: impl FnOnce() -> T) -> T {
    if IS_BUSY.try_with(|busy| busy.replace(true)).unwrap_or(true) {
        return inner();
    }
    let outcome = outer();
    IS_BUSY.set(false);
    outcome
}

/// Records an allocation.
fn took(tape: &mut Option<Tape>, context: *mut c_void, address: *mut c_void, size: usize) {
    let Some(tape) = tape.as_mut().filter(|_| !address.is_null()) else { return };
    // SAFETY: the function may be called from anywhere.
    let is_attached = context as usize != RAW || unsafe { PyGILState_Check() } != 0;
    let node = if is_attached { shadow::node(tape) } else { 0 };
    tape.took(address as usize, size, node, thread());
}

fn gave_back(tape: &mut Option<Tape>, address: *mut c_void) {
    if let Some(tape) = tape.as_mut().filter(|_| !address.is_null()) {
        tape.gave_back(address as usize);
    }
}

/// A small number for this thread.
fn thread() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    if THREAD.get() == 0 {
        THREAD.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    THREAD.get()
}

unsafe extern "C" fn malloc(context: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the arguments are passed on to the allocator that they are meant for.
    let call = || unsafe {
        let below = original(context);
        (below.malloc)(below.context, size)
    };
    outermost(call, || {
        let address = call();
        took(&mut tape(), context, address, size);
        address
    })
}

unsafe extern "C" fn calloc(context: *mut c_void, count: usize, size: usize) -> *mut c_void {
    // SAFETY: as in `malloc`.
    let call = || unsafe {
        let below = original(context);
        (below.calloc)(below.context, count, size)
    };
    outermost(call, || {
        let address = call();
        took(&mut tape(), context, address, count.saturating_mul(size));
        address
    })
}

unsafe extern "C" fn realloc(context: *mut c_void, old: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: as in `malloc`.
    let call = || unsafe {
        let below = original(context);
        (below.realloc)(below.context, old, size)
    };
    outermost(call, || {
        // No other thread may record that the old address was allocated again before the free is recorded here.
        let mut tape = tape();
        let address = call();
        // If there is no memory, the old block remains.
        if !address.is_null() {
            gave_back(&mut tape, old);
        }
        took(&mut tape, context, address, size);
        address
    })
}

unsafe extern "C" fn free(context: *mut c_void, address: *mut c_void) {
    // SAFETY: as in `malloc`.
    let call = || unsafe {
        let below = original(context);
        (below.free)(below.context, address);
    };
    outermost(call, || {
        // Before the free, because another thread may get the address at once.
        gave_back(&mut tape(), address);
        call();
    });
}
