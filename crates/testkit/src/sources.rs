//! Sources that misbehave like files, disks and networks.

use std::io;

use traceloom_core::{ReadAt, Source};

/// Returns one byte per read.
pub fn one_byte(bytes: Vec<u8>) -> Source {
    Source::custom(Misbehaving { bytes, kind: Kind::Short(1) })
}

/// Returns at most `most` bytes per read.
pub fn short_reads(bytes: Vec<u8>, most: usize) -> Source {
    Source::custom(Misbehaving { bytes, kind: Kind::Short(most.max(1)) })
}

/// Fails when a read reaches the byte at `offset`.
pub fn fails_at(bytes: Vec<u8>, offset: u64) -> Source {
    Source::custom(Misbehaving { bytes, kind: Kind::FailsAt(offset) })
}

/// Reports its full length but ends at `end`, like a file that was truncated after its length was read.
pub fn shrinks_to(bytes: Vec<u8>, end: u64) -> Source {
    Source::custom(Misbehaving { bytes, kind: Kind::ShrinksTo(end) })
}

struct Misbehaving {
    bytes: Vec<u8>,
    kind: Kind,
}

enum Kind {
    Short(usize),
    FailsAt(u64),
    ShrinksTo(u64),
}

impl ReadAt for Misbehaving {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len();
        let most = match self.kind {
            Kind::Short(most) => most,
            Kind::FailsAt(at) if offset >= at && offset < self.bytes.len() as u64 => {
                return Err(io::Error::other("the disk is on fire"));
            }
            Kind::FailsAt(end) | Kind::ShrinksTo(end) => end.saturating_sub(offset).try_into().unwrap_or(usize::MAX),
        };
        let Some(room) = buffer.get_mut(..wanted.min(most)) else { return Ok(0) };
        ReadAt::read_at(&self.bytes, offset, room)
    }
}
