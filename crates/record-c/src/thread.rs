//! The ring and the open spans of a thread, in two words that can be read without a call.
//!
//! In a shared library, Rust thread-locals need a call to the loader, and code with calls must save registers. The two
//! words are in the static TLS block of libraries that are loaded with the program, whose address takes one load.

use traceloom_record::foreign::{Kind, Payload, Ring, SiteId, ring, watch_rings};

use crate::span::{STACK, Stack};

/// Records something at a tick that was just read, unless the slow path is needed.
#[inline(always)]
pub(crate) fn try_put_at<P: Payload>(tick: u64, kind: Kind, site: SiteId, payload: &P) -> bool {
    words::ring().is_some_and(|ring| traceloom_record::foreign::try_put_in(ring, tick, kind, site, payload))
}

/// On the slow path: caches the ring of this thread.
pub(crate) fn take_ring() {
    watch_rings(words::set_ring);
    words::set_ring(ring());
}

/// The open spans of this thread, if cached.
#[inline(always)]
pub(crate) fn quick_stack() -> Option<&'static Stack> {
    words::stack()
}

/// The open spans of this thread, which are cached from now on.
pub(crate) fn stack() -> &'static Stack {
    // SAFETY: it has no destructor, and only the thread that it belongs to can ask for it.
    let stack = STACK.with(|stack| unsafe { &*std::ptr::from_ref(stack) });
    words::set_stack(stack);
    stack
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod words {
    use std::arch::{asm, global_asm};

    use super::{Ring, Stack};

    global_asm!(
        ".pushsection .tbss.traceloom_thread_words, \"awT\", @nobits",
        ".p2align 3",
        ".globl traceloom_thread_words",
        ".hidden traceloom_thread_words",
        ".type traceloom_thread_words, @object",
        ".size traceloom_thread_words, 16",
        "traceloom_thread_words:",
        ".zero 16",
        ".popsection",
    );

    /// A word of this thread: 0 for the ring, 8 for the open spans.
    #[inline(always)]
    fn load<const AT: usize>() -> *const u8 {
        let word;
        // SAFETY: each thread has both words, zero at first.
        unsafe {
            asm!("mov {word}, qword ptr [rip + traceloom_thread_words@GOTTPOFF]", "mov {word}, qword ptr fs:[{word} + {at}]",
                word = lateout(reg) word, at = const AT, options(nostack, preserves_flags, readonly));
        }
        word
    }

    #[inline(always)]
    fn store<const AT: usize>(word: *const u8) {
        // SAFETY: each thread has both words, and nobody else knows of them.
        unsafe {
            asm!("mov {place}, qword ptr [rip + traceloom_thread_words@GOTTPOFF]", "mov qword ptr fs:[{place} + {at}], {word}",
                place = out(reg) _, word = in(reg) word, at = const AT, options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    pub(super) fn ring() -> Option<&'static Ring> {
        // SAFETY: what was stored is a ring that lives as long as the program.
        unsafe { load::<0>().cast::<Ring>().as_ref() }
    }

    pub(super) fn set_ring(ring: Option<&'static Ring>) {
        store::<0>(ring.map_or(std::ptr::null(), std::ptr::from_ref).cast());
    }

    #[inline(always)]
    pub(super) fn stack() -> Option<&'static Stack> {
        // SAFETY: what was stored is this thread's own, which lives as long as it does.
        unsafe { load::<8>().cast::<Stack>().as_ref() }
    }

    pub(super) fn set_stack(stack: &'static Stack) {
        store::<8>(std::ptr::from_ref(stack).cast());
    }
}

/// On other targets, uses ordinary thread-locals.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
mod words {
    use super::{Ring, Stack};

    pub(super) use traceloom_record::foreign::ring;

    pub(super) fn set_ring(_: Option<&'static Ring>) {}

    pub(super) fn stack() -> Option<&'static Stack> {
        None
    }

    pub(super) fn set_stack(_: &'static Stack) {}
}
