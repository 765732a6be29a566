//! The state of a thread, and how it puts records into its ring.

use std::{
    cell::{Cell, RefCell},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::{
    clock, fork,
    hub::{self, Hub, ThreadInfo},
    record::{FIXED, Kind, Payload, header},
    ring::Ring,
    site::{SiteId, is_recording},
    stats::COUNTERS,
};

/// What to do with a record if the ring is full.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Weight {
    /// Use the policy for logs.
    Log,
    /// Use the policy for spans, and leave space for the ends of open spans.
    Span,
    /// The end of a recorded span, which uses the reserved space.
    End,
}

/// Settings of the running recorder that threads read on the slow path.
pub(crate) struct Settings {
    pub(crate) ring_words: AtomicU64,
    /// The newest records overwrite the oldest ones.
    pub(crate) overwrites: AtomicBool,
    pub(crate) logs_block: AtomicBool,
    pub(crate) spans_block: AtomicBool,
    /// Ticks between two checks of the process id.
    pub(crate) check_ticks: AtomicU64,
    /// A longer frame requests a dump.
    pub(crate) slow_frame_ticks: AtomicU64,
}

pub(crate) static SETTINGS: Settings = Settings {
    ring_words: AtomicU64::new(1 << 17),
    overwrites: AtomicBool::new(false),
    logs_block: AtomicBool::new(true),
    spans_block: AtomicBool::new(false),
    check_ticks: AtomicU64::new(200_000),
    slow_frame_ticks: AtomicU64::new(u64::MAX),
};

thread_local! {
    /// The ring of this thread. It has no destructor and no initialization, so a record finds it with one load.
    static RING: Cell<Option<&'static Ring>> = const { Cell::new(None) };
    static LOCAL: Local = const { Local {
        checked: Cell::new(0),
        hub: Cell::new(None),
        has_ended: Cell::new(false),
    } };
    /// The thread's entry in the hub; returns the ring when the thread ends.
    static PLACE: RefCell<EndGuard> = const { RefCell::new(EndGuard(None)) };
    /// The name of the thread, which may be set before it has a ring.
    static NAME: RefCell<String> = const { RefCell::new(String::new()) };
}

/// State that only the slow path needs. It has no destructors either, so it can be used until the very end of a thread.
struct Local {
    /// When the process id was last compared with that of the hub.
    checked: Cell<u64>,
    hub: Cell<Option<&'static Hub>>,
    has_ended: Cell<bool>,
}

struct EndGuard(Option<Arc<ThreadInfo>>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        LOCAL.with(|local| local.has_ended.set(true));
        set_ring(None);
        if let Some(thread) = &self.0 {
            thread.end();
        }
    }
}

/// Puts a record with the current tick; returns the tick, or `None` if the record was dropped.
#[inline(always)]
pub fn put<P: Payload>(kind: Kind, site: SiteId, weight: Weight, payload: P) -> Option<u64> {
    let header = header(kind, FIXED + payload.words(), site.get());
    // Not `or_else`: the closure would borrow the header and so keep it in memory.
    match try_put(header, &payload) {
        None => put_now(header, weight, payload),
        put => put,
    }
}

/// Like `put`, with a complete header; returns whether it was recorded.
#[inline(always)]
pub(crate) fn put_headed<P: Payload>(header: u64, weight: Weight, payload: P) -> bool {
    try_put(header, &payload).is_some() || put_now(header, weight, payload).is_some()
}

/// Puts a record with the current tick unless that needs the slow path.
#[inline(always)]
pub(crate) fn try_put<P: Payload>(header: u64, payload: &P) -> Option<u64> {
    let words = FIXED + payload.words();
    let ring = RING.get()?;
    let tick = ring.tick();
    let head = ring.room(words, tick)?;
    ring.put(head, [header, tick], words, payload);
    Some(tick)
}

#[cold]
#[inline(never)]
fn put_now<P: Payload>(header: u64, weight: Weight, payload: P) -> Option<u64> {
    put_late(clock::tick(), header, weight, payload)
}

/// Like `try_put`, with a tick that was just read, for callers that have the ring of this thread.
#[inline(always)]
pub fn try_put_in<P: Payload>(ring: &Ring, tick: u64, kind: Kind, site: SiteId, payload: &P) -> bool {
    let words = FIXED + payload.words();
    let Some(head) = ring.room(words, tick) else { return false };
    ring.put(head, [header(kind, words, site.get()), tick], words, payload);
    true
}

/// The ring of this thread.
pub fn ring() -> Option<&'static Ring> {
    RING.get()
}

/// Called whenever the ring of a thread changes.
static RING_WATCH: OnceLock<fn(Option<&'static Ring>)> = OnceLock::new();

/// Sets the function to call whenever the ring of a thread changes; only the first call has an effect.
pub fn watch_rings(watch: fn(Option<&'static Ring>)) {
    let _ = RING_WATCH.set(watch);
}

fn set_ring(ring: Option<&'static Ring>) {
    RING.set(ring);
    if let Some(watch) = RING_WATCH.get() {
        watch(ring);
    }
}

/// The whole slow path as a tail call, so that the fast path saves no registers for it.
#[inline(always)]
pub fn put_slowly<P: Payload>(tick: u64, kind: Kind, site: SiteId, weight: Weight, payload: P) -> Option<u64> {
    put_late(tick, header(kind, FIXED + payload.words(), site.get()), weight, payload)
}

#[cold]
#[inline(never)]
fn put_late<P: Payload>(tick: u64, header: u64, weight: Weight, payload: P) -> Option<u64> {
    let words = FIXED + payload.words();
    let (ring, head) = make_room(words, tick, weight)?;
    // The thread may have waited for space, and the writer merges by time: a record with an old tick would come too
    // late.
    let tick = clock::tick();
    ring.put(head, [header, tick], words, &payload);
    Some(tick)
}

/// The ring of this thread, and the position in it for the record.
fn make_room(words: u64, tick: u64, weight: Weight) -> Option<(&'static Ring, u64)> {
    LOCAL.with(|local| local.make_room(words, tick, weight))
}

/// Creates the ring of this thread now instead of at its first record.
pub fn prepare_thread() {
    if is_recording() && RING.get().is_none() {
        make_room(FIXED, clock::tick(), Weight::End);
    }
}

/// Names this thread, for the running recorder and for later ones.
pub fn name_thread(name: &str) {
    let _ = NAME.try_with(|own| name.clone_into(&mut own.borrow_mut()));
    let _ = PLACE.try_with(|place| place.borrow().0.as_ref().map(|thread| thread.set_name(name)));
}

/// Marks the current process as a forked child, whose own records start now.
pub fn enter_child() {
    LOCAL.with(|local| local.checked.set(clock::tick()));
    if let Some(ring) = RING.get() {
        ring.set_check_at(0);
    }
}

/// The hub of this process; a forked child gets a new one first.
pub(crate) fn check_fork() -> &'static Hub {
    LOCAL.with(|local| local.check_process(clock::tick()));
    hub::current()
}

impl Local {
    fn make_room(&self, words: u64, tick: u64, weight: Weight) -> Option<(&'static Ring, u64)> {
        if self.has_ended.get() {
            COUNTERS.late.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if RING.get().is_none_or(|ring| tick >= ring.check_at()) {
            self.check_process(tick);
        }
        let ring = match RING.get() {
            Some(ring) => ring,
            None => self.take_ring(tick)?,
        };
        let len = ring.len();
        let reserve = len / 8;
        let mut patience = Patience::default();
        loop {
            let (head, tail) = (ring.next(), ring.tail());
            let padding = if head + words > ring.lap_end(head) { ring.lap_end(head) - head } else { 0 };
            let kept = if weight == Weight::Span { reserve } else { 0 };
            if head + padding + words + kept <= tail + len {
                let head = if padding > 0 { ring.pad(head) } else { head };
                if head + words - tail >= len / 2 {
                    self.hub().wake();
                }
                let next_look = head + words + len / 8;
                ring.set_limit((tail + len - reserve).min(ring.lap_end(head)).min(next_look));
                return Some((ring, head));
            }
            self.hub().wake();
            if !is_recording() {
                COUNTERS.late.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            if words <= len / 2 && SETTINGS.overwrites.load(Ordering::Relaxed) && patience.overwrite(ring) {
                continue;
            }
            if !may_block(weight) || words > len / 2 {
                ring.dropped.fetch_add(1, Ordering::Relaxed);
                return None;
            }
            patience.wait();
        }
    }

    fn hub(&self) -> &'static Hub {
        self.hub.get().unwrap_or_else(hub::current)
    }

    #[cold]
    fn take_ring(&self, tick: u64) -> Option<&'static Ring> {
        // If the thread's destructors have already run, nothing would return the ring.
        let place = PLACE.try_with(|place| place.try_borrow_mut().is_ok());
        if place != Ok(true) {
            COUNTERS.late.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let hub = hub::current();
        let words = SETTINGS.ring_words.load(Ordering::Relaxed) as usize;
        let lane = hub.acquire(words, thread_id(), thread_name());
        self.settle(hub, lane);
        self.check_later(tick);
        RING.get()
    }

    fn settle(&self, hub: &'static Hub, lane: hub::Lane) {
        self.hub.set(Some(hub));
        lane.ring.set_limit(0);
        set_ring(Some(lane.ring));
        PLACE.with(|place| place.borrow_mut().0 = Some(lane.thread));
    }

    /// Checks that the ring still belongs to this process.
    fn check_process(&self, tick: u64) {
        let hub = self.hub();
        if std::process::id() != hub.pid {
            // The record at that tick was made by the parent.
            let ring = RING.get().map(|ring| (ring, self.checked.get() + 1));
            if let Some((hub, lane)) = fork::adopt(hub, ring) {
                self.hub.set(Some(hub));
                match lane {
                    Some(lane) => self.settle(hub, lane),
                    None => set_ring(None),
                }
            }
        }
        self.check_later(tick);
    }

    fn check_later(&self, tick: u64) {
        self.checked.set(tick);
        if let Some(ring) = RING.get() {
            ring.set_check_at(tick.saturating_add(SETTINGS.check_ticks.load(Ordering::Relaxed)));
        }
    }
}

fn may_block(weight: Weight) -> bool {
    if SETTINGS.overwrites.load(Ordering::Relaxed) {
        return false;
    }
    match weight {
        Weight::Log => SETTINGS.logs_block.load(Ordering::Relaxed),
        Weight::Span => SETTINGS.spans_block.load(Ordering::Relaxed),
        Weight::End => true,
    }
}

/// How a thread waits for space: briefly at first, then longer, and never while it holds a lock.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    /// Drops the oldest records of a ring, for a flight recorder; false if the writer has been reading them for too
    /// long, which happens only if it gets no CPU time.
    fn overwrite(&mut self, ring: &Ring) -> bool {
        if let Some(forgotten) = ring.forget(ring.len() / 8) {
            ring.dropped.fetch_add(forgotten, Ordering::Relaxed);
            return true;
        }
        self.0 += 1;
        std::thread::yield_now();
        self.0 < 10
    }

    fn wait(&mut self) {
        if self.0 == 0 {
            COUNTERS.waits.fetch_add(1, Ordering::Relaxed);
        }
        self.0 += 1;
        match self.0 {
            0..10 => std::thread::yield_now(),
            _ => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}

/// The id that the operating system gave this thread.
pub(crate) fn thread_id() -> u64 {
    #[cfg(target_os = "linux")]
    return rustix::thread::gettid().as_raw_nonzero().get() as u64;
    #[cfg(not(target_os = "linux"))]
    {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        NEXT.fetch_add(1, Ordering::Relaxed)
    }
}

pub(crate) fn thread_name() -> String {
    let given = NAME.try_with(|name| name.borrow().clone()).unwrap_or_default();
    if !given.is_empty() {
        return given;
    }
    std::thread::current().name().map_or_else(|| format!("thread {}", thread_id()), str::to_owned)
}
