//! One call while it runs: how far it is, and whether anybody still waits.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use traceloom::Trace;
use traceloom_core::{Error, Result};
#[cfg(feature = "sql")]
use traceloom_query::Stop;

/// What the work of a call and those who wait for it share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Job(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    read_bytes: AtomicU64,
    #[cfg(feature = "sql")]
    stop: Stop,
}

impl Job {
    /// Ends the work at its next read.
    pub(crate) fn cancel(&self) {
        self.0.is_over.store(true, Ordering::Relaxed);
        #[cfg(feature = "sql")]
        self.0.stop.stop();
    }

    /// Bytes that were read so far, of all passes together: this only grows.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.0.read_bytes.load(Ordering::Relaxed)
    }

    /// An error once nobody waits anymore.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.is_over.load(Ordering::Relaxed) { Err(Error::from(over())) } else { Ok(()) }
    }

    /// Ends the wait for the rows of a query.
    #[cfg(feature = "sql")]
    pub(crate) fn stop(&self) -> &Stop {
        &self.0.stop
    }

    /// The same trace, read as long as somebody waits.
    pub(crate) fn guard(&self, trace: &Trace) -> Trace {
        let (shared, last) = (Arc::clone(&self.0), AtomicU64::new(0));
        trace.guarded(move |end| {
            let before = last.swap(end, Ordering::Relaxed);
            shared.read_bytes.fetch_add(end.saturating_sub(before), Ordering::Relaxed);
            if shared.is_over.load(Ordering::Relaxed) { Err(over()) } else { Ok(()) }
        })
    }
}

fn over() -> io::Error {
    io::Error::other("canceled, or it took too long")
}

/// Held by those who wait; when it goes, the work ends.
pub(crate) struct Waiting(pub(crate) Job);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
