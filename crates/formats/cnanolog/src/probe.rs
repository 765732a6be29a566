//! Detects a file and reads its header.

use traceloom_core::{ByteOrder, Cursor, Error, Finding, Position, Result, Rule, Sniff, Source};

use crate::{
    Header, Numbering,
    findings::*,
    raw::{
        CNANOLOG_ENDIANNESS, CNANOLOG_FLAG_HAS_TIMESTAMPS, CNANOLOG_MAGIC, CNANOLOG_VERSION_MAJOR,
        CNANOLOG_VERSION_MINOR_CRC32, HEADER_BYTES, header_offset,
    },
};

/// Whether these first bytes look like a `.clog` file.
pub(crate) fn sniff(prefix: &[u8]) -> Sniff {
    match (has_magic(prefix), marked_order(prefix)) {
        (true, Some(_)) => Sniff::Yes,
        (true, None) => Sniff::Maybe,
        (false, _) if is_header_without_magic(prefix) => Sniff::Maybe,
        (false, _) => Sniff::No,
    }
}

/// Reads the header; missing bytes count as zero.
pub(crate) fn header(source: &Source) -> Result<Header> {
    let bytes = source.prefix(HEADER_BYTES)?;
    if !has_magic(&bytes) && !is_header_without_magic(&bytes) {
        let shown: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        return Err(Error::unrecognized(format!(
            "not a CNanoLog file: it starts with [{}], not with the magic 4f 4e 41 4e",
            shown.join(" ")
        ))
        .at(Position::at(0).field("magic")));
    }
    let mut padded = [0; HEADER_BYTES];
    for (to, from) in padded.iter_mut().zip(&bytes) {
        *to = *from;
    }
    let mut header = parse(&padded, guess_order(&padded))?;
    header.stored_bytes = bytes.len();
    Ok(header)
}

fn parse(bytes: &[u8; HEADER_BYTES], order: ByteOrder) -> Result<Header> {
    let mut cursor = Cursor::new(bytes, 0, order);
    let mut header = Header {
        magic: cursor.u32("magic")?,
        version_major: cursor.u16("version_major")?,
        version_minor: cursor.u16("version_minor")?,
        timestamp_frequency: cursor.u64("timestamp_frequency")?,
        start_timestamp: cursor.u64("start_timestamp")?,
        start_time_sec: cursor.i64("start_time_sec")?,
        start_time_nsec: cursor.i32("start_time_nsec")?,
        endianness: cursor.u32("endianness")?,
        dictionary_offset: cursor.u64("dictionary_offset")?,
        entry_count: cursor.u32("entry_count")?,
        flags: cursor.u32("flags")?,
        reserved: *cursor.array("reserved")?,
        ..Header::new(order)
    };
    // Before 1.0.3 there were no flags, and always timestamps; only a clock of zero means that there are none.
    header.has_timestamps = header.flags & CNANOLOG_FLAG_HAS_TIMESTAMPS != 0
        || header.timestamp_frequency != 0
        || header.start_timestamp != 0;
    Ok(header)
}

/// How the levels of a file are numbered, according to the spelling of its magic.
pub(crate) fn guess_numbering(header: &Header) -> Numbering {
    let spelled_nano = header.has_swapped_magic() == (header.order == ByteOrder::Little);
    if spelled_nano { Numbering::Document } else { Numbering::Library }
}

/// Findings about the values of the header.
pub(crate) fn findings(header: &Header) -> Vec<Finding> {
    let mut found = Vec::new();
    if header.stored_bytes < HEADER_BYTES {
        found.push(at(&HEADER_CUT, header.stored_bytes, "").with("found", header.stored_bytes));
    }
    report_identity(header, &mut found);
    if header.reserved != [0; 8] && header.ids().is_none() {
        found.push(at(&RESERVED, header_offset::RESERVED, "reserved").with("what", "header"));
    }
    if header.flags & !header.known_flags() != 0 {
        found.push(at(&FLAGS, header_offset::FLAGS, "flags").with("found", hex(header.flags)));
    }
    if !(0..1_000_000_000).contains(&header.start_time_nsec) {
        let odd = at(&START_NANOSECONDS, header_offset::START_TIME_NSEC, "start_time_nsec");
        found.push(odd.with("found", header.start_time_nsec));
    }
    if header.has_timestamps && header.timestamp_frequency == 0 {
        found.push(at(&FREQUENCY, header_offset::TIMESTAMP_FREQUENCY, "timestamp_frequency"));
    }
    found
}

/// Magic, byte order and version.
fn report_identity(header: &Header, found: &mut Vec<Finding>) {
    if header.has_swapped_magic() {
        found.push(at(&DOCUMENT_MAGIC, header_offset::MAGIC, "magic"));
    } else if header.magic != CNANOLOG_MAGIC {
        found.push(at(&MAGIC, header_offset::MAGIC, "magic").with("found", hex(header.magic)));
    }
    if header.endianness != CNANOLOG_ENDIANNESS && header.stored_bytes >= header_offset::DICTIONARY_OFFSET {
        let odd = at(&ENDIANNESS, header_offset::ENDIANNESS, "endianness").with("found", hex(header.endianness));
        found.push(odd.with("order", header.order.as_str()));
    }
    if header.order == ByteOrder::Big {
        found.push(at(&BIG_ENDIAN, header_offset::ENDIANNESS, "endianness"));
    }
    let (major, minor) = (header.version_major, header.version_minor);
    if major != CNANOLOG_VERSION_MAJOR {
        found.push(at(&MAJOR_VERSION, header_offset::VERSION_MAJOR, "version_major").with("found", major));
    } else if minor > CNANOLOG_VERSION_MINOR_CRC32 {
        let newer = at(&MINOR_VERSION, header_offset::VERSION_MINOR, "version_minor");
        found.push(newer.with("major", major).with("minor", minor));
    }
}

fn at(rule: &'static Rule, offset: usize, field: &'static str) -> Finding {
    Finding::new(rule, Position::at(offset as u64).field(field))
}

fn hex(value: u32) -> String {
    format!("0x{value:08x}")
}

fn has_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(b"ONAN") || bytes.starts_with(b"NANO")
}

/// Whether the marker and the version identify the format without the magic.
fn is_header_without_magic(bytes: &[u8]) -> bool {
    let version = bytes.get(4..8);
    match marked_order(bytes) {
        Some(ByteOrder::Little) => matches!(version, Some([1, 0, 0..=3, 0])),
        Some(ByteOrder::Big) => matches!(version, Some([0, 1, 0, 0..=3])),
        None => false,
    }
}

fn marked_order(bytes: &[u8]) -> Option<ByteOrder> {
    match bytes.get(header_offset::ENDIANNESS..header_offset::DICTIONARY_OFFSET)? {
        [4, 3, 2, 1] => Some(ByteOrder::Little),
        [1, 2, 3, 4] => Some(ByteOrder::Big),
        _ => None,
    }
}

/// The marker decides; if it is missing or damaged, the version number does, then the magic.
fn guess_order(bytes: &[u8; HEADER_BYTES]) -> ByteOrder {
    let by_version = match bytes.get(header_offset::VERSION_MAJOR..header_offset::VERSION_MINOR) {
        Some([1, 0]) => Some(ByteOrder::Little),
        Some([0, 1]) => Some(ByteOrder::Big),
        _ => None,
    };
    let by_magic = if bytes.starts_with(b"NANO") { ByteOrder::Big } else { ByteOrder::Little };
    marked_order(bytes).or(by_version).unwrap_or(by_magic)
}
