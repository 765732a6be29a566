//! Walks on other threads that hand their results to the caller's thread, in order.
//!
//! One walk makes pieces while the caller uses earlier ones. If making a piece costs much more than finding where it
//! starts, several walks over the same input take turns: the walk that comes to a turn first makes it, and the others move
//! past it as fast as they can. [`Notes`](crate::Notes) help with that.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    panic::resume_unwind,
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::{self, ScopedJoinHandle},
};

use crate::Result;

/// Maximum number of pieces of a single walk that wait for the caller: enough that neither side waits for every piece.
const WAITING: usize = 4;
/// Number of messages that one of several walks sends at a time, unless its turn ends: waking the caller takes as long as
/// hundreds of records.
const GROUP: usize = 4;
/// Maximum number of groups of a walk that wait for the caller: enough for a turn, so that a walk need not wait until the
/// turn before its own ends.
const WAITING_GROUPS: usize = 2;

/// A walk's view of the turns: where it delivers its pieces, and which pieces it has to make.
pub struct Turns<'t, T> {
    out: Out<'t, T>,
    number: usize,
    walks: usize,
    turn: usize,
    is_mine: bool,
    is_over: bool,
}

enum Out<'t, T> {
    /// To the caller, on whose thread the walk runs; returns false if the caller wants no more.
    Direct(&'t mut dyn FnMut(T) -> bool),
    Channel(Channel<'t, T>),
}

/// To the caller's thread.
struct Channel<'t, T> {
    out: SyncSender<Vec<Message<T>>>,
    /// Messages that are not sent yet.
    group: Vec<Message<T>>,
    /// Number of messages to send at a time.
    size: usize,
    claims: &'t Claims,
}

impl<T> Channel<'_, T> {
    /// Sends a message with the next ones; returns false if the caller has left.
    fn send(&mut self, message: Message<T>) -> bool {
        let is_last = !matches!(message, Message::Piece(_) | Message::Aside(_));
        self.group.push(message);
        if is_last || self.group.len() >= self.size { self.flush() } else { true }
    }

    fn flush(&mut self) -> bool {
        self.group.is_empty() || self.out.send(std::mem::take(&mut self.group)).is_ok()
    }
}

/// Which walk makes which turn.
#[derive(Debug)]
struct Claims(Mutex<Claimed>);

#[derive(Debug)]
struct Claimed {
    /// The first turn that no walk has come to.
    next: usize,
    /// The walks that make the turns whose pieces are not asked for yet.
    walks: HashMap<usize, usize>,
}

impl Claims {
    /// The first walk makes the first turn.
    fn new() -> Self {
        Self(Mutex::new(Claimed { next: 1, walks: HashMap::new() }))
    }

    /// Called by every walk when it comes to a turn; returns whether this walk makes it.
    fn claim(&self, turn: usize, walk: usize) -> bool {
        let mut claimed = self.claimed();
        let is_first = turn == claimed.next;
        if is_first {
            claimed.next += 1;
            claimed.walks.insert(turn, walk);
        }
        is_first
    }

    /// The walk that makes a claimed turn; asked once.
    fn walk(&self, turn: usize) -> usize {
        self.claimed().walks.remove(&turn).unwrap_or_default()
    }

    fn claimed(&self) -> MutexGuard<'_, Claimed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Message<T> {
    Piece(T),
    /// A piece that a walk that is alone does not make.
    Aside(T),
    /// The next piece comes from this walk.
    Turn(usize),
    /// From here on, only a single walk can determine the pieces.
    Alone,
    /// The walk has ended; one that fails ends without a message.
    Over,
}

impl<T> Turns<'_, T> {
    /// How many walks take turns.
    pub fn walks(&self) -> usize {
        self.walks
    }

    /// Whether this walk makes the pieces before and after all turns.
    pub fn is_first(&self) -> bool {
        self.number == 0
    }

    /// Whether this walk makes the pieces of the current turn.
    pub fn is_mine(&self) -> bool {
        self.is_mine
    }

    /// Delivers a piece; returns false if no more are wanted.
    pub fn give(&mut self, piece: T) -> bool {
        match &mut self.out {
            Out::Direct(give) => give(piece),
            Out::Channel(channel) => channel.send(Message::Piece(piece)),
        }
    }

    /// Delivers a piece about the seam between two turns, which a single walk does not make.
    pub fn give_aside(&mut self, piece: T) {
        self.signal(Message::Aside(piece));
    }

    /// Ends a turn; returns whether this walk makes the next one.
    pub fn end(&mut self) -> bool {
        let was_mine = self.is_mine;
        self.turn += 1;
        if let Out::Channel(Channel { claims, .. }) = self.out {
            self.is_mine = claims.claim(self.turn, self.number);
            if was_mine {
                self.signal(Message::Turn(claims.walk(self.turn)));
            }
        }
        self.is_mine
    }

    /// Gives up, because the pieces from here on depend on those of other walks. A walk that runs alone must not call
    /// this.
    pub fn give_up(&mut self) {
        self.signal(Message::Alone);
    }

    /// Whether the caller has left: a walk that makes no pieces notices it at the end of a turn.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Runs one of several walks on its thread.
    fn run<R>(mut self, walk: &impl Fn(&mut Self) -> Result<R>) -> Result<R> {
        let returned = walk(&mut self);
        match &mut self.out {
            // The caller takes the pieces before an error.
            Out::Channel(channel) if returned.is_err() => _ = channel.flush(),
            _ => self.signal(Message::Over),
        }
        returned
    }

    fn signal(&mut self, message: Message<T>) {
        if let Out::Channel(channel) = &mut self.out {
            self.is_over |= !channel.send(message);
        }
    }
}

/// How the pieces ended.
enum End {
    All,
    Stopped,
    Alone,
    /// In a turn of this walk, which failed.
    Failed(usize),
}

/// Runs `walks` walks that take turns, and passes their pieces to `take` in order; returns what the first walk returns,
/// or `None` if `take` stops them early. With 0 walks, the caller's thread does the walk.
///
/// The result is always that of a single walk: if `take` stops or fails, nothing that the walks meet later counts.
pub fn in_turns<T: Send, R: Send>(
    walks: usize,
    walk: &(impl Fn(&mut Turns<'_, T>) -> Result<R> + Sync),
    take: &mut dyn FnMut(T) -> Result<ControlFlow<()>>,
) -> Result<Option<R>> {
    let mut taken = 0;
    let claims = Claims::new();
    let outcome = thread::scope(|scope| -> Result<Option<Option<R>>> {
        let (mut walkers, mut pieces) = (Vec::new(), Vec::new());
        for number in 0..walks {
            let (size, waiting) = if walks > 1 { (GROUP, WAITING_GROUPS) } else { (1, WAITING) };
            let (out, received) = sync_channel(waiting);
            let channel = Channel { out, group: Vec::new(), size, claims: &claims };
            let work = move || {
                let is_mine = number == 0;
                Turns { out: Out::Channel(channel), number, walks, turn: 0, is_mine, is_over: false }.run(walk)
            };
            let Ok(walker) = thread::Builder::new().name("reader".to_owned()).spawn_scoped(scope, work) else {
                // The system has no more threads: the walks already started find that no one receives their pieces, and
                // end.
                return Ok(None);
            };
            walkers.push(walker);
            pieces.push(received);
        }
        if walks == 0 {
            return Ok(None);
        }
        let end = receive(pieces, &mut taken, take);
        let returned = join(walkers);
        let decides = match end? {
            End::Stopped => return Ok(Some(None)),
            End::Alone => return Ok(None),
            End::All => 0,
            End::Failed(number) => number,
        };
        let mut returned = returned.unwrap_or_else(|panic| resume_unwind(panic));
        returned.swap_remove(decides).map(|returned| Some(Some(returned)))
    })?;
    outcome.map_or_else(|| direct(walk, taken, take), Ok)
}

/// Receives from the channel of the walk whose turn it is, until the first walk ends, or a walk fails; dropping the
/// channels on return ends the other walks.
fn receive<T>(
    pieces: Vec<Receiver<Vec<Message<T>>>>,
    taken: &mut usize,
    take: &mut dyn FnMut(T) -> Result<ControlFlow<()>>,
) -> Result<End> {
    let mut current = 0;
    loop {
        let Ok(messages) = pieces[current].recv() else { return Ok(End::Failed(current)) };
        for message in messages {
            let piece = match message {
                Message::Piece(piece) => {
                    *taken += 1;
                    piece
                }
                Message::Aside(piece) => piece,
                Message::Turn(walk) => {
                    current = walk;
                    continue;
                }
                Message::Alone => return Ok(End::Alone),
                Message::Over if current == 0 => return Ok(End::All),
                // The last turn is over; the first walk makes what follows.
                Message::Over => {
                    current = 0;
                    continue;
                }
            };
            if take(piece)?.is_break() {
                return Ok(End::Stopped);
            }
        }
    }
}

/// What the walks return once all have ended, or the first panic of any walk.
fn join<R>(walkers: Vec<ScopedJoinHandle<'_, R>>) -> thread::Result<Vec<R>> {
    walkers.into_iter().map(ScopedJoinHandle::join).collect()
}

/// Walks on the caller's thread; the caller has already taken the first pieces.
fn direct<T, R>(
    walk: &impl Fn(&mut Turns<'_, T>) -> Result<R>,
    mut taken: usize,
    take: &mut dyn FnMut(T) -> Result<ControlFlow<()>>,
) -> Result<Option<R>> {
    let mut end = Ok(ControlFlow::Continue(()));
    let mut give = |piece| {
        if taken > 0 {
            taken -= 1;
            return true;
        }
        end = take(piece);
        matches!(end, Ok(ControlFlow::Continue(())))
    };
    let returned =
        walk(&mut Turns { out: Out::Direct(&mut give), number: 0, walks: 1, turn: 0, is_mine: true, is_over: false });
    match end? {
        ControlFlow::Break(()) => Ok(None),
        ControlFlow::Continue(()) => returned.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::Error;

    const WALKS: [usize; 5] = [0, 1, 2, 3, 8];
    const TURN: u32 = 7;
    const LAST: u32 = 100;

    /// Delivers the numbers up to the last; `look` gets each one first.
    fn count(
        turns: &mut Turns<'_, u32>,
        look: impl Fn(u32, &mut Turns<'_, u32>) -> Result<()>,
    ) -> Result<&'static str> {
        for number in 0..LAST {
            if number > 0 && number % TURN == 0 {
                turns.end();
            }
            look(number, turns)?;
            if turns.is_mine() && !turns.give(number) {
                return Ok("nobody listens");
            }
        }
        turns.end();
        if turns.is_first() {
            turns.give(LAST);
        }
        Ok("all")
    }

    fn taken(
        walks: usize,
        look: impl Fn(u32, &mut Turns<'_, u32>) -> Result<()> + Sync,
        end: impl Fn(u32) -> Result<ControlFlow<()>>,
    ) -> (Vec<u32>, std::result::Result<Option<&'static str>, String>) {
        let mut taken = Vec::new();
        let outcome = in_turns(walks, &|turns: &mut Turns<'_, u32>| count(turns, &look), &mut |number| {
            taken.push(number);
            end(number)
        });
        (taken, outcome.map_err(|error| error.to_string()))
    }

    fn never(_: u32) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }

    #[test]
    fn pieces_come_in_order_and_once_however_many_walks_there_are() {
        for walks in WALKS {
            assert_eq!(taken(walks, |_, _| Ok(()), never), ((0..=LAST).collect(), Ok(Some("all"))), "{walks}");
        }
    }

    #[test]
    fn an_end_of_the_caller_hides_what_comes_later() {
        let fails_later = |number, _: &mut Turns<'_, u32>| match number {
            30.. => Err(Error::usage("a walk failed")),
            _ => Ok(()),
        };
        for walks in WALKS {
            for last in [0, 6, 7, 29] {
                let breaks =
                    |number| Ok(if number == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
                assert_eq!(taken(walks, fails_later, breaks), ((0..=last).collect(), Ok(None)), "{walks}");
                let fails = |number| if number == last { Err(Error::usage("full")) } else { never(number) };
                assert_eq!(taken(walks, fails_later, fails), ((0..=last).collect(), Err("full".to_owned())), "{walks}");
            }
            let expected = ((0..30).collect(), Err("a walk failed".to_owned()));
            assert_eq!(taken(walks, fails_later, never), expected, "{walks}");
            let fails_in_its_turn = |number, turns: &mut Turns<'_, u32>| match number {
                30.. if turns.is_mine() => Err(Error::usage(format!("a walk failed at {number}"))),
                _ => Ok(()),
            };
            let expected = ((0..30).collect(), Err("a walk failed at 30".to_owned()));
            assert_eq!(taken(walks, fails_in_its_turn, never), expected, "{walks}");
        }
    }

    #[test]
    fn a_walk_that_gives_up_is_followed_by_one_that_is_alone() {
        let gives_up = |number, turns: &mut Turns<'_, u32>| {
            if number == 40 && turns.walks() > 1 && turns.is_mine() {
                turns.give_up();
                return Err(Error::usage("gave up"));
            }
            Ok(())
        };
        for walks in WALKS {
            assert_eq!(taken(walks, gives_up, never), ((0..=LAST).collect(), Ok(Some("all"))), "{walks}");
        }
    }

    #[test]
    fn a_walk_without_pieces_learns_at_the_end_of_a_turn_that_nobody_listens() {
        for walks in [1, 2, 3] {
            let endless = |turns: &mut Turns<'_, u32>| {
                turns.give(0);
                while !turns.is_over() {
                    turns.end();
                }
                Ok(())
            };
            let outcome = in_turns(walks, &endless, &mut |_| Ok(ControlFlow::Break(())));
            assert_eq!(outcome.unwrap(), None, "{walks}");
        }
    }

    #[test]
    fn panics_of_either_side_come_out_and_nobody_waits_for_ever() {
        for walks in WALKS {
            let in_walk = || taken(walks, |number, turns| panic_if(number == 40 && turns.is_mine()), never);
            assert!(catch_unwind(AssertUnwindSafe(in_walk)).is_err(), "{walks}");
            let in_take = || taken(walks, |_, _| Ok(()), |number| panic_if(number == 40).and(never(number)));
            assert!(catch_unwind(AssertUnwindSafe(in_take)).is_err(), "{walks}");
        }
    }

    fn panic_if(is_wanted: bool) -> Result<()> {
        assert!(!is_wanted, "as wanted");
        Ok(())
    }
}
