//! An allocator for Rust programs that records the calls to another one.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::hooks;

/// Records the allocations of another allocator while a recording is active; otherwise a call costs one extra load.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingAllocator<A = System>(A);

impl TracingAllocator {
    /// Records the allocations of the system's allocator.
    pub const fn system() -> Self {
        Self(System)
    }
}

impl<A> TracingAllocator<A> {
    /// Records the allocations of any allocator.
    pub const fn new(allocator: A) -> Self {
        Self(allocator)
    }
}

// SAFETY: every call goes to the other allocator unchanged; recording allocates only with itself turned off.
unsafe impl<A: GlobalAlloc> GlobalAlloc for TracingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let address = unsafe { self.0.alloc(layout) };
        hooks::allocated(address, layout.size());
        address
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        let address = unsafe { self.0.alloc_zeroed(layout) };
        hooks::allocated(address, layout.size());
        address
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        hooks::freed(address);
        // SAFETY: the caller's promise is passed on.
        unsafe { self.0.dealloc(address, layout) };
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        hooks::reallocated(address, size, || unsafe { self.0.realloc(address, layout, size) })
    }
}
