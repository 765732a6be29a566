//! Per-thread state. Nothing here has a destructor, so that allocations during thread exit are recorded as well.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    lock::lock,
    maps::{Module, stack_around},
    rules::{self, Rule},
    stack::Stack,
    tracer::State,
};

pub(crate) struct Thread {
    /// Whether the thread is inside the recorder, whose allocations are not recorded.
    is_inside: Cell<bool>,
    number: Cell<u32>,
    stack_start: Cell<u64>,
    stack_end: Cell<u64>,
    lookups: Cell<u32>,
    /// Bytes until the next sampled allocation.
    pub(crate) until_sample: Cell<i64>,
    pub(crate) random: Cell<u64>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            is_inside: Cell::new(false),
            number: Cell::new(0),
            stack_start: Cell::new(0),
            stack_end: Cell::new(0),
            lookups: Cell::new(0),
            until_sample: Cell::new(0),
            random: Cell::new(0),
        }
    };
}

/// Number of threads so far; the first has the number 1, because 0 means none yet.
static THREADS: AtomicU32 = AtomicU32::new(1);
/// Max number of stacks that are looked up per thread; if a program switches between more of them, records have no
/// stacks.
const MAX_LOOKUPS: u32 = 100;

/// Runs work of the recorder; `None` if the thread is already inside the recorder.
#[inline]
pub(crate) fn enter<T>(work: impl FnOnce(&Thread) -> T) -> Option<T> {
    THREAD.with(|thread| {
        if thread.is_inside.replace(true) {
            return None;
        }
        let result = work(thread);
        thread.is_inside.set(false);
        Some(result)
    })
}

/// Starts or stops ignoring allocations of this thread, for `fork`, which holds the lock.
pub(crate) fn ignore(is_ignored: bool) {
    THREAD.with(|thread| thread.is_inside.set(is_ignored));
}

impl Thread {
    /// The number of the thread in the file; threads beyond 16 bits share the last number.
    #[inline]
    pub(crate) fn number(&self) -> u16 {
        if self.number.get() == 0 {
            self.number.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        u16::try_from(self.number.get() - 1).unwrap_or(u16::MAX)
    }

    /// The calls that led here.
    #[inline]
    pub(crate) fn stack(&self) -> Stack {
        let here = 0u8;
        let sp = &raw const here as u64;
        let is_known = (self.stack_start.get()..self.stack_end.get()).contains(&sp);
        if !is_known && self.lookups.get() < MAX_LOOKUPS {
            self.look_up(sp);
        }
        Stack::walk(&(self.stack_start.get()..self.stack_end.get()), find_rule)
    }

    #[cold]
    fn look_up(&self, sp: u64) {
        self.lookups.set(self.lookups.get() + 1);
        let stack = stack_around(sp).unwrap_or(0..0);
        self.stack_start.set(stack.start);
        self.stack_end.set(stack.end);
    }
}

#[cold]
fn find_rule(pc: u64) -> Rule {
    let mut guard = lock();
    let rule = match &mut *guard {
        State::On(tracer) => Rule::find(pc, tracer.module(pc)),
        State::Off | State::Forked(_) => Rule::find(pc, Module::around(pc).as_ref()),
    };
    rules::keep(pc, rule);
    rule
}
