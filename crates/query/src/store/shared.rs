//! Work that several threads share.

use std::{panic, thread};

/// Runs the work on several threads, one of which is the calling one; returns an error if any of them does.
///
/// Each call takes piece after piece from a place that all calls share, and returns when no piece is left.
pub fn share<E: Send>(threads: usize, work: impl Fn() -> Result<(), E> + Sync) -> Result<(), E> {
    thread::scope(|scope| {
        // If the system has no more threads, fewer do the work.
        let others = (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, &work).ok());
        let others: Vec<_> = others.collect();
        let own = work();
        let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        joined.collect::<Vec<_>>().into_iter().chain([own]).collect()
    })
}
