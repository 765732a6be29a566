//! The compressed part of a file, as bytes that can be read front to back.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use flate2::{Decompress, FlushDecompress, Status};
use traceloom_core::{ErrorKind, Limits, ReadAt, Result, Source};

/// The wrapper around the deflate blocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wrapper {
    Gzip,
    Raw,
    Zlib,
}

impl Wrapper {
    /// Detects the wrapper from its first bytes, and the probable compression level.
    pub(crate) fn of(head: &[u8]) -> (Self, u8) {
        match head {
            [0x1f, 0x8b, 8, ..] => (Self::Gzip, 6),
            [method, flags, ..] if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) => {
                let level = match flags >> 6 {
                    0 => 1,
                    1 => 5,
                    2 => 6,
                    _ => 9,
                };
                (Self::Zlib, level)
            }
            // Too short to tell: it is truncated.
            [] | [_] => (Self::Zlib, 6),
            _ => (Self::Raw, 6),
        }
    }

    fn inflate(self) -> Decompress {
        match self {
            Self::Gzip => Decompress::new_gzip(15),
            Self::Raw => Decompress::new(false),
            Self::Zlib => Decompress::new(true),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Raw => "raw deflate",
            Self::Zlib => "zlib",
        }
    }
}

/// How the compressed part ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    /// Without problems; the next byte of the file is at this offset.
    Complete(u64),
    /// With a wrong checksum, but all data is there.
    Checksum(u64),
    Damaged(String),
    Truncated,
}

/// A handle to the inflater; its bytes are a [`Source`] that a window can move over, forward only.
#[derive(Clone)]
pub(crate) struct Inflater(Arc<Mutex<State>>);

struct State {
    source: Source,
    wrapper: Wrapper,
    /// Offset of the compressed part in the file.
    begin: u64,
    /// Offset of the next compressed bytes in the file.
    offset: u64,
    input: Vec<u8>,
    /// Start of the part of `input` that is not inflated yet.
    start: usize,
    end: usize,
    inflate: Decompress,
    produced: u64,
    /// Bytes before the damage, the last first.
    salvaged: Vec<u8>,
    outcome: Option<Outcome>,
    bounds: Bounds,
}

/// How much may be unpacked.
#[derive(Clone, Copy)]
struct Bounds {
    /// Output bytes per input byte.
    ratio: u64,
    /// Output bytes in total.
    bytes: u64,
}

const INPUT_BYTES: usize = 64 << 10;
/// Deflate can reach twice this; no profile does, and each byte may be a record.
const MAX_RATIO: u64 = 500;
/// The ratio is checked whenever this many bytes have been produced.
const CHECKED_BYTES: u64 = 64 << 10;
/// This many bytes may be produced at any ratio.
const FREE_BYTES: u64 = 1 << 20;

impl Inflater {
    pub(crate) fn new(source: Source, offset: u64, wrapper: Wrapper, limits: &Limits) -> Result<Self> {
        let bounds = Bounds { ratio: limits.ratio.min(MAX_RATIO), bytes: source.max_unpacked(limits)? };
        Ok(Self(Arc::new(Mutex::new(State::new(source, offset, wrapper, bounds)))))
    }

    pub(crate) fn source(&self) -> Source {
        Source::custom(self.clone())
    }

    /// How it ended, once everything has been read.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.lock().outcome.clone()
    }

    /// Number of bytes produced so far.
    pub(crate) fn produced(&self) -> u64 {
        self.lock().produced
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(source: Source, begin: u64, wrapper: Wrapper, bounds: Bounds) -> Self {
        Self {
            source,
            wrapper,
            begin,
            offset: begin,
            input: vec![0; INPUT_BYTES],
            start: 0,
            end: 0,
            inflate: wrapper.inflate(),
            produced: 0,
            salvaged: Vec::new(),
            outcome: None,
            bounds,
        }
    }

    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if matches!(self.outcome, Some(Outcome::Damaged(_))) {
            return Ok(self.read_salvaged(output));
        }
        while self.outcome.is_none() && !output.is_empty() {
            if self.start == self.end {
                self.refill()?;
            }
            // The ratio is checked at the same offsets, however much is requested at a time.
            let room = output.len().min((CHECKED_BYTES - self.produced % CHECKED_BYTES) as usize);
            let produced = self.step(output.get_mut(..room).unwrap_or_default());
            if matches!(self.outcome, Some(Outcome::Damaged(_))) {
                self.salvage(room)?;
            }
            if self.outcome.is_none() && self.produced.is_multiple_of(CHECKED_BYTES) {
                self.outcome = self.excess().map(Outcome::Damaged);
            }
            if produced > 0 {
                return Ok(produced);
            }
        }
        Ok(self.read_salvaged(output))
    }

    /// The bound that is exceeded, if any.
    fn excess(&self) -> Option<String> {
        let Bounds { ratio, bytes } = self.bounds;
        if self.produced > self.inflate.total_in().saturating_mul(ratio).max(FREE_BYTES) {
            return Some(format!("it grows more than {ratio} times"));
        }
        (self.produced > bytes).then(|| Limits::UNPACKS_TOO_MUCH.to_owned())
    }

    /// The inflater stops some bytes early when it has much room; with room for one byte, it returns everything there
    /// is.
    fn salvage(&mut self, max: usize) -> io::Result<()> {
        let mut again = Self::new(self.source.clone(), self.begin, self.wrapper, self.bounds);
        let mut scratch = vec![0; INPUT_BYTES];
        while again.outcome.is_none() && again.produced < self.produced {
            let left = usize::try_from(self.produced - again.produced).unwrap_or(usize::MAX);
            if again.start == again.end {
                again.refill()?;
            }
            again.step(scratch.get_mut(..left.min(INPUT_BYTES)).unwrap_or_default());
        }
        while again.outcome.is_none() && self.salvaged.len() < max {
            if again.start == again.end {
                again.refill()?;
            }
            let mut byte = [0];
            let produced = again.step(&mut byte);
            self.salvaged.extend_from_slice(byte.get(..produced).unwrap_or_default());
        }
        self.salvaged.reverse();
        // The first reason is the true one; a second call only says that there was one.
        if let Some(Outcome::Damaged(_)) = again.outcome {
            self.outcome = again.outcome;
        }
        Ok(())
    }

    fn read_salvaged(&mut self, output: &mut [u8]) -> usize {
        let mut read = 0;
        for (to, from) in output.iter_mut().zip(std::iter::from_fn(|| self.salvaged.pop())) {
            *to = from;
            read += 1;
        }
        self.produced += read as u64;
        read
    }

    fn refill(&mut self) -> io::Result<()> {
        let read = self.source.read_at(self.offset, &mut self.input).map_err(|error| match error.kind() {
            ErrorKind::Io(cause) => io::Error::new(cause.kind(), error.to_string()),
            _ => io::Error::other(error.to_string()),
        })?;
        self.offset += read as u64;
        (self.start, self.end) = (0, read);
        Ok(())
    }

    /// Inflates once; returns how many bytes were produced.
    fn step(&mut self, output: &mut [u8]) -> usize {
        let (consumed_before, produced_before) = (self.inflate.total_in(), self.inflate.total_out());
        let input = self.input.get(self.start..self.end).unwrap_or_default();
        let at_end = input.is_empty();
        let result = self.inflate.decompress(input, output, FlushDecompress::None);
        let consumed = (self.inflate.total_in() - consumed_before) as usize;
        let produced = (self.inflate.total_out() - produced_before) as usize;
        self.start += consumed;
        self.produced += produced as u64;
        let next = self.offset - (self.end - self.start) as u64;
        match result {
            Ok(Status::StreamEnd) => self.outcome = Some(Outcome::Complete(next)),
            Ok(_) if at_end && produced == 0 => self.outcome = Some(Outcome::Truncated),
            Ok(_) => {}
            Err(error) if error.message() == Some("incorrect data check") => {
                self.outcome = Some(Outcome::Checksum(next));
            }
            Err(error) => self.outcome = Some(Outcome::Damaged(error.to_string())),
        }
        produced
    }
}

impl ReadAt for Inflater {
    fn len(&self) -> io::Result<u64> {
        Ok(self.produced())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.lock();
        if offset != state.produced {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "compressed data is read front to back only"));
        }
        state.read(buffer)
    }
}

impl std::fmt::Debug for Inflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.lock();
        f.debug_struct("Inflater").field("produced", &state.produced).field("outcome", &state.outcome).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::ZlibEncoder};

    use super::*;

    /// The bytes produced through a buffer of this size, and how it ends.
    fn inflated(bytes: &[u8], buffer: usize) -> (u64, Option<Outcome>) {
        let limits = Limits::with(|limits| limits.ratio = 100);
        let inflater = Inflater::new(Source::bytes(bytes), 0, Wrapper::Zlib, &limits).unwrap();
        let mut buffer = vec![0; buffer];
        while inflater.read_at(inflater.produced(), &mut buffer).unwrap() > 0 {}
        (inflater.produced(), inflater.outcome())
    }

    #[test]
    fn what_grows_too_much_ends_in_the_same_place_through_any_buffer() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![7; 8 << 20]).unwrap();
        let bytes = encoder.finish().unwrap();
        let (produced, outcome) = inflated(&bytes, 1 << 20);
        assert!(produced < 8 << 20 && matches!(outcome, Some(Outcome::Damaged(_))), "{produced}");
        for buffer in [1, 42, 1000, 65_537] {
            assert_eq!(inflated(&bytes, buffer).0, produced, "{buffer}");
        }
    }
}
