//! The writer thread: merges the rings by time and passes every record to every sink.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use traceloom_core::Result;

use crate::{
    clock::{self, Reading, Timeline},
    config::{Config, Slot},
    crash,
    flight::{History, Past},
    hub::{Ask, Hub, Lane},
    local,
    record::{FIXED, Kind, Words, split_header},
    ring::Turn,
    sinks::{self, Rec, Sink},
    site::{SiteInfo, end_generation, index_of},
    stats::COUNTERS,
    sync::lock,
};

/// How long a record waits for older ones of other threads, so that records are written in order of time.
const MERGE_WINDOW: Duration = Duration::from_micros(200);
/// How long the writer polls for records before it sleeps.
const SPIN: Duration = Duration::from_micros(50);
const SHORTEST_SLEEP: Duration = Duration::from_micros(200);
const LONGEST_SLEEP: Duration = Duration::from_millis(20);
/// How often the clocks are compared.
const READING_EVERY: Duration = Duration::from_secs(1);

/// A ring, on the writer's side.
struct Inlet {
    lane: Lane,
    /// The start of the next record, and the end of the last known one.
    at: u64,
    head: u64,
    /// The tick of the next record.
    next: Option<u64>,
    /// Drops that were reported to the sinks.
    dropped: u64,
    /// Records before the next one were overwritten.
    has_gap: bool,
}

pub(crate) struct Writer {
    hub: &'static Hub,
    config: Config,
    timeline: Timeline,
    window_ticks: u64,
    sinks: Vec<(Slot, Box<dyn Sink>)>,
    history: Option<History>,
    dumps: u32,
    inlets: Vec<Inlet>,
    /// Inlets know all records up to this tick; the rings may hold later ones.
    known_until: u64,
    version: u64,
    sites: Vec<Arc<SiteInfo>>,
    words: Vec<u64>,
    read_at: Instant,
}

impl Writer {
    /// Opens the files; records that are already in the rings are skipped.
    pub(crate) fn new(hub: &'static Hub, config: Config, timeline: Timeline) -> Result<Self> {
        let history = config.flight.map(|flight| History::new(flight, &timeline));
        let sinks = if history.is_none() { sinks::open(&config, &timeline)? } else { Vec::new() };
        let window_ticks = (MERGE_WINDOW.as_secs_f64() * timeline.frequency() as f64) as u64;
        let mut writer = Self {
            hub,
            config,
            timeline,
            window_ticks,
            sinks,
            history,
            dumps: 0,
            inlets: Vec::new(),
            known_until: 0,
            version: 0,
            sites: Vec::new(),
            words: Vec::new(),
            read_at: Instant::now(),
        };
        writer.look_for_lanes();
        for inlet in &mut writer.inlets {
            let _turn = inlet.take_turn();
            // A forked child continues with the ring of its parent; ticks distinguish their records.
            if inlet.lane.thread.from_tick == 0 {
                inlet.at = inlet.lane.ring.head();
                inlet.lane.ring.release(inlet.at);
                inlet.dropped = inlet.lane.ring.dropped.load(Ordering::Relaxed);
            }
        }
        Ok(writer)
    }

    #[cfg(all(test, traceloom_shuttle))]
    pub(crate) fn add_sink(&mut self, sink: Box<dyn Sink>) {
        self.sinks.push((Slot::Wtf, sink));
    }

    /// Runs until it is asked to stop.
    pub(crate) fn run(mut self) {
        self.hub.writer_tid.store(local::thread_id(), Ordering::Relaxed);
        let mut sleep = SHORTEST_SLEEP;
        let mut busy_until = Instant::now() + SPIN;
        let mut patience = Duration::ZERO;
        loop {
            if let Some(ask) = self.hub.next_ask(patience) {
                self.drain();
                if matches!(ask, Ask::Stop) {
                    let outcome = self.close();
                    self.hub.end_writer(outcome.err().map(|error| error.to_string()));
                    return;
                }
                let outcome = self.answer(ask);
                self.hub.answer(outcome.err().map(|error| error.to_string()));
            }
            if crash::is_asked() {
                end_generation();
                self.drain();
                // Nobody is left to receive an error.
                let _ = if self.history.is_some() { self.dump() } else { self.close() };
                self.hub.end_writer(None);
                return crash::answer();
            }
            let moved = self.pass(clock::tick().saturating_sub(self.window_ticks));
            self.look_at_clocks();
            if moved > 0 {
                (busy_until, sleep, patience) = (Instant::now() + SPIN, SHORTEST_SLEEP, Duration::ZERO);
            } else if Instant::now() < busy_until {
                std::hint::spin_loop();
            } else {
                self.flush_quietly();
                patience = sleep;
                sleep = (sleep * 2).min(LONGEST_SLEEP);
            }
        }
    }

    fn answer(&mut self, ask: Ask) -> Result<()> {
        match ask {
            Ask::Flush | Ask::Stop => self.each(|sink| sink.flush()),
            Ask::Sync => self.each(|sink| sink.sync()),
            Ask::Rotate => {
                let timeline = self.timeline;
                self.each(|sink| sink.rotate(&timeline))
            }
            Ask::Dump => self.dump(),
            Ask::Open(slot, config) => self.open(slot, &config),
            Ask::Close(slot) => self.close_one(slot),
            Ask::Pause(is_paused) => self.each(|sink| {
                sink.pause(is_paused);
                Ok(())
            }),
            Ask::Save(path, saved) => {
                self.take_reading();
                let timeline = self.timeline;
                self.each(|sink| {
                    saved.fetch_add(sink.save(&path, &timeline)?, Ordering::Relaxed);
                    Ok(())
                })
            }
        }
    }

    /// Calls `work` for every sink, even after an error; returns the first error.
    fn each(&mut self, mut work: impl FnMut(&mut dyn Sink) -> Result<()>) -> Result<()> {
        let outcomes: Vec<Result<()>> = self.sinks.iter_mut().map(|(_, sink)| work(&mut **sink)).collect();
        outcomes.into_iter().collect()
    }

    fn flush_quietly(&mut self) {
        // The sinks keep records that they could not write, and count the error.
        let _ = self.each(|sink| sink.idle());
    }

    /// Opens the new output before it closes the old one.
    fn open(&mut self, slot: Slot, config: &Config) -> Result<()> {
        let fresh = if self.history.is_none() { Some(sinks::open_one(slot, config, &self.timeline)?) } else { None };
        let closed = self.close_one(slot);
        self.sinks.extend(fresh.map(|sink| (slot, sink)));
        self.config = config.clone();
        closed
    }

    fn close_one(&mut self, slot: Slot) -> Result<()> {
        self.take_reading();
        let Some(at) = self.sinks.iter().position(|(own, _)| *own == slot) else { return Ok(()) };
        self.config = self.config.clone().without(slot);
        self.sinks.remove(at).1.close(&self.timeline)
    }

    fn close(&mut self) -> Result<()> {
        self.take_reading();
        let timeline = self.timeline;
        let outcomes: Vec<Result<()>> = self.sinks.drain(..).map(|(_, sink)| sink.close(&timeline)).collect();
        outcomes.into_iter().collect()
    }

    fn look_at_clocks(&mut self) {
        if self.read_at.elapsed() >= READING_EVERY {
            self.take_reading();
            let timeline = self.timeline;
            self.sinks.iter_mut().for_each(|(_, sink)| sink.tick(&timeline));
            if let Some(history) = &mut self.history {
                history.forget(clock::tick());
            }
        }
    }

    fn take_reading(&mut self) {
        self.read_at = Instant::now();
        let reading = Reading::now();
        if let Some(step) = self.timeline.read(reading) {
            COUNTERS.clock_steps.fetch_add(1, Ordering::Relaxed);
            self.sinks.iter_mut().for_each(|(_, sink)| sink.clock_stepped(step, reading.tick));
        }
    }

    /// Passes on everything recorded so far.
    fn drain(&mut self) {
        self.look_for_lanes();
        let until: Vec<u64> = self.inlets.iter().map(|inlet| inlet.lane.ring.head()).collect();
        let heads: Vec<_> = self.inlets.iter().map(|inlet| inlet.lane.thread.clone()).zip(until).collect();
        let is_left = |inlets: &[Inlet]| {
            inlets.iter().any(|inlet| {
                heads.iter().any(|(thread, head)| Arc::ptr_eq(thread, &inlet.lane.thread) && inlet.at < *head)
            })
        };
        loop {
            self.pass(u64::MAX);
            if !is_left(&self.inlets) {
                break;
            }
        }
    }

    fn look_for_lanes(&mut self) {
        let Some((version, lanes)) = self.hub.lanes_since(self.version) else { return };
        self.version = version;
        self.inlets.retain(|inlet| lanes.iter().any(|lane| Arc::ptr_eq(&lane.thread, &inlet.lane.thread)));
        for lane in lanes {
            if !self.inlets.iter().any(|inlet| Arc::ptr_eq(&lane.thread, &inlet.lane.thread)) {
                let at = lane.ring.tail();
                self.inlets.push(Inlet { lane, at, head: at, next: None, dropped: 0, has_gap: false });
            }
        }
    }

    /// Passes all records up to `horizon` to the sinks, oldest first; returns their number.
    pub(crate) fn pass(&mut self, horizon: u64) -> u64 {
        // Read before the lanes and the heads: records that these do not show are later, unless a thread takes more
        // than half of the window from reading the clock to publishing.
        let known_until = clock::tick().saturating_sub(self.window_ticks / 2);
        self.look_for_lanes();
        self.recycle();
        // Every read of a head takes its cache line from the recording thread, so wait until the next record is due.
        if horizon >= self.known_until {
            self.known_until = known_until;
            for inlet in &mut self.inlets {
                inlet.head = inlet.lane.ring.head();
                let _turn = self.history.is_some().then(|| inlet.take_turn());
                inlet.look();
            }
        }
        let mut moved = 0;
        loop {
            let mut first: Option<(u64, usize)> = None;
            let mut second = horizon;
            for (index, inlet) in self.inlets.iter().enumerate() {
                let Some(tick) = inlet.next.filter(|tick| *tick <= horizon) else { continue };
                match first {
                    Some((least, _)) if least <= tick => second = second.min(tick),
                    Some((least, _)) => (second, first) = (second.min(least), Some((tick, index))),
                    None => first = Some((tick, index)),
                }
            }
            let Some((_, index)) = first else { break };
            moved += self.pour(index, second);
        }
        for index in 0..self.inlets.len() {
            self.tell_drops(index);
        }
        COUNTERS.records.fetch_add(moved, Ordering::Relaxed);
        moved
    }

    /// Passes on the records of one ring up to `until`.
    fn pour(&mut self, index: usize, until: u64) -> u64 {
        let mut moved = 0;
        let Some(inlet) = self.inlets.get_mut(index) else { return 0 };
        let ring = inlet.lane.ring;
        let _turn = self.history.is_some().then(|| inlet.take_turn());
        let batch = ring.len() / 8;
        let mut released = inlet.at;
        while let Some(tick) = inlet.next.filter(|tick| *tick <= until) {
            let (kind, words, site) = split_header(inlet.lane.ring.word(inlet.at));
            self.words.clear();
            inlet.lane.ring.copy(inlet.at, words, &mut self.words);
            inlet.at += words;
            if tick >= inlet.lane.thread.from_tick {
                let index = index_of(site);
                if self.sites.len() <= index {
                    self.sites = lock(&self.hub.registry).sites.clone();
                }
                let payload = Words(self.words.get(FIXED as usize..).unwrap_or_default());
                match (&mut self.history, self.sites.get(index)) {
                    (Some(history), _) => {
                        if std::mem::take(&mut inlet.has_gap) {
                            history.gap(&inlet.lane.thread, tick);
                        }
                        history.keep(&inlet.lane.thread, tick, &self.words);
                    }
                    (None, Some(info)) => {
                        let rec = Rec {
                            kind,
                            tick,
                            thread: &inlet.lane.thread,
                            id: index as u32,
                            site: info,
                            words: payload,
                        };
                        self.sinks.iter_mut().for_each(|(_, sink)| sink.put(&rec));
                    }
                    (None, None) => {}
                }
            }
            moved += 1;
            inlet.look();
            if inlet.at - released >= batch {
                released = inlet.at;
                inlet.lane.ring.release(released);
            }
        }
        inlet.lane.ring.release(inlet.at);
        moved
    }

    fn tell_drops(&mut self, index: usize) {
        let Some(inlet) = self.inlets.get_mut(index) else { return };
        let dropped = inlet.lane.ring.dropped.load(Ordering::Relaxed);
        let new = dropped.wrapping_sub(inlet.dropped);
        if new > 0 {
            inlet.dropped = dropped;
            COUNTERS.dropped.fetch_add(new, Ordering::Relaxed);
            let tick = clock::tick();
            self.sinks.iter_mut().for_each(|(_, sink)| sink.dropped(&inlet.lane.thread, new, tick));
            if let Some(history) = &mut self.history {
                history.dropped(&inlet.lane.thread, new, tick);
            }
        }
    }

    /// Recycles the empty rings of ended threads.
    fn recycle(&mut self) {
        let hub = self.hub;
        self.inlets.retain(|inlet| {
            let is_done = inlet.lane.thread.has_ended()
                && inlet.at == inlet.lane.ring.head()
                && inlet.dropped == inlet.lane.ring.dropped.load(Ordering::Relaxed);
            if is_done {
                hub.recycle(&inlet.lane);
            }
            !is_done
        });
    }

    /// Writes the contents of the flight recorder to separate files.
    fn dump(&mut self) -> Result<()> {
        self.take_reading();
        let Some(history) = &mut self.history else { return Ok(()) };
        history.forget(clock::tick());
        self.dumps += 1;
        let config = self.config.with_part(&format!("dump-{}", self.dumps));
        let mut sinks = sinks::open(&config, &self.timeline)?;
        self.sites = lock(&self.hub.registry).sites.clone();
        history.replay(|thread, past| {
            let words = match past {
                Past::Record(words) => words,
                Past::Dropped(count, tick) => {
                    return sinks.iter_mut().for_each(|(_, sink)| sink.dropped(thread, count, tick));
                }
                Past::Gap(tick) => return sinks.iter_mut().for_each(|(_, sink)| sink.gap(thread, tick)),
            };
            let [first, tick, payload @ ..] = words else { return };
            let (kind, _, id) = split_header(*first);
            let index = index_of(id);
            let Some(site) = self.sites.get(index) else { return };
            let rec = Rec { kind, tick: *tick, thread, id: index as u32, site, words: Words(payload) };
            sinks.iter_mut().for_each(|(_, sink)| sink.put(&rec));
        });
        let timeline = self.timeline;
        let outcomes: Vec<Result<()>> = sinks.into_iter().map(|(_, sink)| sink.close(&timeline)).collect();
        outcomes.into_iter().collect()
    }
}

impl Inlet {
    /// The right to read, which a thread that overwrites its own records takes for a moment; records that it has
    /// dropped are skipped.
    fn take_turn(&mut self) -> Turn<'static> {
        let ring = self.lane.ring;
        let turn = loop {
            if let Some(turn) = ring.turn() {
                break turn;
            }
            std::thread::yield_now();
        };
        if self.at < ring.tail() {
            (self.at, self.has_gap) = (ring.tail(), true);
            self.look();
        }
        turn
    }

    /// Finds the next record that is not padding.
    fn look(&mut self) {
        while self.at < self.head {
            let (kind, words, _) = split_header(self.lane.ring.word(self.at));
            if kind != Kind::Pad {
                self.next = Some(self.lane.ring.word(self.at + 1));
                return;
            }
            self.at += words;
        }
        self.next = None;
    }
}
