//! The ring of one thread: whole words, one producer, one consumer, no lock.
//!
//! The producer stores the words of a record relaxed and publishes them with one release store of `head`; the consumer
//! acquires `head`, loads the words relaxed, and frees their space with a release store of `tail`. A record never
//! wraps: the producer fills the end of a lap with [`Kind::Pad`] instead.
//!
//! In a flight recorder, a producer whose ring is full drops its oldest records itself. It is then the consumer for a
//! moment, so every consumer first takes [`Ring::turn`].

use crate::{
    clock,
    record::{FIXED, Kind, Payload, header, split_header},
    sync::{AtomicBool, AtomicU64, Ordering, Padded},
};

/// Everything that a record reads, on one cache line. It changes only on the slow path, so the consumer may read it, too.
#[repr(C)]
struct Plan {
    /// A record that would end after this position takes the slow path.
    limit: AtomicU64,
    /// The first record at or after this tick takes the slow path.
    check_at: AtomicU64,
    words: Box<[AtomicU64]>,
    /// Words minus one. 32 bits, so that the compiler sees that an index plus the words of a record cannot overflow.
    mask: u32,
    /// Only its start is read: whether it is the processor's counter.
    clock: quanta::Clock,
}

/// A ring of words; positions count up forever.
pub struct Ring {
    plan: Padded<Plan>,
    /// The end of the published records, where the next one starts.
    head: Padded<AtomicU64>,
    /// The start of the oldest unread record; written by the consumer.
    tail: Padded<AtomicU64>,
    /// Whether somebody holds the turn.
    is_taken: AtomicBool,
    /// Records that were dropped because the ring was full.
    pub(crate) dropped: AtomicU64,
}

/// The right to consume, until it is dropped.
pub(crate) struct Turn<'a>(&'a Ring);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.is_taken.store(false, Ordering::Release);
    }
}

impl Ring {
    /// A ring of at least `words` words, all of them touched.
    pub(crate) fn new(words: usize) -> Self {
        let len = words.next_power_of_two();
        Self {
            plan: Padded(Plan {
                limit: AtomicU64::new(0),
                check_at: AtomicU64::new(0),
                words: (0..len).map(|_| AtomicU64::new(0)).collect(),
                mask: len as u32 - 1,
                clock: clock::clock(),
            }),
            head: Padded::default(),
            tail: Padded::default(),
            is_taken: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
        }
    }

    /// Words of the ring.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.plan.mask) + 1
    }

    /// Where the lap of a position ends.
    pub(crate) fn lap_end(&self, position: u64) -> u64 {
        (position | u64::from(self.plan.mask)) + 1
    }

    /// The `count` words from a position on, if they are in one lap.
    #[inline(always)]
    pub(crate) fn slots(&self, position: u64, count: u64) -> Option<&[AtomicU64]> {
        let at = (position as u32 & self.plan.mask) as usize;
        self.plan.words.get(at..at + count as usize)
    }

    /// Producer: the position for a record of `words` words, unless it has to take the slow path.
    #[inline(always)]
    pub(crate) fn room(&self, words: u64, tick: u64) -> Option<u64> {
        let head = self.next();
        let is_ready = head + words <= self.plan.limit.load(Ordering::Relaxed) && tick < self.check_at();
        is_ready.then_some(head)
    }

    /// Producer: stores a record at a free position, and publishes it.
    #[inline(always)]
    pub(crate) fn put<P: Payload>(&self, head: u64, fixed: [u64; FIXED as usize], words: u64, payload: &P) {
        if let Some([header, tick, rest @ ..]) = self.slots(head, words) {
            header.store(fixed[0], Ordering::Relaxed);
            tick.store(fixed[1], Ordering::Relaxed);
            payload.put(rest);
            self.publish(head + words);
        }
    }

    /// Producer: the current tick; cheaper than [`clock::tick`], because the clock is already initialized.
    #[inline(always)]
    pub(crate) fn tick(&self) -> u64 {
        self.plan.clock.raw()
    }

    /// Producer: the position of the next record.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.head.load(Ordering::Relaxed)
    }

    /// Producer: records up to this position need no check for space.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.plan.limit.store(limit, Ordering::Relaxed);
    }

    /// Producer: the tick at which the slow path is due.
    #[inline(always)]
    pub(crate) fn check_at(&self) -> u64 {
        self.plan.check_at.load(Ordering::Relaxed)
    }

    /// Producer: sets the tick at which the slow path is due.
    pub(crate) fn set_check_at(&self, tick: u64) {
        self.plan.check_at.store(tick, Ordering::Relaxed);
    }

    /// Producer: publishes everything before `head`.
    #[inline(always)]
    pub(crate) fn publish(&self, head: u64) {
        self.head.store(head, Ordering::Release);
    }

    /// Producer: pads the lap from `head` on; returns the start of the next lap.
    pub(crate) fn pad(&self, head: u64) -> u64 {
        let end = self.lap_end(head);
        if let Some([first, ..]) = self.slots(head, 1) {
            first.store(header(Kind::Pad, end - head, 0), Ordering::Relaxed);
        }
        self.publish(end);
        end
    }

    /// Producer: how far the consumer is.
    pub(crate) fn tail(&self) -> u64 {
        self.tail.load(Ordering::Acquire)
    }

    /// Consumer: how far the producer is.
    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Consumer: frees the space of everything before `tail`.
    pub(crate) fn release(&self, tail: u64) {
        self.tail.store(tail, Ordering::Release);
    }

    /// The right to consume, unless somebody else has it.
    pub(crate) fn turn(&self) -> Option<Turn<'_>> {
        let taken = self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        // Not `then_some`: a turn that was not taken must not be ended.
        taken.is_ok().then(|| Turn(self))
    }

    /// For a forked child, in which the thread that held the turn does not exist.
    pub(crate) fn end_turn(&self) {
        self.is_taken.store(false, Ordering::Release);
    }

    /// Producer: drops at least `words` words of the oldest records; returns the number of records, or `None` if the
    /// consumer is reading.
    pub(crate) fn forget(&self, words: u64) -> Option<u64> {
        let _turn = self.turn()?;
        let (mut at, head, mut forgotten) = (self.tail(), self.next(), 0);
        let until = (at + words).min(head);
        while at < until {
            let (kind, words, _) = split_header(self.word(at));
            forgotten += u64::from(kind != Kind::Pad);
            at += words;
        }
        self.release(at);
        Some(forgotten)
    }

    /// Consumer: the word at a position.
    pub(crate) fn word(&self, position: u64) -> u64 {
        self.slots(position, 1).and_then(|slots| slots.first()).map_or(0, |slot| slot.load(Ordering::Relaxed))
    }

    /// Consumer: appends the words from a position on.
    pub(crate) fn copy(&self, position: u64, count: u64, out: &mut Vec<u64>) {
        let slots = self.slots(position, count).unwrap_or_default();
        out.extend(slots.iter().map(|slot| slot.load(Ordering::Relaxed)));
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("words", &self.plan.words.len()).finish_non_exhaustive()
    }
}

/// Explores every interleaving and every reordering that the memory model allows: `RUSTFLAGS="--cfg traceloom_loom"`.
#[cfg(all(test, traceloom_loom))]
mod model {
    use loom::{sync::Arc, thread};

    use super::*;

    const RECORDS: u64 = 3;

    /// Three records of two words through a ring of four: space has to be freed, and a lap has to wrap.
    fn explore(put: fn(&Ring, u64, [u64; 2])) {
        loom::model(move || {
            let ring = Arc::new(Ring::new(4));
            let producer = thread::spawn({
                let ring = ring.clone();
                move || {
                    for number in 0..RECORDS {
                        let head = 2 * number;
                        while head + 2 > ring.tail() + ring.len() {
                            thread::yield_now();
                        }
                        put(&ring, head, [100 * (number + 1), 100 * (number + 1) + 1]);
                    }
                }
            });
            let mut tail = 0;
            while tail < 2 * RECORDS {
                let head = ring.head();
                while tail < head {
                    let number = tail / 2;
                    assert_eq!([ring.word(tail), ring.word(tail + 1)], [100 * (number + 1), 100 * (number + 1) + 1]);
                    tail += 2;
                    ring.release(tail);
                }
                thread::yield_now();
            }
            producer.join().expect("it does not panic");
        });
    }

    #[test]
    fn records_arrive_whole() {
        explore(|ring, head, words| ring.put(head, words, 2, &()));
    }

    #[test]
    #[should_panic(expected = "left == right")]
    fn a_relaxed_publish_would_be_noticed() {
        explore(|ring, head, words| {
            for (slot, word) in ring.slots(head, 2).expect("one lap").iter().zip(words) {
                slot.store(word, Ordering::Relaxed);
            }
            ring.head.store(head + 2, Ordering::Relaxed);
        });
    }

    /// A producer overwrites while the consumer reads a record in its turn, and the record must be complete. The ring
    /// holds two records; a third one replaces the first unless that is being read. All interleavings would be too
    /// many, so threads are interrupted at most twice.
    fn explore_overwriting(takes_turns: bool) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let ring = Arc::new(Ring::new(4));
            let put = |ring: &Ring, number: u64| {
                let slots = ring.slots(2 * number, 2).expect("one lap");
                slots[0].store(header(Kind::Event, 2, number as u32), Ordering::Relaxed);
                slots[1].store(number, Ordering::Relaxed);
                ring.publish(2 * number + 2);
            };
            (0..2).for_each(|number| put(&ring, number));
            let producer = thread::spawn({
                let ring = ring.clone();
                move || {
                    if 6 <= ring.tail() + ring.len() || ring.forget(2).is_some() {
                        put(&ring, 2);
                    }
                }
            });
            let turn = if takes_turns { ring.turn() } else { None };
            if turn.is_some() || !takes_turns {
                let tail = ring.tail();
                let (kind, words, number) = split_header(ring.word(tail));
                assert_eq!((kind, words, u64::from(number)), (Kind::Event, 2, ring.word(tail + 1)), "half a record");
                ring.release(tail + 2);
            }
            drop(turn);
            producer.join().expect("it does not panic");
        });
    }

    #[test]
    fn overwriting_leaves_records_whole() {
        explore_overwriting(true);
    }

    #[test]
    #[should_panic(expected = "half a record")]
    fn reading_out_of_turn_would_be_noticed() {
        explore_overwriting(false);
    }
}

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_records_are_forgotten_whole() {
        let ring = Ring::new(64);
        for number in 0..10 {
            let payload: &[u8] = b"eight b.";
            ring.put(4 * number, [header(Kind::Value, 4, number as u32), number], 4, &payload);
        }
        let words = |ring: &Ring| split_header(ring.word(ring.tail())).2;
        assert_eq!(ring.forget(9), Some(3));
        assert_eq!((ring.tail(), words(&ring)), (12, 3));
        let turn = ring.turn();
        assert_eq!(ring.forget(1), None, "somebody reads");
        drop(turn);
        assert_eq!(ring.forget(1 << 20), Some(7));
        assert_eq!(ring.tail(), ring.head());
    }
}
