//! Requests from a signal handler to the writer, by atomics only, because the crashed thread may hold any lock.

use std::sync::atomic::{AtomicU8, Ordering};

static STATE: AtomicU8 = AtomicU8::new(IDLE);
const IDLE: u8 = 0;
const ASKED: u8 = 1;
const ANSWERED: u8 = 2;

/// Handler: asks the writer to write everything and close its files, because the process is ending. It notices within
/// 20 ms.
pub fn ask() {
    STATE.store(ASKED, Ordering::SeqCst);
}

/// Handler: whether the writer is done.
pub fn is_answered() -> bool {
    STATE.load(Ordering::SeqCst) == ANSWERED
}

/// Writer: whether a handler has asked.
pub(crate) fn is_asked() -> bool {
    STATE.load(Ordering::Relaxed) == ASKED
}

/// Writer: reports that everything is written.
pub(crate) fn answer() {
    STATE.store(ANSWERED, Ordering::SeqCst);
}
