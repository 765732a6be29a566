//! The state that the threads of a process share: the registry of sites, the rings, and the requests to the writer.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    Config,
    config::Slot,
    ring::Ring,
    site::{About, Registry, SiteId},
    sync::{Condvar, Mutex, MutexGuard, lock},
};

/// One per process; a forked child gets a new one, because the locks of its parent may stay locked forever.
struct Node {
    hub: OnceLock<Hub>,
    next: OnceLock<Box<Node>>,
}

static FIRST: Node = Node { hub: OnceLock::new(), next: OnceLock::new() };

/// The hub of this process.
pub(crate) fn current() -> &'static Hub {
    let mut node = &FIRST;
    while let Some(next) = node.next.get() {
        node = next;
    }
    node.hub.get_or_init(Hub::default)
}

/// Gives a forked child a new hub.
pub(crate) fn replace(hub: Hub) -> &'static Hub {
    let mut node = &FIRST;
    while let Some(next) = node.next.get() {
        node = next;
    }
    node.next.get_or_init(|| Box::new(Node { hub: OnceLock::from(hub), next: OnceLock::new() }));
    current()
}

/// A thread that records.
#[derive(Debug)]
pub(crate) struct ThreadInfo {
    /// The number of the thread in its hub.
    pub(crate) index: u32,
    /// The thread id of the operating system.
    pub(crate) tid: u64,
    name: Mutex<String>,
    /// The thread has ended; when its ring is empty, another thread may have it.
    pub(crate) has_ended: AtomicBool,
    /// Older records are from the parent of this process.
    pub(crate) from_tick: u64,
}

/// A ring and the thread that fills it.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) ring: &'static Ring,
    pub(crate) thread: Arc<ThreadInfo>,
}

#[derive(Debug, Default)]
struct Lanes {
    list: Vec<Lane>,
    free: Vec<&'static Ring>,
    threads: u32,
    version: u64,
}

/// A request to the writer; everything recorded before it is written first.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// Write everything to the kernel.
    Flush,
    /// Write everything to the disk.
    Sync,
    /// Write the contents of the flight recorder.
    Dump,
    /// Start new files.
    Rotate,
    /// Add this output, or replace the one of the same kind.
    Open(Slot, Arc<Config>),
    /// Close one output.
    Close(Slot),
    /// Pause or resume the recording of spans in the profile.
    Pause(bool),
    /// Write the profile to this path and start a new one; stores the number of its records.
    Save(PathBuf, Arc<AtomicU64>),
    /// Close all files.
    Stop,
}

#[derive(Debug, Default)]
struct Asks {
    queue: VecDeque<Ask>,
    asked: u64,
    done: u64,
    /// Why the last request failed.
    failure: Option<String>,
    has_writer: bool,
}

#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) pid: u32,
    pub(crate) registry: Mutex<Registry>,
    pub(crate) config: Mutex<Option<Arc<Config>>>,
    lanes: Mutex<Lanes>,
    asks: Mutex<Asks>,
    /// Wakes the writer.
    asked: Condvar,
    /// Wakes threads that wait for a request to be done.
    done: Condvar,
    /// The id of the writer thread; 0 if there is none.
    pub(crate) writer_tid: AtomicU64,
}

impl Default for Hub {
    fn default() -> Self {
        Self::new(Registry::default(), None)
    }
}

impl Hub {
    pub(crate) fn new(registry: Registry, config: Option<Arc<Config>>) -> Self {
        Self {
            pid: std::process::id(),
            registry: Mutex::new(registry),
            config: Mutex::new(config),
            lanes: Mutex::default(),
            asks: Mutex::default(),
            asked: Condvar::new(),
            done: Condvar::new(),
            writer_tid: AtomicU64::new(0),
        }
    }

    pub(crate) fn register(&self, about: &About<'_>, types: &[u8], address: usize) -> Option<SiteId> {
        lock(&self.registry).register(about, types, address)
    }

    /// A ring for a thread: one of a thread that has ended, or a new one.
    pub(crate) fn acquire(&self, words: usize, tid: u64, name: String) -> Lane {
        let mut lanes = lock(&self.lanes);
        let wanted = words.next_power_of_two() as u64;
        let found = lanes.free.iter().position(|ring| ring.len() == wanted);
        let ring = match found {
            Some(at) => lanes.free.swap_remove(at),
            None => Box::leak(Box::new(Ring::new(words))),
        };
        ring.dropped.store(0, crate::sync::Ordering::Relaxed);
        self.add(&mut lanes, ring, ThreadInfo { tid, name: Mutex::new(name), ..ThreadInfo::unnamed() })
    }

    /// Adds the ring of a forked thread.
    pub(crate) fn adopt(&self, ring: &'static Ring, tid: u64, name: String, from_tick: u64) -> Lane {
        let name = Mutex::new(name);
        ring.end_turn();
        self.add(&mut lock(&self.lanes), ring, ThreadInfo { tid, name, from_tick, ..ThreadInfo::unnamed() })
    }

    fn add(&self, lanes: &mut Lanes, ring: &'static Ring, thread: ThreadInfo) -> Lane {
        let lane = Lane { ring, thread: Arc::new(ThreadInfo { index: lanes.threads, ..thread }) };
        lanes.threads += 1;
        lanes.version += 1;
        lanes.list.push(lane.clone());
        lane
    }

    /// Creates rings in advance, so that threads do not have to.
    pub(crate) fn preallocate(&self, rings: usize, words: usize) {
        let made: Vec<&'static Ring> = (0..rings).map(|_| &*Box::leak(Box::new(Ring::new(words)))).collect();
        lock(&self.lanes).free.extend(made);
    }

    /// All lanes, if they have changed since `version`.
    pub(crate) fn lanes_since(&self, version: u64) -> Option<(u64, Vec<Lane>)> {
        let lanes = lock(&self.lanes);
        (lanes.version != version).then(|| (lanes.version, lanes.list.clone()))
    }

    /// Returns the empty ring of an ended thread to the pool.
    pub(crate) fn recycle(&self, lane: &Lane) {
        let mut lanes = lock(&self.lanes);
        lanes.list.retain(|other| !Arc::ptr_eq(&other.thread, &lane.thread));
        lanes.free.push(lane.ring);
        lanes.version += 1;
    }

    /// Rings in use and in the pool.
    pub(crate) fn rings(&self) -> (usize, usize) {
        let lanes = lock(&self.lanes);
        (lanes.list.len(), lanes.free.len())
    }

    /// Wakes the writer; if it misses the signal, it wakes by itself soon.
    pub(crate) fn wake(&self) {
        self.asked.notify_one();
    }

    /// Sends a request to the writer and waits until it is done; false if there is no writer, or on timeout.
    pub(crate) fn ask(&self, ask: Ask, deadline: Option<Instant>) -> Result<bool, String> {
        let mut asks = lock(&self.asks);
        if !asks.has_writer {
            return Ok(false);
        }
        asks.asked += 1;
        let number = asks.asked;
        asks.queue.push_back(ask);
        self.asked.notify_one();
        while asks.done < number && asks.has_writer {
            let left = deadline.map_or(Duration::from_secs(1), |at| at.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(false);
            }
            asks = wait(&self.done, &self.asks, asks, left);
        }
        match (asks.done >= number, asks.failure.clone()) {
            (true, Some(failure)) => Err(failure),
            (is_done, _) => Ok(is_done),
        }
    }

    /// Sends a request without waiting.
    pub(crate) fn ask_later(&self, ask: Ask) {
        let mut asks = lock(&self.asks);
        if asks.has_writer {
            asks.asked += 1;
            asks.queue.push_back(ask);
            self.asked.notify_one();
        }
    }

    /// Writer: accepts requests from now on.
    pub(crate) fn begin_writer(&self) {
        let mut asks = lock(&self.asks);
        (asks.has_writer, asks.failure) = (true, None);
    }

    /// Writer: the next request, if one comes within `patience`.
    pub(crate) fn next_ask(&self, patience: Duration) -> Option<Ask> {
        let mut asks = lock(&self.asks);
        if asks.queue.is_empty() && !patience.is_zero() {
            asks = wait(&self.asked, &self.asks, asks, patience);
        }
        asks.queue.pop_front()
    }

    /// Writer: the oldest request is done.
    pub(crate) fn answer(&self, failure: Option<String>) {
        let mut asks = lock(&self.asks);
        asks.done += 1;
        asks.failure = failure;
        self.done.notify_all();
    }

    /// Writer: the last request is done, and no more are accepted; both under one lock, because the next writer may
    /// start at once.
    pub(crate) fn end_writer(&self, failure: Option<String>) {
        let mut asks = lock(&self.asks);
        asks.done = asks.asked;
        asks.failure = failure;
        asks.queue.clear();
        asks.has_writer = false;
        self.done.notify_all();
    }
}

/// Waits for a signal, but not for long.
#[cfg(not(traceloom_shuttle))]
fn wait<'a, T>(condvar: &Condvar, _: &'a Mutex<T>, guard: MutexGuard<'a, T>, patience: Duration) -> MutexGuard<'a, T> {
    condvar.wait_timeout(guard, patience).unwrap_or_else(std::sync::PoisonError::into_inner).0
}

/// The model has no time: the lock is released for a moment.
#[cfg(traceloom_shuttle)]
fn wait<'a, T>(_: &Condvar, mutex: &'a Mutex<T>, guard: MutexGuard<'a, T>, _: Duration) -> MutexGuard<'a, T> {
    drop(guard);
    shuttle::thread::yield_now();
    lock(mutex)
}

impl ThreadInfo {
    fn unnamed() -> Self {
        Self { index: 0, tid: 0, name: Mutex::default(), has_ended: AtomicBool::new(false), from_tick: 0 }
    }

    pub(crate) fn name(&self) -> String {
        lock(&self.name).clone()
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        lock(&self.name).eq_ignore_ascii_case(name)
    }

    pub(crate) fn set_name(&self, name: &str) {
        name.clone_into(&mut lock(&self.name));
    }

    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

/// Random schedules of the slow paths: `RUSTFLAGS="--cfg traceloom_shuttle"`.
#[cfg(all(test, traceloom_shuttle))]
mod model {
    use shuttle::thread;

    use super::*;
    use crate::{
        clock::{Timeline, tick},
        record::{FIXED, Kind, Words, header},
        sinks::{Rec, Sink},
        site::{Level, SiteInfo},
        writer::Writer,
    };

    /// The records that arrived: number of the thread, number of the record.
    #[derive(Clone, Default)]
    struct Seen(Arc<std::sync::Mutex<Vec<(u64, u64)>>>);

    impl Seen {
        fn of(&self, thread: u64) -> Vec<u64> {
            self.0.lock().unwrap().iter().filter(|(from, _)| *from == thread).map(|(_, number)| *number).collect()
        }
    }

    impl Sink for Seen {
        fn put(&mut self, rec: &Rec<'_>) {
            let Words([thread, number]) = rec.words else { panic!("half a record") };
            self.0.lock().unwrap().push((*thread, *number));
        }
        fn dropped(&mut self, _: &ThreadInfo, _: u64, _: u64) {
            panic!("nothing is dropped");
        }
        fn close(self: Box<Self>, _: &Timeline) -> traceloom_core::Result<()> {
            Ok(())
        }
    }

    /// Registers, records, flushes, and ends.
    fn work(hub: &'static Hub, seen: &Seen, thread: u64) {
        let lane = hub.acquire(32, thread, String::new());
        let mut head = lane.ring.head();
        for number in 0..3 {
            while head + 8 > lane.ring.tail() + lane.ring.len() {
                thread::yield_now();
            }
            if lane.ring.lap_end(head) < head + FIXED + 2 {
                head = lane.ring.pad(head);
            }
            let words = [header(Kind::Event, FIXED + 2, 1), tick(), thread, number];
            for (slot, word) in lane.ring.slots(head, 4).unwrap().iter().zip(words) {
                slot.store(word, crate::sync::Ordering::Relaxed);
            }
            head += 4;
            lane.ring.publish(head);
        }
        assert_eq!(hub.ask(Ask::Flush, None), Ok(true));
        assert_eq!(seen.of(thread), [0, 1, 2], "a flush covers what came before it");
        lane.thread.end();
    }

    #[test]
    fn rings_come_and_go_while_others_flush_and_rotate() {
        shuttle::check_random(
            || {
                let hub: &'static Hub = Box::leak(Box::new(Hub::default()));
                lock(&hub.registry).add(SiteInfo::own("site", Level::INFO, &[]));
                let seen = Seen::default();
                let mut writer = Writer::new(hub, Config::default(), Timeline::start()).unwrap();
                writer.add_sink(Box::new(seen.clone()));
                hub.begin_writer();
                let writer = thread::spawn(move || writer.run());
                let threads: Vec<_> = (1..=3)
                    .map(|number| {
                        let seen = seen.clone();
                        thread::spawn(move || work(hub, &seen, number))
                    })
                    .collect();
                assert_eq!(hub.ask(Ask::Rotate, None), Ok(true));
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                assert_eq!(hub.ask(Ask::Stop, None), Ok(true));
                writer.join().unwrap();
                assert_eq!(seen.0.lock().unwrap().len(), 9);
                assert_eq!(hub.ask(Ask::Flush, None), Ok(false), "nobody is there to answer");
            },
            200,
        );
    }
}
