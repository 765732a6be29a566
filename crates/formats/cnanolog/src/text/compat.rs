//! The text of CNanoLog's decompressor, byte for byte, including its mistakes.
//!
//! The decompressor ignores the start's nanoseconds, flags, widths, precisions and all but one letter of a conversion,
//! looks sites up by index, treats arguments that fail its loose test as raw, cuts messages at 2047 and lines at 4094
//! bytes, and reads what an earlier entry left in its buffer when arguments are too short.

use traceloom_core::{Records, civil};

use super::{Pattern, Token, pattern};
use crate::{
    Dictionary, Entry, Form, Header, Reader, Record, Site,
    args::packing::original_packed,
    printf,
    raw::{ArgType, CNANOLOG_MAX_ENTRY_SIZE, SLOTS_DOCUMENT},
    text::{NO_TIMESTAMP, Stamp, Zone},
};
use traceloom_core::ByteOrder;

/// The decompressor's default pattern.
const DEFAULT: &[u8] = b"[%t] [%l] [%f:%L] %m";
/// Maximum size of a message in the decompressor, without the NUL.
const MAX_MESSAGE: usize = 2047;
/// Maximum size of a line in the decompressor, without the NUL.
const MAX_LINE: usize = 4095;
/// Maximum number of level filters in the decompressor.
const MAX_FILTERS: usize = 64;

/// Prints like CNanoLog's decompressor.
#[derive(Debug)]
pub struct Compat {
    pattern: Pattern,
    header: Header,
    /// Whether the decompressor of the time did not know packed arguments.
    is_raw_only: bool,
    filter: Vec<u8>,
    stamp: Stamp,
    printed: u32,
    /// Its argument buffer, where short entries find the rest of longer ones.
    buffer: Vec<u8>,
    unpacked: Vec<u8>,
    message: Vec<u8>,
}

/// Whether the decompressor continues.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Step {
    /// With the next record.
    Continue,
    /// It has printed as many entries as the header counts.
    Done,
    /// It gives up, with this message.
    Fails(String),
}

impl Compat {
    /// Prints a file with the default pattern, or with that of `-f`.
    pub fn new(reader: &Reader, format: Option<&[u8]>, zone: Zone) -> Self {
        let header = reader.header().clone();
        let prefers_raw =
            |dictionary: &Dictionary| dictionary.prefers() == Form::Raw && dictionary.slots() == SLOTS_DOCUMENT;
        Self {
            pattern: Pattern::decompressor(format.unwrap_or(DEFAULT)),
            is_raw_only: header.flags == 0 && reader.dictionary().is_some_and(prefers_raw),
            header,
            filter: Vec::new(),
            stamp: Stamp::new(zone),
            printed: 0,
            buffer: vec![0; CNANOLOG_MAX_ENTRY_SIZE],
            unpacked: Vec::new(),
            message: Vec::new(),
        }
    }

    /// The filter of `-l`: names separated by commas, in any case. Returns the names that the decompressor ignores with
    /// a warning.
    pub fn filter(&mut self, names: &str, dictionary: &Dictionary) -> Vec<String> {
        let mut ignored = Vec::new();
        for name in names.split(',').filter(|name| !name.is_empty()) {
            let name = name.trim_matches([' ', '\t']);
            let builtin = (0..4).find(|level| {
                dictionary.numbering().name(*level).is_some_and(|known| known.eq_ignore_ascii_case(name))
            });
            let custom = || {
                let is_it = |(_, known): &(u8, &[u8])| until_nul(known).eq_ignore_ascii_case(name.as_bytes());
                dictionary.levels().find(is_it).map(|(level, _)| level)
            };
            match builtin.or_else(custom) {
                // 255 is its value for "no such level".
                None | Some(255) => ignored.push(name.to_owned()),
                Some(level) if self.filter.len() < MAX_FILTERS => self.filter.push(level),
                Some(_) => {}
            }
        }
        ignored
    }

    /// Appends the line of a record, if it has one.
    pub fn put(&mut self, record: &Record<'_>, out: &mut Vec<u8>) -> Step {
        if self.header.dictionary_offset == 0 {
            return Step::Fails("Dictionary offset is 0 (not yet supported)".to_owned());
        }
        if self.printed == self.header.entry_count {
            return Step::Done;
        }
        let entry = match record {
            Record::Entry(entry) => entry,
            Record::Residue(_) => return Step::Fails("these bytes are not an entry of a known site".to_owned()),
            _ => return Step::Done,
        };
        let Some((dictionary, site)) = entry.dictionary().and_then(|all| Some((all, all.site(entry.id as usize)?)))
        else {
            let sites = entry.dictionary().map_or(0, Dictionary::len);
            let most = (sites as u32).wrapping_sub(1);
            return Step::Fails(format!("Invalid log_id {} (max {most})", entry.id));
        };
        self.printed += 1;
        if let Some(start) = self.buffer.get_mut(..entry.data.len()) {
            start.copy_from_slice(entry.data);
        }
        if !self.filter.is_empty() && !self.filter.contains(&site.level) {
            return Step::Continue;
        }
        self.render_message(entry, &site);
        self.put_line(entry, &site, dictionary, out);
        Step::Continue
    }

    fn render_message(&mut self, entry: &Entry<'_>, site: &Site<'_>) {
        let order = self.header.order;
        let codes: Vec<ArgType> = (0..site.num_args.into())
            .map(|slot| site.arg_types.get(slot).map_or(ArgType::NONE, |code| ArgType(*code)))
            .collect();
        let is_packed = !entry.data.is_empty() && !self.is_raw_only && self.unpack(&codes, entry.data);
        let memory = if is_packed { &self.unpacked } else { &self.buffer };
        self.message.clear();
        message(until_nul(site.format), &codes, Memory { bytes: memory, at: 0, order }, &mut self.message);
        let len = until_nul(&self.message).len();
        self.message.truncate(len);
    }

    /// Lays the arguments out raw, as the decompressor does before it formats them.
    fn unpack(&mut self, codes: &[ArgType], data: &[u8]) -> bool {
        let mut values = Vec::new();
        let Some(strings_at) =
            original_packed(codes, data, &mut |value, is_negative| values.push((value, is_negative)))
        else {
            return false;
        };
        let mut values = values.into_iter();
        let mut strings = data.get(strings_at..).unwrap_or_default();
        self.unpacked.clear();
        for code in codes {
            let Some(width) = code.width() else {
                let len = strings.first_chunk().map_or(0, |len| u32::from_le_bytes(*len)) as usize;
                let (taken, rest) = strings.split_at_checked(4 + len).unwrap_or((strings, &[]));
                self.unpacked.extend_from_slice(taken);
                strings = rest;
                continue;
            };
            let (value, is_negative) = values.next().unwrap_or_default();
            let value = if is_negative { value.wrapping_neg() } else { value };
            self.unpacked.extend(value.to_le_bytes().into_iter().take(width));
        }
        self.unpacked.len() <= CNANOLOG_MAX_ENTRY_SIZE
    }

    fn put_line(&mut self, entry: &Entry<'_>, site: &Site<'_>, dictionary: &Dictionary, out: &mut Vec<u8>) {
        let start = out.len();
        let ticks = entry.timestamp.unwrap_or(0);
        let elapsed = ticks.wrapping_sub(self.header.start_timestamp) as f64 / self.header.timestamp_frequency as f64;
        for token in self.pattern.tokens() {
            if out.len() - start >= MAX_LINE {
                break;
            }
            if let pattern::Token::Literal(text) = token {
                let room = MAX_LINE - (out.len() - start);
                out.extend(text.iter().take(room));
                continue;
            }
            let before = out.len();
            match token {
                Token::DateTime if entry.timestamp.is_none() => out.extend_from_slice(NO_TIMESTAMP.as_bytes()),
                Token::DateTime => put_time(&mut self.stamp, self.header.start_time_sec, elapsed, out),
                Token::Ticks => printf::put_decimal(ticks, false, out),
                // Zero divided by zero: the machine's NaN has its sign set.
                Token::Relative if elapsed.is_nan() => out.extend_from_slice(b"-nan"),
                Token::Relative => printf::put_fixed_point(elapsed, 9, out),
                Token::Level => put_level_name(dictionary, site.level, out),
                Token::File => out.extend_from_slice(until_nul(site.file)),
                Token::Line => printf::put_decimal(site.line.into(), false, out),
                _ => out.extend_from_slice(&self.message),
            }
            // Text that does not fit with its NUL is cut, and nothing comes after it.
            let room = MAX_LINE - (before - start);
            if out.len() - before >= room {
                out.truncate(before + room - 1);
                break;
            }
        }
        out.push(b'\n');
    }
}

fn put_level_name(dictionary: &Dictionary, level: u8, out: &mut Vec<u8>) {
    match dictionary.level_name(level) {
        Some(name) => out.extend_from_slice(until_nul(name)),
        // The releases that read 16 slots know no custom levels. One commit between releases knew both, and is assumed
        // only if the log has such levels.
        None if dictionary.slots() == SLOTS_DOCUMENT && dictionary.levels().next().is_none() => {
            out.extend_from_slice(b"UNKNOWN");
        }
        None => {
            out.extend_from_slice(b"LEVEL_");
            printf::put_decimal(level.into(), false, out);
        }
    }
}

/// Local time of the start's second plus whole elapsed seconds; the fraction is truncated, not rounded.
fn put_time(stamp: &mut Stamp, start: i64, elapsed: f64, out: &mut Vec<u8>) {
    let whole = elapsed as i64;
    let nanos = ((elapsed - whole as f64) * 1e9) as u64;
    let sec = start.saturating_add(whole);
    // Beyond this, the decompressor's calendar fails and it crashes.
    let is_sane = i32::try_from(civil(sec.div_euclid(86_400)).0).is_ok() && nanos < 1_000_000_000;
    if is_sane {
        stamp.put_date_time(crate::Moment { sec, nsec: nanos as u32 }, out);
    } else {
        out.extend_from_slice(NO_TIMESTAMP.as_bytes());
    }
}

/// The decompressor's buffer, read front to back; after its end, everything is zero.
struct Memory<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
}

impl<'a> Memory<'a> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut value = [0; N];
        for (to, from) in value.iter_mut().zip(self.bytes.get(self.at..).unwrap_or_default()) {
            *to = *from;
        }
        self.at += N;
        value
    }

    fn text(&mut self, len: usize, room: usize) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.at.saturating_add(len);
        rest.get(..len.min(room)).unwrap_or(rest)
    }
}

fn message(format: &[u8], codes: &[ArgType], mut memory: Memory<'_>, out: &mut Vec<u8>) {
    let mut codes = codes.iter();
    let mut left = format;
    while let Some((byte, rest)) = left.split_first()
        && out.len() < MAX_MESSAGE
    {
        if *byte != b'%' || rest.first() == Some(&b'%') {
            out.push(*byte);
            left = if *byte == b'%' { rest.get(1..).unwrap_or_default() } else { rest };
            continue;
        }
        let Some(code) = codes.next() else {
            out.push(b'%');
            left = rest;
            continue;
        };
        let letter = rest.iter().position(|byte| !b"-+ #0123456789.*".contains(byte)).unwrap_or(rest.len());
        left = rest.get(letter + 1..).unwrap_or_default();
        if !put_argument(*code, &mut memory, out) {
            return;
        }
        out.truncate(MAX_MESSAGE);
    }
}

/// Prints by the stored type; returns false if the decompressor crashes.
fn put_argument(code: ArgType, memory: &mut Memory<'_>, out: &mut Vec<u8>) -> bool {
    let order = memory.order;
    match code {
        ArgType::CHAR => out.push(memory.take::<1>()[0]),
        ArgType::INT32 => {
            let value = order.i32(memory.take());
            printf::put_decimal(value.unsigned_abs().into(), value < 0, out);
        }
        ArgType::INT64 => {
            let value = order.i64(memory.take());
            printf::put_decimal(value.unsigned_abs(), value < 0, out);
        }
        ArgType::UINT32 => printf::put_decimal(order.u32(memory.take()).into(), false, out),
        ArgType::UINT64 => printf::put_decimal(order.u64(memory.take()), false, out),
        ArgType::DOUBLE => printf::put_fixed_point(order.f64(memory.take()), 6, out),
        ArgType::STRING => {
            let len = order.u32(memory.take());
            // The length becomes a signed number and then a huge one.
            if i32::try_from(len).is_err() {
                return false;
            }
            let room = MAX_MESSAGE - out.len();
            out.extend_from_slice(memory.text(len as usize, room));
        }
        ArgType::POINTER => printf::put_address(order.u64(memory.take()), out),
        _ => {}
    }
    true
}

fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}
