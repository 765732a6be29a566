//! The clock where every instruction counts: the processor's counter, read here if that is what the recorder's clock reads.

use std::sync::atomic::{AtomicBool, Ordering};

use traceloom_record::foreign::tick;

/// Whether ticks are the processor's counter; false until somebody has looked.
static IS_COUNTER: AtomicBool = AtomicBool::new(false);

/// The tick now, if one instruction reads it: a function that calls nothing has nothing to save.
#[inline(always)]
pub(crate) fn quick_tick() -> Option<u64> {
    if IS_COUNTER.load(Ordering::Relaxed) { counter() } else { None }
}

/// Finds out whether the recorder's clock is the counter: then a tick lies between two readings of it.
pub(crate) fn look_at_clock() {
    let is_between = || {
        let (before, tick, after) = (counter(), Some(tick()), counter());
        before.is_some() && before <= tick && tick <= after
    };
    // The processor may read in another order now and then.
    if !IS_COUNTER.load(Ordering::Relaxed) && (0..3).any(|_| is_between()) {
        IS_COUNTER.store(true, Ordering::Relaxed);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> Option<u64> {
    // SAFETY: every processor of this architecture has the instruction.
    Some(unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn counter() -> Option<u64> {
    None
}
