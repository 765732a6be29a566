//! A small arena for the loader while it looks up the next allocator.

use std::{
    cell::UnsafeCell,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

use libc::c_void;

const BYTES: usize = 16 << 10;
/// Each block is preceded by its size, padded to keep the alignment.
const ALIGNMENT: usize = 16;

#[repr(align(16))]
struct Arena(UnsafeCell<[u8; BYTES]>);

// SAFETY: each piece is given to one caller only.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena(UnsafeCell::new([0; BYTES]));
static USED: AtomicUsize = AtomicUsize::new(0);

/// Zeroed memory, or null if the arena is used up.
pub(crate) fn allocate(size: usize) -> *mut c_void {
    let Some(bytes) = size.checked_next_multiple_of(ALIGNMENT).and_then(|size| size.checked_add(ALIGNMENT)) else {
        return ptr::null_mut();
    };
    let start = USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
        used.checked_add(bytes).filter(|used| *used <= BYTES)
    });
    let Ok(start) = start else { return ptr::null_mut() };
    // SAFETY: the block is inside the arena, aligned, and not used by anything else.
    unsafe {
        let piece = ARENA.0.get().cast::<u8>().add(start);
        piece.cast::<usize>().write(size);
        piece.add(ALIGNMENT).cast()
    }
}

/// Whether the address was returned by [`allocate`].
#[inline]
pub(crate) fn owns(address: *mut c_void) -> bool {
    (address as usize).wrapping_sub(ARENA.0.get() as usize) < BYTES
}

/// Copies a block to memory of the normal allocator.
pub(crate) fn move_out(old: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    let new = unsafe { crate::malloc(size) };
    if owns(old) && !new.is_null() {
        // SAFETY: the size precedes the block, and both have that many bytes.
        unsafe {
            let old_size = old.cast::<u8>().sub(ALIGNMENT).cast::<usize>().read();
            ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast(), old_size.min(size));
        }
    }
    new
}
