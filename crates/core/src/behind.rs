//! Output that another thread writes, so that work and writing overlap.

use std::{
    io::{self, Write},
    panic::resume_unwind,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use crate::{Error, Result};

/// Bytes that are passed on together.
const BUFFER_BYTES: usize = 256 << 10;
/// Maximum number of buffers that wait to be written.
const WAITING: usize = 4;

/// Runs `work` with an output whose bytes another thread writes to `out`; returns when all of them are written.
///
/// If writing fails, the work soon gets an error from its output, and the result is the error of `out`.
pub fn write_behind<T>(out: &mut (dyn Write + Send), work: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let mut work = Some(work);
    let done = thread::scope(|scope| {
        let (full, received) = sync_channel(WAITING);
        let (empty, reused) = sync_channel(WAITING);
        let out = &mut *out;
        let write = move || write(received, &empty, out);
        // The system may have no more threads.
        let writer = thread::Builder::new().name("writer".to_owned()).spawn_scoped(scope, write).ok()?;
        let mut behind = Behind { full, reused, buffer: Vec::new() };
        let outcome = work.take()?(&mut behind).and_then(|outcome| Ok(behind.pass_on().map(|()| outcome)?));
        drop(behind);
        let written = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
        Some(written.map_err(Into::into).and(outcome))
    });
    match (done, work) {
        (None, Some(work)) => work(out),
        (done, _) => done.unwrap_or_else(|| Err(Error::internal("work without an outcome"))),
    }
}

/// Writes buffers until there are no more, and returns them for reuse.
fn write(received: Receiver<Vec<u8>>, empty: &SyncSender<Vec<u8>>, out: &mut (dyn Write + Send)) -> io::Result<()> {
    for mut bytes in received {
        out.write_all(&bytes)?;
        bytes.clear();
        // Ignored if there are enough empty buffers, or nobody needs one.
        let _ = empty.try_send(bytes);
    }
    out.flush()
}

/// Collects bytes and passes them on.
struct Behind {
    full: SyncSender<Vec<u8>>,
    reused: Receiver<Vec<u8>>,
    buffer: Vec<u8>,
}

impl Behind {
    fn pass_on(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let next = self.reused.try_recv().unwrap_or_else(|_| Vec::with_capacity(BUFFER_BYTES));
        let bytes = std::mem::replace(&mut self.buffer, next);
        // The writer is gone only after an error, which it returns.
        self.full.send(bytes).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.pass_on()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// An output of limited size.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.room - self.bytes.len());
            if taken == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.bytes.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Writes numbers in pieces of different lengths.
    fn work(count: u32) -> impl Fn(&mut dyn Write) -> Result<u32> {
        move |out| {
            for number in 0..count {
                out.write_all(&number.to_le_bytes().repeat(number as usize % 7))?;
                if number % 50_000 == 9 {
                    out.flush()?;
                }
            }
            Ok(count)
        }
    }

    #[test]
    fn all_bytes_arrive_in_order() {
        for count in [0, 1, 1_000, 300_000] {
            let mut expected = Vec::new();
            work(count)(&mut expected).unwrap();
            let mut disk = Disk { bytes: Vec::new(), room: usize::MAX };
            assert_eq!(write_behind(&mut disk, work(count)).unwrap(), count);
            assert!(disk.bytes == expected, "{count}");
        }
        let mut disk = Disk { bytes: Vec::new(), room: usize::MAX };
        write_behind(&mut disk, |out| Ok(out.write_all(&vec![7; 3 * BUFFER_BYTES + 1])?)).unwrap();
        assert_eq!(disk.bytes.len(), 3 * BUFFER_BYTES + 1);
    }

    #[test]
    fn a_full_disk_ends_the_work_and_is_the_error() {
        for room in [0, 1, BUFFER_BYTES, 1_000_000] {
            let mut disk = Disk { bytes: Vec::new(), room };
            let error = write_behind(&mut disk, work(300_000)).unwrap_err();
            assert!(error.to_string().contains(&io::Error::from(io::ErrorKind::StorageFull).to_string()), "{error}");
            assert_eq!(disk.bytes.len(), room);
        }
    }

    #[test]
    fn an_error_or_panic_of_the_work_comes_out() {
        let mut disk = Disk { bytes: Vec::new(), room: usize::MAX };
        let fails = |out: &mut dyn Write| work(100_000)(out).and_then(|_| Err::<(), _>(Error::usage("enough")));
        assert_eq!(write_behind(&mut disk, fails).unwrap_err().to_string(), "enough");
        let panics = |_: &mut dyn Write| -> Result<()> { panic!("as wanted") };
        assert!(catch_unwind(AssertUnwindSafe(|| write_behind(&mut disk, panics))).is_err());
    }
}
