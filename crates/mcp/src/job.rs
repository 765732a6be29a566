//! A running call: its progress, and whether the client still waits for it.

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

/// State shared between the work of a call and its waiters.
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
    /// Stops the work at its next read.
    pub(crate) fn cancel(&self) {
        self.0.is_over.store(true, Ordering::Relaxed);
        #[cfg(feature = "sql")]
        self.0.stop.stop();
    }

    /// Bytes read so far in all passes; never decreases.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.0.read_bytes.load(Ordering::Relaxed)
    }

    /// Returns an error once nobody waits anymore.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.is_over.load(Ordering::Relaxed) { Err(Error::from(over())) } else { Ok(()) }
    }

    /// Stops waiting for the rows of a query.
    #[cfg(feature = "sql")]
    pub(crate) fn stop(&self) -> &Stop {
        &self.0.stop
    }

    /// The same trace, readable as long as somebody waits.
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
    io::Error::other("the call was canceled or took too long")
}

/// Held by the waiter; dropping it stops the work.
pub(crate) struct Waiting(pub(crate) Job);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_readable_until_nobody_waits() {
        let job = Job::default();
        let trace = job.guard(&Trace::sample(traceloom::formats().next().unwrap().id).unwrap());
        assert!(trace.source().prefix(8).is_ok() && job.check().is_ok());
        assert!(job.read_bytes() >= 8, "{}", job.read_bytes());
        drop(Waiting(job.clone()));
        assert!(trace.source().prefix(8).unwrap_err().to_string().contains("canceled"));
        assert!(job.check().is_err());
    }
}
