//! A source that reports how far it has been read.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{ReadAt, Source};

impl Source {
    /// The same bytes; after every read, `seen` is called with the offset that the read reached.
    ///
    /// Readers read whole windows, so this costs one call per window. Another pass over the file starts again at low
    /// offsets. `seen` is dropped with the last handle to the source.
    #[must_use]
    pub fn watched(&self, seen: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.guarded(move |end| {
            seen(end);
            Ok(())
        })
    }

    /// Like [`Source::watched`], but an error returned by `seen` fails the read, which ends the reader.
    #[must_use]
    pub fn guarded(&self, seen: impl Fn(u64) -> io::Result<()> + Send + Sync + 'static) -> Self {
        self.observed(move |offset, read| seen(offset.saturating_add(read)))
    }

    /// The same bytes; every read adds its number of bytes to `count`.
    #[must_use]
    pub fn counted(&self, count: &Arc<AtomicU64>) -> Self {
        let count = Arc::clone(count);
        self.observed(move |_, read| {
            count.fetch_add(read, Ordering::Relaxed);
            Ok(())
        })
    }

    /// Calls `seen` with the offset and length of every read.
    fn observed(&self, seen: impl Fn(u64, u64) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Watched { source: self.clone(), seen }))
    }
}

struct Watched<F> {
    source: Source,
    seen: F,
}

impl<F: Fn(u64, u64) -> io::Result<()> + Send + Sync> ReadAt for Watched<F> {
    fn len(&self) -> io::Result<u64> {
        self.source.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.0.read_at(offset, buffer)?;
        (self.seen)(offset, read as u64)?;
        Ok(read)
    }

    fn stored_len(&self) -> io::Result<u64> {
        self.source.0.stored_len()
    }

    fn companion(&self) -> Option<Source> {
        self.source.companion()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Window};

    #[test]
    fn a_watched_source_reports_every_window_and_gives_the_same_bytes() {
        let seen = Arc::new(AtomicU64::new(0));
        let reads = Arc::new(AtomicU64::new(0));
        let watched = Source::bytes([7; 1000]).watched({
            let (seen, reads) = (seen.clone(), reads.clone());
            move |end| {
                seen.store(end, Ordering::Relaxed);
                reads.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut window = Window::new(watched, &Limits::with(|limits| limits.window_bytes = 100));
        assert_eq!(window.fill(100).unwrap(), [7; 100]);
        assert_eq!(seen.load(Ordering::Relaxed), 100);
        window.consume(100);
        assert_eq!(window.fill(900).unwrap(), [7; 900]);
        assert_eq!(seen.load(Ordering::Relaxed), 1000);
        assert!(reads.load(Ordering::Relaxed) <= 10);
        drop(window);
        assert_eq!(Arc::strong_count(&seen), 1, "the callback outlives the source");
    }

    #[test]
    fn every_read_counts() {
        let count = Arc::new(AtomicU64::new(0));
        let counted = Source::bytes([7; 1000]).counted(&count);
        for (offset, read) in [(0, 100), (0, 100), (950, 50), (2000, 0)] {
            assert_eq!(counted.0.read_at(offset, &mut [0; 100]).unwrap(), read);
        }
        assert_eq!(count.load(Ordering::Relaxed), 250);
    }

    #[test]
    fn a_guard_ends_the_reading() {
        let guarded = Source::bytes([7; 1000]).guarded(|end| match end {
            0..=200 => Ok(()),
            _ => Err(io::Error::other("enough")),
        });
        let mut window = Window::new(guarded, &Limits::with(|limits| limits.window_bytes = 100));
        window.fill(100).unwrap();
        window.consume(100);
        assert!(window.fill(900).is_err());
    }
}
