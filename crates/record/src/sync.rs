//! The primitives of the ring and the hub, which a model checker can replace.

#[cfg(traceloom_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(traceloom_shuttle)]
pub(crate) use shuttle::sync::{
    Condvar, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, Ordering},
};
#[cfg(not(any(traceloom_loom, traceloom_shuttle)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(not(traceloom_shuttle))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// The words of statics; loom's cannot be created at compile time.
#[cfg(traceloom_shuttle)]
pub(crate) use shuttle::sync::atomic::AtomicU64 as StaticU64;
#[cfg(not(traceloom_shuttle))]
pub(crate) use std::sync::atomic::AtomicU64 as StaticU64;

use std::{ops::Deref, sync::PoisonError};

/// Shares its cache line with nothing else; two lines, because processors fetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> Deref for Padded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Locks, also after a panic of a holder: every value behind a lock is valid between statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
