//! A fast clock: reads the processor counter directly if the recorder's clock uses it.

use std::sync::atomic::{AtomicBool, Ordering};

use traceloom_record::foreign::tick;

/// Whether ticks are the processor counter; false until checked.
static IS_COUNTER: AtomicBool = AtomicBool::new(false);

/// The current tick, if one instruction can read it; a function without calls need not save registers.
#[inline(always)]
pub(crate) fn quick_tick() -> Option<u64> {
    if IS_COUNTER.load(Ordering::Relaxed) { counter() } else { None }
}

/// Checks whether the recorder's clock is the counter: then a tick is between two readings of the counter.
pub(crate) fn look_at_clock() {
    let is_between = || {
        let (before, tick, after) = (counter(), Some(tick()), counter());
        before.is_some() && before <= tick && tick <= after
    };
    // The processor may occasionally reorder the readings.
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
