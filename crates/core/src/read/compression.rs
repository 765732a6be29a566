//! Removes gzip, zstd and lz4 compression from a source, within limits.

use std::{
    fmt,
    io::{self, BufReader, Read},
};

use crate::{
    Data, Error, Finding, Findings, Limits, Mode, Position, ReadAt, Result, Rule, Severity, Source,
    spill::{Temporary, temporary},
};

/// A compression that may be applied to a file of any format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compression {
    /// RFC 1952, one member or several.
    Gzip,
    /// LZ4 frames.
    Lz4,
    /// RFC 8878, one frame or several.
    Zstd,
}

impl Compression {
    /// Recognizes a compression by its first bytes.
    pub fn sniff(prefix: &[u8]) -> Option<Self> {
        match prefix {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            _ => None,
        }
    }

    /// The file name extension, which is also the name of the compression.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
        }
    }

    fn decoder(self, input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let input = BufReader::with_capacity(64 << 10, input);
        match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Lz4 => Box::new(Lz4Frames(Some(lz4_flex::frame::FrameDecoder::new(input)))),
            Self::Zstd => Box::new(ZstdFrames { input: Some(input), frame: None }),
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The compressed bytes end early or are damaged; everything decompressed before that is read.
pub(crate) static DAMAGED: Rule = Rule {
    code: "bytes.compressed-damage",
    severity: Severity::Error,
    data: Data::Missing,
    message: "the {compression} data is truncated or damaged ({reason}); {bytes} decompressed bytes are read",
};

/// A source with its compression removed.
#[derive(Debug)]
pub struct Peeled {
    /// The decompressed bytes.
    pub source: Source,
    /// The layers that were removed, the outermost first.
    pub layers: Vec<Compression>,
    /// Damage in the compressed data.
    pub findings: Findings,
}

/// More layers than anyone creates on purpose.
const MAX_LAYERS: usize = 3;

/// Size of the prefix that is examined before the rest is decompressed.
const PREFIX_BYTES: usize = 64 << 10;

/// Removes every compression from `source`, into an unlinked temporary file.
///
/// `look` gets the first decompressed bytes and may refuse them before any others are decompressed.
pub fn peel(source: Source, mode: Mode, limits: &Limits, look: impl FnOnce(&[u8]) -> Result<()>) -> Result<Peeled> {
    let (mut layers, findings) = (Vec::new(), Findings::new(mode, limits));
    let Some(outermost) = Compression::sniff(&source.prefix(4)?) else {
        return Ok(Peeled { source, layers, findings });
    };
    let most = source.max_unpacked(limits)?.min(limits.spool_bytes);
    let mut decoded = Decoded::new(Box::new(source.stream()), outermost, most);
    layers.push(outermost);
    while let Some(layer) = Compression::sniff(&decoded.prefix) {
        if layers.len() == MAX_LAYERS {
            return Err(Error::limit("layers of compression", MAX_LAYERS as u64 + 1, MAX_LAYERS as u64));
        }
        decoded = Decoded::new(Box::new(decoded), layer, most);
        layers.push(layer);
    }
    look(&decoded.prefix)?;
    let (file, findings) = decoded.spool(&layers, findings)?;
    let stored_len = source.0.stored_len()?;
    Ok(Peeled { source: Source::custom(Unpacked { file, stored_len }), layers, findings })
}

/// Decompressed bytes, and the length that they had before.
struct Unpacked {
    file: Temporary,
    stored_len: u64,
}

impl ReadAt for Unpacked {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(offset, buffer)
    }

    fn stored_len(&self) -> io::Result<u64> {
        Ok(self.stored_len)
    }
}

/// The bytes of one layer, whose first bytes have already been examined.
struct Decoded {
    prefix: Vec<u8>,
    /// Bytes of the prefix that were passed on.
    taken: usize,
    decoder: Box<dyn Read + Send>,
    /// Why the decoder stopped, until the error is passed on.
    failure: Option<io::Error>,
    total: u64,
    most: u64,
}

impl Decoded {
    fn new(input: Box<dyn Read + Send>, layer: Compression, most: u64) -> Self {
        let mut decoder = layer.decoder(input);
        let mut prefix = Vec::new();
        #[expect(clippy::disallowed_methods, reason = "the length is bounded")]
        let failure = decoder.by_ref().take(PREFIX_BYTES as u64).read_to_end(&mut prefix).err();
        Self { prefix, taken: 0, decoder, failure, total: 0, most }
    }

    fn spool(mut self, layers: &[Compression], mut findings: Findings) -> Result<(Temporary, Findings)> {
        let mut file = temporary::create()?;
        let mut buffer = vec![0; 256 << 10];
        let mut total = 0;
        loop {
            match self.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => temporary::append(&mut file, buffer.get(..read).unwrap_or_default())?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_too_much(&error) => {
                    return Err(Error::limit("decompressed data", self.most.saturating_add(1), self.most));
                }
                Err(error) => {
                    let names: Vec<_> = layers.iter().map(|layer| layer.as_str()).collect();
                    let damage = Finding::new(&DAMAGED, Position::at(total)).with("compression", names.join(" in "));
                    findings.report(damage.with("reason", error.to_string()).with("bytes", total))?;
                    break;
                }
            }
            total = self.total;
        }
        Ok((file, findings))
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match self.prefix.get(self.taken..) {
            Some(mut rest) if !rest.is_empty() => {
                let read = rest.read(buffer)?;
                self.taken += read;
                read
            }
            _ => match self.failure.take() {
                Some(failure) => return Err(failure),
                None => self.decoder.read(buffer)?,
            },
        };
        self.total += read as u64;
        if self.total > self.most { Err(io::Error::other(TooMuch)) } else { Ok(read) }
    }
}

/// The decompressed bytes exceed the limit.
#[derive(Debug)]
struct TooMuch;

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too much decompressed data")
    }
}

impl std::error::Error for TooMuch {}

/// Decoders wrap the errors of their input.
fn is_too_much(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if error.is::<TooMuch>() || inner.is_some_and(|inner| inner.is::<TooMuch>()) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A decoder for one frame, called again while another frame follows.
struct Lz4Frames<R: Read>(Option<lz4_flex::frame::FrameDecoder<R>>);

impl<R: io::BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(decoder) = &mut self.0 else { return Ok(0) };
            let read = decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if let Some(decoder) = self.0.take() {
                let mut input = decoder.into_inner();
                if !input.fill_buf()?.is_empty() {
                    self.0 = Some(lz4_flex::frame::FrameDecoder::new(input));
                }
            }
        }
    }
}

type ZstdFrame<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

struct ZstdFrames<R: Read> {
    input: Option<R>,
    frame: Option<ZstdFrame<R>>,
}

impl<R: io::BufRead> ZstdFrames<R> {
    /// Starts the next frame, skipping skippable ones; returns false at the end of the input.
    fn next_frame(&mut self) -> io::Result<bool> {
        let Some(mut input) = self.input.take().or_else(|| self.frame.take().map(ZstdFrame::into_inner)) else {
            return Ok(false);
        };
        while let [magic @ 0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] = input.fill_buf()? {
            let _ = magic;
            let mut head = [0; 8];
            input.read_exact(&mut head)?;
            let [_, _, _, _, a, b, c, d] = head;
            let length = u64::from(u32::from_le_bytes([a, b, c, d]));
            io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        }
        if input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        self.frame = Some(ZstdFrame::new(input).map_err(io::Error::other)?);
        Ok(true)
    }
}

impl<R: io::BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let read = frame.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            if !self.next_frame()? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn peel(source: Source, mode: Mode, limits: &Limits) -> Result<Peeled> {
        super::peel(source, mode, limits, |_| Ok(()))
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn lz4(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn content(peeled: &Peeled) -> Vec<u8> {
        peeled.source.prefix(16 << 20).unwrap()
    }

    #[test]
    fn every_compression_is_peeled_also_twice_and_in_frames() {
        let text = b"the quick brown fox ".repeat(1000);
        let (head, tail) = text.split_at(777);
        for compress in [gzip, zstd, lz4] {
            let once = compress(&text);
            let twice = gzip(&once);
            let frames = [compress(head), compress(tail)].concat();
            for (bytes, layers) in [(once, 1), (twice, 2), (frames, 1)] {
                let peeled = peel(Source::bytes(bytes), Mode::Strict, &Limits::default()).unwrap();
                assert_eq!(peeled.layers.len(), layers);
                assert_eq!(content(&peeled), text);
            }
        }
    }

    #[test]
    fn cut_data_gives_what_came_before_and_a_finding() {
        let text: Vec<u8> = (0..2_000_000u32).flat_map(u32::to_le_bytes).collect();
        for compress in [gzip, zstd, lz4] {
            let mut bytes = compress(&text);
            bytes.truncate(bytes.len() * 3 / 4);
            let peeled = peel(Source::bytes(bytes.clone()), Mode::Lenient, &Limits::default()).unwrap();
            assert_eq!(peeled.findings.worst(), Some(Severity::Error));
            assert!(text.starts_with(&content(&peeled)));
            assert!(content(&peeled).len() > text.len() / 4, "{}", content(&peeled).len());
            assert!(peel(Source::bytes(bytes), Mode::Strict, &Limits::default()).is_err());
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let limits = Limits { spool_bytes: 1 << 20, ..Limits::default() };
        for compress in [gzip, zstd, lz4] {
            let bomb = compress(&vec![0; 4 << 20]);
            let error = peel(Source::bytes(bomb), Mode::Lenient, &limits).unwrap_err();
            assert!(error.to_string().contains("decompressed data"), "{error}");
        }
    }

    #[test]
    fn the_ratio_holds_over_all_layers() {
        // 80 MB of zeros in three layers are a few hundred bytes: each single layer stays below the ratio.
        let bomb = gzip(&gzip(&gzip(&vec![0; 80 << 20])));
        assert!(bomb.len() < 50_000, "{}", bomb.len());
        let error = peel(Source::bytes(bomb), Mode::Lenient, &Limits::default()).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Limit { what: "decompressed data", .. }), "{error}");
        // Deflate reaches 1,032: a higher bound would have no effect.
        assert!(Limits::default().ratio < 1032);
    }

    #[test]
    fn the_bound_for_what_is_inside_is_that_of_the_stored_bytes() {
        let bytes = gzip(&gzip(&vec![0; 1 << 20]));
        let limits = Limits::with(|limits| limits.ratio = 1 << 20);
        let most = bytes.len() as u64 * limits.ratio;
        assert!(most > Limits::RATIO_FREE_BYTES, "{most}");
        let peeled = peel(Source::bytes(bytes), Mode::Strict, &limits).unwrap();
        let handles = [peeled.source.watched(|_| {}), peeled.source.clone().with_companion(Source::bytes([]))];
        for source in handles {
            assert_eq!(source.max_unpacked(&limits).unwrap(), most);
            assert_eq!(source.max_unpacked(&Limits::default()).unwrap(), Limits::RATIO_FREE_BYTES);
        }
    }

    #[test]
    fn the_first_bytes_decide_before_the_rest_is_decompressed() {
        let bytes = gzip(&gzip(&b"not a trace ".repeat(100_000)));
        let refuse = |prefix: &[u8]| {
            assert!(prefix.starts_with(b"not a trace "));
            Err(Error::unrecognized("not a trace"))
        };
        // A limit that the rest would exceed.
        let limits = Limits { spool_bytes: 100_000, ..Limits::default() };
        let error = super::peel(Source::bytes(bytes), Mode::Lenient, &limits, refuse).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Unrecognized(_)), "{error}");
    }
}
