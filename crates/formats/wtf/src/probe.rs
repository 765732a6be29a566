//! Detects a file and reads its header.

use std::io;

use traceloom_core::{
    ByteOrder, Cursor, Error, Finding, Findings, Limits, Options, Position, ReadAt, Result, Sniff, Source,
};

use crate::{
    Container, FileInfo, Header,
    containers::{Document, calls_header, legacy_header, looks_like_calls},
    findings::{FILE_SIZE, SHORT_FILE},
    raw::{
        CHUNK_FIXED, ChunkType, FILE_HEADER_BYTES, FORMAT_VERSION, LEGACY_VERSION, MAGIC, MIN_FILE_BYTES, PART_ENTRY,
        PartType,
    },
    read::Head,
    record::Part,
};

/// Size of the prefix that is enough to detect a file.
const PREFIX: usize = 64 << 10;
/// Maximum number of chunks that are searched for the file header; it is the first in every real file.
const CHUNKS_SEARCHED: usize = 4096;

pub(crate) fn sniff(prefix: &[u8]) -> Sniff {
    match magic(prefix) {
        Some(ByteOrder::Little | ByteOrder::Big) => return Sniff::Yes,
        None if is_json(prefix) => return sniff_json(prefix),
        None => {}
    }
    if looks_like_calls(prefix) { Sniff::Yes } else { Sniff::No }
}

fn sniff_json(prefix: &[u8]) -> Sniff {
    let holds = |word: &str| prefix.windows(word.len()).any(|window| window == word.as_bytes());
    let is_chunked = holds("\"wtfVersion\"") || holds("\"wtf_version\"");
    if is_chunked || holds("\"wtf.json#header\"") || holds("\"wtf.event#define\"") {
        return Sniff::Yes;
    }
    if holds("\"chunks\"") && (holds("\"file_header\"") || holds("\"event_data\"")) {
        return Sniff::Yes;
    }
    if holds("\"wtf.zone#create\"") { Sniff::Maybe } else { Sniff::No }
}

fn magic(prefix: &[u8]) -> Option<ByteOrder> {
    let word = *prefix.first_chunk()?;
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u32(word) == MAGIC)
}

fn is_json(prefix: &[u8]) -> bool {
    matches!(prefix.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// The readable part of the source: a file that was truncated after its length was read is a short file.
pub(crate) fn readable(source: Source) -> Result<Source> {
    let len = source.len()?;
    // A failing disk is detected when it is read.
    let ends_before = |at: u64| matches!(source.read_at(at, &mut [0]), Ok(0));
    if len == 0 || !ends_before(len - 1) {
        return Ok(source);
    }
    let (mut there, mut missing) = (0, len - 1);
    while there < missing {
        let middle = there + (missing - there) / 2;
        if ends_before(middle) { missing = middle } else { there = middle + 1 }
    }
    Ok(Source::custom(Cut { source, len: there }))
}

/// The start of a source.
struct Cut {
    source: Source,
    len: u64,
}

impl ReadAt for Cut {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let room = buffer.get_mut(..room).unwrap_or_default();
        self.source.read_at(offset, room).map_err(|error| io::Error::other(error.to_string()))
    }
}

/// Reads the header of a file of any kind.
pub(crate) fn header(source: &Source, findings: &mut Findings, options: &Options) -> Result<Header> {
    let prefix = source.prefix(PREFIX)?;
    match magic(&prefix) {
        Some(_) if prefix.len() < FILE_HEADER_BYTES => {
            let message = format!("the file ends inside its header, after {} bytes", prefix.len());
            Err(Error::unrecognized(message).at(Position::at(prefix.len() as u64)))
        }
        Some(ByteOrder::Little) => binary(source, &prefix, findings, &options.limits),
        Some(ByteOrder::Big) => legacy_header(source, findings),
        None if is_json(&prefix) => Document::header(source, options),
        None if looks_like_calls(&prefix) => calls_header(source, findings, &options.limits),
        None if prefix.is_empty() => Err(Error::unrecognized("the file is empty")),
        None => Err(Error::unrecognized("this is not a Web Tracing Framework file: it does not start with 0xDEADBEEF")),
    }
}

fn binary(source: &Source, prefix: &[u8], findings: &mut Findings, limits: &Limits) -> Result<Header> {
    let mut cursor = Cursor::new(prefix, 0, ByteOrder::Little);
    cursor.u32("magic")?;
    let wtf_version = cursor.u32("wtf version")?;
    let format_version = cursor.u32("format version")?;
    if format_version != FORMAT_VERSION {
        let position = Position::at(8).field("format version");
        let message = format!("the chunked format has version {format_version}; only {FORMAT_VERSION} is known");
        return Err(Error::unrecognized(message).at(position));
    }
    let bytes = source.len()?;
    if bytes < MIN_FILE_BYTES {
        findings.report(Finding::new(&SHORT_FILE, Position::at(0)).with("bytes", bytes))?;
    }
    if !bytes.is_multiple_of(4) {
        findings.report(Finding::new(&FILE_SIZE, Position::at(0)).with("bytes", bytes))?;
    }
    let mut header = Header::new(find_info(source, bytes, limits)?.unwrap_or_default());
    header.wtf_version = wtf_version.into();
    Ok(header)
}

/// The first file header, wherever it is; its problems are reported again when it is read in order.
fn find_info(source: &Source, file_end: u64, limits: &Limits) -> Result<Option<FileInfo>> {
    let mut offset = FILE_HEADER_BYTES as u64;
    for _ in 0..CHUNKS_SEARCHED {
        let mut bytes = [0; CHUNK_FIXED];
        if source.read_full(offset, &mut bytes)? < CHUNK_FIXED {
            return Ok(None);
        }
        let Some(head) = Head::parse(&bytes) else { return Ok(None) };
        if head.kind == ChunkType::FILE_HEADER {
            return info_in_chunk(source, offset, &head, file_end, limits);
        }
        if u64::from(head.length) < head.needed() {
            return Ok(None);
        }
        offset = offset.saturating_add(head.length.into());
    }
    Ok(None)
}

fn info_in_chunk(
    source: &Source,
    offset: u64,
    head: &Head,
    file_end: u64,
    limits: &Limits,
) -> Result<Option<FileInfo>> {
    let body = offset.saturating_add(head.needed());
    for place in (0..u64::from(head.part_count)).rev().take(CHUNKS_SEARCHED) {
        let mut entry = [0; PART_ENTRY];
        source.read_full(offset + CHUNK_FIXED as u64 + place * PART_ENTRY as u64, &mut entry)?;
        let mut cursor = Cursor::new(&entry, 0, ByteOrder::Little);
        let part =
            Part { kind: PartType(cursor.u32("type")?), offset: cursor.u32("offset")?, length: cursor.u32("length")? };
        let start = body.saturating_add(part.offset.into());
        if part.kind == PartType::FILE_HEADER && start < file_end {
            let len = u64::from(part.length).min(file_end - start);
            return Ok(Some(FileInfo::parse(&read_span(source, start, start + len, limits)?).0));
        }
    }
    Ok(None)
}

/// Bytes of a source that are needed all at once.
pub(crate) fn read_span(source: &Source, start: u64, end: u64, limits: &Limits) -> Result<Vec<u8>> {
    let len = end.saturating_sub(start);
    let len = usize::try_from(len).ok().filter(|len| *len <= limits.record_bytes);
    let too_long = || Error::limit("bytes in one record", end - start, limits.record_bytes as u64);
    let len = len.ok_or_else(|| too_long().at(Position::at(start)))?;
    // A hostile length exceeds the source; the source's length bounds it.
    let there = source.len()?.saturating_sub(start);
    let mut bytes = vec![0; len.min(usize::try_from(there).unwrap_or(usize::MAX))];
    let filled = source.read_full(start, &mut bytes)?;
    bytes.truncate(filled);
    Ok(bytes)
}

/// The header of a packed file or a calls file: the bytes up to the first record.
pub(crate) fn packed_header(container: Container, format_version: u32, info: FileInfo, head: Vec<u8>) -> Header {
    Header { container, format_version, head, stored_bytes: 0, wtf_version: 0, ..Header::new(info) }
}

/// Refuses a packed file of a version that no reader knows.
pub(crate) fn check_legacy_version(version: u32) -> Result<()> {
    if version == LEGACY_VERSION {
        return Ok(());
    }
    let message = format!("the packed format has version {version}; only {LEGACY_VERSION} is known");
    Err(Error::unrecognized(message).at(Position::at(8).field("format version")))
}
