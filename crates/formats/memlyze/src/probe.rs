//! Detects a file: magic, byte order, and dialect.

use traceloom_core::{ByteOrder, Cursor, Error, Finding, Findings, Position, Result, Sniff, Source, Window};

use crate::{
    Header, Metadata,
    encoding::{
        block::Head,
        thorough::{self, Body},
    },
    findings::*,
    raw::{
        BLOCK_HEADER_BYTES, BLOCK_PLAIN_BYTES, Dialect, EVENT_BYTES, HEADER_BYTES, MAGIC, Packing, RESERVED_BYTES,
        RESERVED_OFFSET, Version,
    },
};

/// Whether these first bytes look like a `.mlyze` file; with another magic, the answer is at most maybe.
pub(crate) fn sniff(prefix: &[u8]) -> Sniff {
    match parse(prefix.get(..HEADER_BYTES).unwrap_or(prefix)) {
        Ok(header) if header.magic == MAGIC => Sniff::Yes,
        Ok(_) => Sniff::Maybe,
        Err(_) => Sniff::No,
    }
}

/// Reads the header and reports its problems.
pub(crate) fn header(source: &Source, findings: &mut Findings) -> Result<Header> {
    let stored = source.prefix(HEADER_BYTES)?;
    let header = parse(&stored)?;
    let at = |offset: usize, field: &'static str| Position::at(offset as u64).field(field);
    if header.magic != MAGIC {
        let found = traceloom_core::Text(&header.magic).to_string();
        findings.report(Finding::new(&BAD_MAGIC, at(0, "magic")).with("found", found))?;
    }
    if header.stored_bytes < HEADER_BYTES {
        findings.report(Finding::new(&HEADER_CUT, at(stored.len(), "")).with("found", stored.len()))?;
    }
    if header.order == ByteOrder::Big {
        findings.report(Finding::new(&BIG_ENDIAN, at(4, "version")))?;
    }
    if header.version != Version::V1 {
        findings.report(Finding::new(&UNSUPPORTED_VERSION, at(4, "version")).with("found", header.version.0))?;
    }
    if let Some(first) = header.reserved.iter().position(|byte| *byte != 0)
        && header.packing() == Packing::Plain
    {
        let offset = RESERVED_OFFSET + first;
        findings.report(Finding::new(&RESERVED_NONZERO, at(offset, "reserved")).with("offset", offset))?;
    }
    Ok(header)
}

fn parse(stored: &[u8]) -> Result<Header> {
    if stored.is_empty() {
        let message = "the file is empty: Memlyze leaves one when the traced program ends before the first flush";
        return Err(Error::unrecognized(message));
    }
    let mut bytes = [0; HEADER_BYTES];
    for (to, from) in bytes.iter_mut().zip(stored) {
        *to = *from;
    }
    // The upstream encoder uses the machine's byte order; no other file has version 1 with its bytes reversed.
    let is_big = bytes.get(4..8) == Some(&[0, 0, 0, 1]);
    let order = if is_big { ByteOrder::Big } else { ByteOrder::Little };
    let mut cursor = Cursor::new(&bytes, 0, order);
    let header = Header {
        order,
        magic: *cursor.array("magic")?,
        version: Version(cursor.u32("version")?),
        start_us: cursor.u64("start")?,
        metadata_len: cursor.u32("metadata_length")?,
        reserved: *cursor.array::<RESERVED_BYTES>("reserved")?,
        stored_bytes: stored.len(),
        dialect: Dialect::Document,
    };
    let is_plausible = header.version == Version::V1
        && header.metadata_len > 0
        && header.stored_bytes == HEADER_BYTES
        && (header.packing() == Packing::Blocks || header.reserved == [0; RESERVED_BYTES]);
    if header.magic != MAGIC && !is_plausible {
        return Err(Error::unrecognized("is not a Memlyze trace: it does not start with MTRC").at(Position::at(0)));
    }
    Ok(header)
}

/// The dialect, judged by the first events: the upstream tracer leaves the metadata empty and writes no addresses, and
/// no other known producer does both.
pub(crate) fn dialect(window: &mut Window, header: &Header, metadata: &Metadata, events: u64) -> Result<Dialect> {
    if !metadata.is_empty() {
        return Ok(Dialect::Document);
    }
    window.seek(events);
    let mut unpacked = Vec::new();
    let first = match header.packing() {
        Packing::Plain => window.fill(BLOCK_PLAIN_BYTES)?,
        Packing::Blocks => {
            unpack_first(window, header.order, &mut unpacked)?;
            &unpacked
        }
    };
    // The window may hold more than was requested; the judgment must not depend on its size.
    Ok(judge(first.get(..BLOCK_PLAIN_BYTES).unwrap_or(first), header.order))
}

/// Unpacks the first undamaged block with events.
fn unpack_first(window: &mut Window, order: ByteOrder, unpacked: &mut Vec<u8>) -> Result<()> {
    loop {
        let ahead = window.fill(BLOCK_HEADER_BYTES + BLOCK_PLAIN_BYTES)?;
        let head = Head::read(ahead, order).ok();
        let Some((head, block)) = head.and_then(|head| Some((head, ahead.get(..head.block_len())?))) else {
            return Ok(());
        };
        if head.unpack(block, unpacked).is_ok() && !unpacked.is_empty() {
            return Ok(());
        }
        unpacked.clear();
        window.consume(head.block_len());
    }
}

fn judge(mut events: &[u8], order: ByteOrder) -> Dialect {
    let mut any = false;
    while let Ok(event) = thorough::decode(events, order) {
        if let Body::Alloc { address: 1.., .. } | Body::Free { address: 1.. } = event.body {
            return Dialect::Document;
        }
        any = true;
        events = events.get(event.len..).unwrap_or_default();
    }
    if any { Dialect::Growth } else { Dialect::Document }
}

const _: () = assert!(EVENT_BYTES < BLOCK_PLAIN_BYTES);
