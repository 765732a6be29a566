//! The ring of one thread: whole words, one producer, one consumer, no lock.
//!
//! The producer stores the words of a record relaxed and publishes them with one release store of `head`; the consumer
//! acquires `head`, loads the words relaxed, and gives their room back with a release store of `tail`. A record never
//! wraps: the producer fills the end of a lap with [`Kind::Pad`] instead.
//!
//! In a flight recorder, a producer without room forgets its oldest records itself. Then it is the consumer for a moment, so
//! whoever consumes takes [`Ring::turn`] before.

use crate::{
    clock,
    record::{FIXED, Kind, Payload, header, split_header},
    sync::{AtomicBool, AtomicU64, Ordering, Padded},
};

/// The producer's own numbers, on a line that the consumer never asks for; all loads and stores are relaxed.
struct Producer {
    clock: quanta::Clock,
    /// Where the next record begins.
    head: AtomicU64,
    /// A record that would end behind this takes the slow way.
    limit: AtomicU64,
    /// From this tick on records take the slow way once.
    check_at: AtomicU64,
}

/// A ring of words; positions count up for ever.
pub struct Ring {
    words: Box<[AtomicU64]>,
    /// Words minus one. Not wider, so that the compiler sees that an index and the words of a record do not overflow.
    mask: u32,
    producer: Padded<Producer>,
    /// What the producer has handed over ends here.
    head: Padded<AtomicU64>,
    /// Where the oldest record begins that was not read; the consumer's.
    tail: Padded<AtomicU64>,
    /// Whether somebody consumes.
    is_taken: AtomicBool,
    /// Records that found no room.
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
            words: (0..len).map(|_| AtomicU64::new(0)).collect(),
            mask: len as u32 - 1,
            producer: Padded(Producer {
                clock: clock::clock(),
                head: AtomicU64::new(0),
                limit: AtomicU64::new(0),
                check_at: AtomicU64::new(0),
            }),
            head: Padded::default(),
            tail: Padded::default(),
            is_taken: AtomicBool::new(false),
            dropped: AtomicU64::new(0),
        }
    }

    /// Words of the ring.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.mask) + 1
    }

    /// Where the lap of a position ends.
    pub(crate) fn lap_end(&self, position: u64) -> u64 {
        (position | u64::from(self.mask)) + 1
    }

    /// The `count` words from a position on, if they lie in one lap.
    #[inline(always)]
    pub(crate) fn slots(&self, position: u64, count: u64) -> Option<&[AtomicU64]> {
        let at = (position as u32 & self.mask) as usize;
        self.words.get(at..at + count as usize)
    }

    /// Producer: where a record of so many words has room, if there is no reason to take the slow way.
    #[inline(always)]
    pub(crate) fn room(&self, words: u64, tick: u64) -> Option<u64> {
        let head = self.next();
        let is_ready = head + words <= self.producer.limit.load(Ordering::Relaxed) && tick < self.check_at();
        is_ready.then_some(head)
    }

    /// Producer: stores a record where there is room for it, and hands it over.
    #[inline(always)]
    pub(crate) fn put<P: Payload>(&self, head: u64, fixed: [u64; FIXED as usize], words: u64, payload: &P) {
        if let Some([header, tick, rest @ ..]) = self.slots(head, words) {
            header.store(fixed[0], Ordering::Relaxed);
            tick.store(fixed[1], Ordering::Relaxed);
            payload.put(rest);
            self.go_to(head + words);
            self.publish(head + words);
        }
    }

    /// Producer: the tick now; cheaper than [`clock::tick`], because it is known that there is a clock.
    #[inline(always)]
    pub(crate) fn tick(&self) -> u64 {
        self.producer.clock.raw()
    }

    /// Producer: where the next record begins.
    #[inline(always)]
    pub(crate) fn next(&self) -> u64 {
        self.producer.head.load(Ordering::Relaxed)
    }

    /// Producer: the next record begins here.
    #[inline(always)]
    pub(crate) fn go_to(&self, head: u64) {
        self.producer.head.store(head, Ordering::Relaxed);
    }

    /// Producer: records up to this position need not ask for room.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.producer.limit.store(limit, Ordering::Relaxed);
    }

    /// Producer: the tick from which on records take the slow way.
    #[inline(always)]
    pub(crate) fn check_at(&self) -> u64 {
        self.producer.check_at.load(Ordering::Relaxed)
    }

    /// Producer: the slow way is due at this tick.
    pub(crate) fn set_check_at(&self, tick: u64) {
        self.producer.check_at.store(tick, Ordering::Relaxed);
    }

    /// Producer: hands over everything before `head`.
    #[inline(always)]
    pub(crate) fn publish(&self, head: u64) {
        self.publish_as(head, Ordering::Release);
    }

    #[inline(always)]
    fn publish_as(&self, head: u64, order: Ordering) {
        self.head.store(head, order);
    }

    /// Producer: fills the lap from `head` on; gives where the next one begins.
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

    /// Consumer: gives back the room of everything before `tail`.
    pub(crate) fn release(&self, tail: u64) {
        self.tail.store(tail, Ordering::Release);
    }

    /// The right to consume, unless somebody has it.
    pub(crate) fn turn(&self) -> Option<Turn<'_>> {
        let taken = self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        // Not `then_some`: a turn that was not taken must not be ended.
        taken.is_ok().then(|| Turn(self))
    }

    /// In a forked child, where a consumer that had its turn does not live on.
    pub(crate) fn end_turn(&self) {
        self.is_taken.store(false, Ordering::Release);
    }

    /// Producer: forgets at least so many words of the oldest records; gives how many records that were, or nothing if the
    /// consumer reads just now.
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
        f.debug_struct("Ring").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

/// Every interleaving and every reordering that the memory model allows: `RUSTFLAGS="--cfg traceloom_loom"`.
#[cfg(all(test, traceloom_loom))]
mod model {
    use loom::{sync::Arc, thread};

    use super::*;

    const RECORDS: u64 = 3;

    /// Three records of two words through a ring of four: room has to be given back, and a lap to be wrapped.
    fn explore(order: Ordering) {
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
                        for (at, slot) in ring.slots(head, 2).expect("one lap").iter().enumerate() {
                            slot.store(100 * (number + 1) + at as u64, Ordering::Relaxed);
                        }
                        ring.publish_as(head + 2, order);
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
        explore(Ordering::Release);
    }

    #[test]
    #[should_panic(expected = "left == right")]
    fn a_relaxed_publish_would_be_noticed() {
        explore(Ordering::Relaxed);
    }

    /// A producer that overwrites, while the consumer reads a record in its turn: what it reads is whole. The ring has room for
    /// two records and the producer has a third one, which takes the place of the first unless that is being read. There are
    /// too many interleavings for all of them, so threads are interrupted twice at most.
    fn explore_overwriting(takes_turns: bool) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.check(move || {
            let ring = Arc::new(Ring::new(4));
            let put = |ring: &Ring, number: u64| {
                let slots = ring.slots(2 * number, 2).expect("one lap");
                slots[0].store(header(Kind::Event, 2, number as u32), Ordering::Relaxed);
                slots[1].store(number, Ordering::Relaxed);
                ring.go_to(2 * number + 2);
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
