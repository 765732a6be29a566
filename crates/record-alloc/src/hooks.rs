//! The hooks that an allocator calls: right after each allocation, and right before each free.
//!
//! In this order, an address is always freed in the file before it is allocated again.

use std::{
    mem,
    sync::atomic::{AtomicBool, Ordering},
};

use traceloom_core::Result;

use crate::{
    errno, finish,
    lock::{self, lock},
    options::Options,
    sampling,
    thread::{self, enter},
    tracer::{Allocated, State, Tracer},
};

/// Whether a recording is active.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

#[inline]
fn is_active() -> bool {
    IS_ACTIVE.load(Ordering::Relaxed)
}

/// Called after an allocation; the address is null if it failed.
#[inline]
pub fn allocated(address: *mut u8, size: usize) {
    if !is_active() || address.is_null() {
        return;
    }
    let _errno = errno::keep();
    enter(|thread| {
        let Some(size_bytes) = sampling::weigh(thread, size) else { return };
        let stack = thread.stack();
        let (address, thread) = (address as u64, thread.number());
        record(|tracer| tracer.alloc(&Allocated { address, size_bytes, thread, stack: &stack }));
    });
}

/// Called before a free.
#[inline]
pub fn freed(address: *mut u8) {
    if !is_active() || address.is_null() || !sampling::may_be_recorded(address as u64) {
        return;
    }
    let _errno = errno::keep();
    enter(|_| record(|tracer| tracer.free(address as u64)));
}

/// Resizes memory with `resize`, which returns the new address.
#[inline]
pub fn reallocated(old: *mut u8, size: usize, resize: impl FnOnce() -> *mut u8) -> *mut u8 {
    if !is_active() || old.is_null() {
        let new = resize();
        allocated(new, size);
        return new;
    }
    // Only one of the two runs.
    let mut resize = Some(resize);
    let mut resize = || resize.take().map_or(std::ptr::null_mut(), |resize| resize());
    let recorded = enter(|thread| {
        let size_bytes = sampling::weigh(thread, size);
        let stack = size_bytes.map(|_| thread.stack());
        // Only afterwards is it known whether the old memory was freed, and another thread may have got it by then, so
        // it has to wait.
        let mut guard = lock();
        let new = resize();
        let _errno = errno::keep();
        record_in(&mut guard, |tracer| {
            if !new.is_null() || size == 0 {
                tracer.free(old as u64)?;
            }
            let Some((size_bytes, stack)) = size_bytes.zip(stack.as_ref()).filter(|_| !new.is_null()) else {
                return Ok(());
            };
            tracer.alloc(&Allocated { address: new as u64, size_bytes, thread: thread.number(), stack })
        });
        new
    });
    recorded.unwrap_or_else(resize)
}

/// Starts a recording, and replaces an active one.
pub(crate) fn start(options: impl FnOnce() -> Result<Options>) -> Result<()> {
    // Memory of the options belongs to the recorder and is never recorded.
    let started = enter(|_| {
        let options = options()?;
        let options = Options { output: std::path::absolute(&options.output)?, ..options };
        let mut guard = lock();
        *guard = State::On(Box::new(Tracer::new(options, false)?));
        // Handlers are registered once per process.
        static ARE_REGISTERED: AtomicBool = AtomicBool::new(false);
        if !ARE_REGISTERED.swap(true, Ordering::Relaxed) {
            // SAFETY: the handlers live as long as the code does.
            unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child)) };
        }
        IS_ACTIVE.store(true, Ordering::Relaxed);
        Ok(())
    });
    started.unwrap_or(Ok(()))
}

/// Starts a recording according to the environment.
pub fn start_from_environment() {
    if report(start(Options::from_environment)).is_some() {
        // SAFETY: the handler lives as long as the code does.
        unsafe { libc::atexit(end) };
    }
}

/// Records a marker.
pub fn marker(name: &[u8]) {
    if is_active() {
        let _errno = errno::keep();
        enter(|_| record(|tracer| tracer.marker(&name[..name.len().min(MAX_MARKER_BYTES)])));
    }
}

const MAX_MARKER_BYTES: usize = 4096;

/// Ends the recording of a process that exits, unless another process finishes it; then allocations of exit handlers
/// and other threads are still recorded.
pub extern "C" fn end() {
    let is_wanted = enter(|_| matches!(&*lock(), State::On(tracer) if !tracer.options.is_finished_later));
    if is_wanted == Some(true) {
        report(stop());
    }
}

/// Called when a library may have been unloaded.
pub fn unloaded() {
    if is_active() {
        let _errno = errno::keep();
        enter(|_| {
            if let State::On(tracer) = &mut *lock() {
                tracer.forget_modules();
            }
        });
    }
}

/// Ends the recording and completes its file.
pub(crate) fn stop() -> Result<()> {
    let path = enter(|_| {
        IS_ACTIVE.store(false, Ordering::Relaxed);
        match mem::replace(&mut *lock(), State::Off) {
            State::On(tracer) => Some(tracer.path),
            State::Off | State::Forked(_) => None,
        }
    });
    path.flatten().map_or(Ok(()), |path| finish(&path))
}

fn record(work: impl FnOnce(&mut Tracer) -> Result<()>) {
    record_in(&mut lock(), work);
}

/// A recording that fails, for example on a full disk, ends; the program continues.
#[inline]
fn record_in(guard: &mut lock::Guard, work: impl FnOnce(&mut Tracer) -> Result<()>) {
    let outcome = match &mut **guard {
        State::On(tracer) => work(tracer),
        State::Off => Ok(()),
        State::Forked(options) => Tracer::new(options.clone(), true).and_then(|mut tracer| {
            let outcome = work(&mut tracer);
            **guard = State::On(Box::new(tracer));
            outcome
        }),
    };
    if outcome.is_err() {
        IS_ACTIVE.store(false, Ordering::Relaxed);
        **guard = State::Off;
        report(outcome);
    }
}

#[cold]
fn report<T>(outcome: Result<T>) -> Option<T> {
    outcome.inspect_err(|error| eprintln!("traceloom: cannot record allocations: {error}")).ok()
}

extern "C" fn before_fork() {
    // Other handlers may allocate while the lock is held.
    thread::ignore(true);
    lock::acquire();
}

extern "C" fn after_fork_in_parent() {
    lock::release();
    thread::ignore(false);
}

extern "C" fn after_fork_in_child() {
    lock::release();
    let mut guard = lock();
    if let State::On(tracer) = &*guard {
        // The files belong to the parent; none of their bytes is buffered in memory.
        *guard = State::Forked(tracer.options.clone());
    }
    drop(guard);
    thread::ignore(false);
}
