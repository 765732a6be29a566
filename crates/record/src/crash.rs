//! What a signal handler may ask of the writer: nothing but atomics, for the thread that crashed may hold any lock.

use std::sync::atomic::{AtomicU8, Ordering};

static STATE: AtomicU8 = AtomicU8::new(IDLE);
const IDLE: u8 = 0;
const ASKED: u8 = 1;
const ANSWERED: u8 = 2;

/// Handler: the writer shall write everything and close its files, for the process ends. It notices within 20 ms.
pub fn ask() {
    STATE.store(ASKED, Ordering::SeqCst);
}

/// Handler: whether it has done so.
pub fn is_answered() -> bool {
    STATE.load(Ordering::SeqCst) == ANSWERED
}

/// Writer: whether to.
pub(crate) fn is_asked() -> bool {
    STATE.load(Ordering::Relaxed) == ASKED
}

/// Writer: done.
pub(crate) fn answer() {
    STATE.store(ANSWERED, Ordering::SeqCst);
}
