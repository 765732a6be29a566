//! Distinguishes the real stream and the forms of Pynytprof's dialect.
//!
//! Both start with `NYTProf 5 0` and lines of text. What follows decides, because the line that names the producer can
//! be missing or wrong: a chain of chunks that ends exactly at the end of the file is not a coincidence, and neither is
//! a time of day between 1990 and 2100.

use traceloom_core::{ByteOrder, Error, Limits, Result, Source, Window};

use crate::{
    Nv, NvLayout,
    inflate::{Inflater, Wrapper},
    pynytprof::{self, plan::Part, raw::TimeField, tokens},
    raw::{MAGIC, get_integer},
};

/// The producer and the layout of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Dialect {
    /// The real stream of Devel::NYTProf.
    Nytprof,
    /// Pynytprof as documented: a process record of 17 bytes, then chunks.
    Document,
    /// Pynytprof with a length in the process record, 21 bytes, then chunks.
    LengthProcess,
    /// Pynytprof with process numbers of variable length, then chunks.
    VariableProcess,
    /// Pynytprof with only the contents of chunks, without tags and lengths.
    Bare,
    /// Pynytprof with the tags of chunks, without lengths.
    Tagged,
    /// Pynytprof's latest writer: a process record of 17 bytes, then records of the real stream.
    Tokens,
    /// Early Pynytprof: chunks without a process record.
    NoProcess,
    /// Before Pynytprof imitated NYTProf: the magic `NYTPROF\0`.
    Ancestor,
}

impl Dialect {
    /// Whether it is a form of Pynytprof.
    pub const fn is_pynytprof(self) -> bool {
        !matches!(self, Self::Nytprof)
    }

    /// The name of the dialect, in a few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nytprof => "NYTProf",
            Self::Document => "Pynytprof",
            Self::LengthProcess => "Pynytprof, process record with a length",
            Self::VariableProcess => "Pynytprof, process numbers of variable length",
            Self::Bare => "Pynytprof, chunks without tags and lengths",
            Self::Tagged => "Pynytprof, chunks without lengths",
            Self::Tokens => "Pynytprof, last writer",
            Self::NoProcess => "Pynytprof, early form without a process record",
            Self::Ancestor => "Pynytprof, binary ancestor",
        }
    }
}

/// The first bytes of Pynytprof's binary ancestor.
pub(crate) const ANCESTOR_MAGIC: &[u8] = b"NYTPROF\0";
/// The text that names Pynytprof in the comment; only a hint.
pub(crate) const PRODUCER: &[u8] = b"by Pynytprof";
/// Maximum size of the text before the first binary byte; no banner is nearly as long.
const MAX_BANNER: usize = 1 << 20;
/// 1990 to 2100.
const PLAUSIBLE: std::ops::Range<f64> = 631_152_000.0..4_102_444_800.0;

/// Whether this can be the time of a profile.
pub(crate) fn is_plausible(time: f64) -> bool {
    PLAUSIBLE.contains(&time)
}

/// Whether the bytes start like both dialects, or like the ancestor.
pub(crate) fn begins(prefix: &[u8]) -> bool {
    let rest = prefix.strip_prefix(MAGIC.trim_ascii_end());
    let is_line = rest.is_some_and(|rest| rest.trim_ascii_start().first().is_some_and(u8::is_ascii_digit));
    is_line || prefix.starts_with(ANCESTOR_MAGIC)
}

/// Determines the dialect of a file that starts like a profile.
pub fn dialect(source: &Source, limits: &Limits) -> Result<Dialect> {
    let look = Look { source, limits, length: true_len(source)?, is_whole: true };
    look.dialect()
}

/// Where the bytes of a file end. This is before its length if the file was truncated meanwhile, and the length of the
/// last chunk decides the dialect.
pub(crate) fn true_len(source: &Source) -> Result<u64> {
    let length = source.len()?;
    let is_there = |offset: u64| Ok::<_, Error>(source.read_full(offset, &mut [0])? == 1);
    if length == 0 || is_there(length - 1)? {
        return Ok(length);
    }
    let (mut there, mut gone) = (0, length - 1);
    while there < gone {
        let middle = there + (gone - there) / 2;
        if is_there(middle)? { there = middle + 1 } else { gone = middle }
    }
    Ok(gone)
}

/// Determines the dialect from the first bytes alone.
pub(crate) fn dialect_of_prefix(prefix: &[u8]) -> Dialect {
    let source = Source::bytes(prefix);
    let look = Look { source: &source, limits: &Limits::default(), length: prefix.len() as u64, is_whole: false };
    look.dialect().unwrap_or(Dialect::Nytprof)
}

struct Look<'a> {
    source: &'a Source,
    limits: &'a Limits,
    length: u64,
    is_whole: bool,
}

/// The text at the start of a file.
struct Banner {
    /// Offset of the first byte that is not text.
    end: usize,
    names_pynytprof: bool,
}

fn banner(bytes: &[u8]) -> Banner {
    let mut banner = Banner { end: 0, names_pynytprof: false };
    let mut is_first = true;
    while let Some(rest) = bytes.get(banner.end..) {
        if !is_first && !matches!(rest.first(), Some(b':' | b'!' | b'#' | b'\n')) {
            break;
        }
        is_first = false;
        let Some(line) = rest.split_inclusive(|byte| *byte == b'\n').next() else { break };
        if line.first() == Some(&b'#') && line.windows(PRODUCER.len()).any(|word| word == PRODUCER) {
            banner.names_pynytprof = true;
        }
        banner.end += line.len();
    }
    banner
}

/// The possible readings of the process record.
struct Process {
    /// As in the real stream: set if the time is plausible; true if the process numbers are, too.
    real: Option<bool>,
    /// As documented for Pynytprof: set if the time is plausible; true if the process numbers are, too.
    fixed: Option<bool>,
    /// The byte that follows in the second case.
    next: Option<u8>,
    /// Whether the file ends before the documented record does.
    is_cut: bool,
}

/// No system numbers processes higher by default.
pub(crate) const MAX_PID: u32 = 1 << 22;

impl Process {
    fn look(bytes: &[u8]) -> Self {
        let real = NvLayout::ALL.into_iter().filter_map(|layout| real_process(bytes, layout)).max();
        Self {
            real,
            fixed: fixed_process(bytes, real.is_some()),
            next: bytes.get(17).copied(),
            is_cut: bytes.len() < 17,
        }
    }

    /// The dialect, if the chain of chunks does not decide.
    fn dialect(&self, names_pynytprof: bool) -> Dialect {
        let fixed = match (self.fixed, self.next) {
            (Some(_), Some(b'S' | b'F' | b'D' | b'C' | b'E' | b'A' | b'T' | b'B')) => Some(Dialect::Document),
            (Some(_), Some(b'@' | b'p' | b'+')) => Some(Dialect::Tokens),
            (Some(_), Some(6 | 8 | 9 | 13)) if names_pynytprof => Some(Dialect::Tokens),
            (Some(_), None) if names_pynytprof => Some(Dialect::Document),
            _ => None,
        };
        match (self.real, fixed) {
            // Numbers that start with e0 to fe in one reading have the same length in the other.
            (Some(real_pids), Some(dialect)) if Some(real_pids) != self.fixed => {
                if real_pids {
                    Dialect::Nytprof
                } else {
                    dialect
                }
            }
            (Some(_), Some(dialect)) if names_pynytprof => dialect,
            (Some(_), _) => Dialect::Nytprof,
            (None, Some(Dialect::Document)) if !names_pynytprof => Dialect::Nytprof,
            // One byte more or less in a damaged real record puts its time where the other reading has it.
            (None, Some(_)) if self.fixed == Some(false) && !names_pynytprof => Dialect::Nytprof,
            (None, Some(dialect)) => dialect,
            // After the tool's comment, part of a process record is one of Pynytprof's.
            (None, None) if self.is_cut && names_pynytprof => Dialect::Document,
            (None, None) => Dialect::Nytprof,
        }
    }
}

fn real_process(bytes: &[u8], layout: NvLayout) -> Option<bool> {
    let pid = get_integer(bytes.get(1..)?)?;
    let ppid = get_integer(bytes.get(1 + pid.len..)?)?;
    let time = Nv::take(bytes.get(1 + pid.len + ppid.len..)?, layout)?.value();
    let are_likely = pid.value.max(ppid.value) <= MAX_PID && !pid.is_padded && !ppid.is_padded;
    is_plausible(time).then_some(are_likely)
}

fn fixed_process(bytes: &[u8], is_real: bool) -> Option<bool> {
    let process = pynytprof::Process::decode(*bytes.get(1..)?.first_chunk()?);
    let is_it = is_plausible(process.time) && !(process.time_field != TimeField::Last && is_real);
    is_it.then_some(process.pid.max(process.ppid) <= MAX_PID)
}

impl Look<'_> {
    fn dialect(&self) -> Result<Dialect> {
        let prefix = self.source.prefix(MAX_BANNER.min(usize::try_from(self.length).unwrap_or(usize::MAX)))?;
        if prefix.starts_with(ANCESTOR_MAGIC) {
            return Ok(Dialect::Ancestor);
        }
        let banner = banner(&prefix);
        let rest = prefix.get(banner.end..).unwrap_or_default();
        match rest.first() {
            Some(b'z') => self.compressed(banner.end as u64 + 1, &banner),
            Some(b'P') => self.process(rest, banner.end as u64, &banner),
            Some(b'S' | b'F' | b'D' | b'C' | b'E' | b'A' | b'T')
                if self.chunks_end(self.source, banner.end as u64)? =>
            {
                Ok(Dialect::NoProcess)
            }
            Some(b'F' | b'D' | b'C' | b'E' | b'A' | b'T') if banner.names_pynytprof => Ok(Dialect::NoProcess),
            None if banner.names_pynytprof => Ok(Dialect::Document),
            _ => Ok(Dialect::Nytprof),
        }
    }

    fn process(&self, rest: &[u8], at: u64, banner: &Banner) -> Result<Dialect> {
        let found = Process::look(rest);
        if self.chunks_end(self.source, at + 17)? {
            return Ok(Dialect::Document);
        }
        if rest.get(1..5) == Some(&[16, 0, 0, 0]) && self.chunks_end(self.source, at + 21)? {
            return Ok(Dialect::LengthProcess);
        }
        if let Some((_, len)) = tokens::process(rest)
            && self.chunks_end(self.source, at + len as u64)?
        {
            return Ok(Dialect::VariableProcess);
        }
        if found.fixed.is_some() && (found.real.is_none() || banner.names_pynytprof) {
            if let Some(dialect) = self.without_lengths(at + 17)? {
                return Ok(dialect);
            }
            // A truncated file shows only how it starts: with the number of its first file, or a record about it.
            if found.real.is_none() && banner.names_pynytprof && matches!(found.next, Some(1 | 2)) {
                return Ok(Dialect::Bare);
            }
        }
        if found.real.is_none() && found.fixed.is_none() && rest.get(1..5) == Some(&[16, 0, 0, 0]) {
            let fields = rest.get(5..).and_then(|fields| fields.first_chunk());
            let process = fields.map(|fields| pynytprof::Process::decode(*fields));
            if process.is_some_and(|process| is_plausible(process.time)) && banner.names_pynytprof {
                return Ok(Dialect::LengthProcess);
            }
        }
        Ok(found.dialect(banner.names_pynytprof))
    }

    /// Files of a few commits: some records of the real stream, then chunks whose ends follow only from their contents.
    fn without_lengths(&self, start: u64) -> Result<Option<Dialect>> {
        let part = Part { source: self.source, limits: self.limits, start, end: self.length };
        let tokens_end = part.tokens_end()?;
        let rest = Part { start: tokens_end, ..part };
        Ok(if tokens_end > start && self.chunks_end(self.source, tokens_end)? {
            Some(Dialect::Document)
        } else if rest.bare()?.is_whole {
            Some(Dialect::Bare)
        } else if rest.tagged()?.is_whole {
            Some(Dialect::Tagged)
        } else {
            None
        })
    }

    /// The same inside zlib, which Pynytprof's documentation plans.
    fn compressed(&self, at: u64, banner: &Banner) -> Result<Dialect> {
        let mut head = [0; 3];
        let filled = self.source.read_full(at, &mut head)?;
        let (wrapper, _) = Wrapper::of(head.get(..filled).unwrap_or_default());
        let inflater = Inflater::new(self.source.clone(), at, wrapper, self.limits)?;
        let mut window = Window::new(inflater.source(), self.limits);
        let rest = window.fill(64)?;
        if rest.first() != Some(&b'P') {
            return Ok(Dialect::Nytprof);
        }
        let found = Process::look(rest);
        // The chunks decide if they can; a stream that is clearly real is not walked through.
        if found.fixed.is_some() || found.real.is_none() {
            window.consume(17);
            if self.walk(&mut window, false)? {
                return Ok(Dialect::Document);
            }
        }
        Ok(found.dialect(banner.names_pynytprof))
    }

    /// Whether a chain of chunks starts here and ends, with a terminator, exactly at the end of the file.
    fn chunks_end(&self, source: &Source, at: u64) -> Result<bool> {
        // Only the five bytes at the head of each chunk are needed.
        let limits = self.limits.clone().but(|limits| limits.window_bytes = 16);
        let mut window = Window::new(source.clone(), &limits);
        window.seek(at);
        self.walk(&mut window, true)
    }

    fn walk(&self, window: &mut Window, is_positional: bool) -> Result<bool> {
        let mut last = 0;
        loop {
            let head = window.fill(5)?;
            let [tag, length @ ..] = match (head.first_chunk::<5>(), head.first()) {
                (Some(head), _) => *head,
                // Some commits wrote the last tag without its length.
                (None, Some(b'E')) if head.len() == 1 && last != 0 => return Ok(true),
                (None, None) => return Ok(last == b'E' || !self.is_whole && last != 0),
                (None, Some(_)) => return Ok(!self.is_whole && last != 0),
            };
            if !matches!(tag, b'S' | b'F' | b'D' | b'C' | b'E' | b'A' | b'T' | b'B') {
                return Ok(false);
            }
            last = tag;
            let length = u64::from(ByteOrder::Little.u32(length));
            if is_positional {
                let next = window.offset() + 5 + length;
                if next > self.length {
                    return Ok(!self.is_whole);
                }
                window.seek(next);
            } else if !skip(window, length + 5)? {
                return Ok(false);
            }
        }
    }
}

/// Moves on by reading, for sources that cannot seek; returns false if the bytes end before.
fn skip(window: &mut Window, mut length: u64) -> Result<bool> {
    while length > 0 {
        let available = window.fill(1)?.len();
        if available == 0 {
            return Ok(false);
        }
        let step = usize::try_from(length).unwrap_or(usize::MAX).min(available);
        window.consume(step);
        length -= step as u64;
    }
    Ok(true)
}
