//! The state of a thread, and the way of a record into its ring.

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

/// What becomes of a record that finds no room.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Weight {
    /// By the policy for logs.
    Log,
    /// By the policy for spans; leaves room for the ends of what is open.
    Span,
    /// Ends what was recorded: takes the room that was left for it.
    End,
}

/// Settings of the running recorder that threads look at off the fast path.
pub(crate) struct Settings {
    pub(crate) ring_words: AtomicU64,
    /// The newest records take the room of the oldest ones.
    pub(crate) overwrites: AtomicBool,
    pub(crate) logs_block: AtomicBool,
    pub(crate) spans_block: AtomicBool,
    /// Ticks between two looks at the process id.
    pub(crate) check_ticks: AtomicU64,
    /// A frame of more ticks than these asks for a dump.
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
    /// The ring of this thread. No destructor, and nothing to initialize: a record finds it with one load.
    static RING: Cell<Option<&'static Ring>> = const { Cell::new(None) };
    static LOCAL: Local = const { Local {
        checked: Cell::new(0),
        hub: Cell::new(None),
        has_ended: Cell::new(false),
    } };
    /// The thread's place in the hub; gives the ring back when the thread ends.
    static PLACE: RefCell<Place> = const { RefCell::new(Place(None)) };
    /// The name that the thread was given; it may come before the ring.
    static NAME: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What only the slow way needs. No destructors either, so that it can be used until the very end of a thread.
struct Local {
    /// When the process was seen to be the one of the hub.
    checked: Cell<u64>,
    hub: Cell<Option<&'static Hub>>,
    has_ended: Cell<bool>,
}

struct Place(Option<Arc<ThreadInfo>>);

impl Drop for Place {
    fn drop(&mut self) {
        LOCAL.with(|local| local.has_ended.set(true));
        set_ring(None);
        if let Some(thread) = &self.0 {
            thread.end();
        }
    }
}

/// Records something now; gives the tick, or nothing if it was dropped.
#[inline(always)]
pub fn put<P: Payload>(kind: Kind, site: SiteId, weight: Weight, payload: P) -> Option<u64> {
    let header = header(kind, FIXED + payload.words(), site.get());
    try_put(header, &payload).or_else(|| put_now(header, weight, payload))
}

/// The same with a header that is laid out already; whether it was recorded.
#[inline(always)]
pub(crate) fn put_headed<P: Payload>(header: u64, weight: Weight, payload: P) -> bool {
    try_put(header, &payload).is_some() || put_now(header, weight, payload).is_some()
}

/// Records something now unless it has to take the slow way.
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

/// The same at a tick that was read just now, for those who have the ring of this thread at hand.
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

/// Called whenever a thread gets another ring, or none any more.
static RING_WATCH: OnceLock<fn(Option<&'static Ring>)> = OnceLock::new();

/// Has a function called whenever a thread gets another ring, or none any more; the first one stays.
pub fn watch_rings(watch: fn(Option<&'static Ring>)) {
    let _ = RING_WATCH.set(watch);
}

fn set_ring(ring: Option<&'static Ring>) {
    RING.set(ring);
    if let Some(watch) = RING_WATCH.get() {
        watch(ring);
    }
}

/// The slow way to its end, so that the fast one keeps nothing for coming back.
#[inline(always)]
pub fn put_slowly<P: Payload>(tick: u64, kind: Kind, site: SiteId, weight: Weight, payload: P) -> Option<u64> {
    put_late(tick, header(kind, FIXED + payload.words(), site.get()), weight, payload)
}

#[cold]
#[inline(never)]
fn put_late<P: Payload>(tick: u64, header: u64, weight: Weight, payload: P) -> Option<u64> {
    let words = FIXED + payload.words();
    let (ring, head) = make_room(words, tick, weight)?;
    // It may have waited for room, and the writer merges by time: a record with an old tick would come too late.
    let tick = clock::tick();
    ring.put(head, [header, tick], words, &payload);
    Some(tick)
}

/// The ring of this thread, and where it has room for the record.
fn make_room(words: u64, tick: u64, weight: Weight) -> Option<(&'static Ring, u64)> {
    LOCAL.with(|local| local.make_room(words, tick, weight))
}

/// Gives this thread its ring now, so that its first record does not have to.
pub fn prepare_thread() {
    if is_recording() && RING.get().is_none() {
        make_room(FIXED, clock::tick(), Weight::End);
    }
}

/// Names this thread, for the recorder that runs and for those to come.
pub fn name_thread(name: &str) {
    let _ = NAME.try_with(|own| name.clone_into(&mut own.borrow_mut()));
    let _ = PLACE.try_with(|place| place.borrow().0.as_ref().map(|thread| thread.set_name(name)));
}

/// In a forked child: the next record is the first of its own.
pub fn enter_child() {
    LOCAL.with(|local| local.checked.set(clock::tick()));
    if let Some(ring) = RING.get() {
        ring.set_check_at(0);
    }
}

/// In a forked child: a hub of its own; gives the hub of this process.
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
                ring.go_to(head);
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
        // Where the thread's destructors have run, nothing would give the ring back.
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
        lane.ring.go_to(lane.ring.head());
        lane.ring.set_limit(0);
        set_ring(Some(lane.ring));
        PLACE.with(|place| place.borrow_mut().0 = Some(lane.thread));
    }

    /// Looks whether this is still the process that the ring belongs to.
    fn check_process(&self, tick: u64) {
        let hub = self.hub();
        if std::process::id() != hub.pid {
            // The record at that tick was still the parent's.
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

/// How a thread waits for room: short at first, then longer, and never with a lock in its hands.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    /// Forgets the oldest records of a ring, for a flight recorder; false if the writer has been reading them for too long, which
    /// only a writer without a processor does.
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
