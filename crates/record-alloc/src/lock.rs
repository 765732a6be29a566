//! The recording of this process, protected by a lock that is safe across `fork`.

use std::{
    cell::UnsafeCell,
    ops::{Deref, DerefMut},
};

use crate::tracer::State;

struct Shared {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    state: UnsafeCell<State>,
}

// SAFETY: the state is reached only by who holds the mutex.
unsafe impl Sync for Shared {}

static SHARED: Shared =
    Shared { mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER), state: UnsafeCell::new(State::Off) };

/// Access to the recording.
pub(crate) struct Guard(());

/// Locks the recording. The caller must be inside [`crate::thread::enter`], or an allocation would deadlock.
#[inline]
pub(crate) fn lock() -> Guard {
    acquire();
    Guard(())
}

/// Acquires the lock, for `fork`, which must hold it while the process is copied.
#[inline]
pub(crate) fn acquire() {
    // SAFETY: the mutex is initialized and lives as long as the process.
    unsafe { libc::pthread_mutex_lock(SHARED.mutex.get()) };
}

/// Releases the lock.
#[inline]
pub(crate) fn release() {
    // SAFETY: the calling thread took the mutex before.
    unsafe { libc::pthread_mutex_unlock(SHARED.mutex.get()) };
}

impl Deref for Guard {
    type Target = State;

    #[inline]
    fn deref(&self) -> &State {
        // SAFETY: the guard holds the mutex.
        unsafe { &*SHARED.state.get() }
    }
}

impl DerefMut for Guard {
    #[inline]
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: the guard holds the mutex.
        unsafe { &mut *SHARED.state.get() }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        release();
    }
}
