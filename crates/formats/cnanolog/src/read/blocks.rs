//! Reads a log that lies in blocks as if it did not.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use traceloom_core::{Error, Finding, Limits, Located, Position, ReadAt, Result, Source, reserve};

use super::{MAX_RESIDUE_BYTES, Reader};
use crate::{
    Block, Header, Record,
    blocks::Head,
    findings::{BLOCK_DAMAGED, BLOCK_LOST},
    raw::{BLOCK_HEADER_BYTES, HEADER_BYTES},
};

/// All blocks of a file, and how far the reader is.
#[derive(Debug)]
pub(super) struct Blocks {
    view: Arc<View>,
    /// The next one.
    next: usize,
    /// Where the bytes behind the last whole block go on.
    tail: u64,
    /// The block that was lent last.
    stored: Vec<u8>,
}

/// The file without blocks.
#[derive(Debug)]
struct View {
    source: Source,
    has_checksums: bool,
    list: Vec<Placed>,
    /// Bytes of the file without blocks.
    bytes: u64,
    /// Where the last whole block ends.
    end: u64,
    /// Why nothing is read behind it; `None` at the end of the file.
    fault: Option<&'static str>,
    unpacked: Mutex<Unpacked>,
}

/// A block and where it lies.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// In the file without blocks.
    at: u64,
    stored_at: u64,
    head: Head,
}

/// The block that was read last, and what is wrong with those that were read.
#[derive(Debug, Default)]
struct Unpacked {
    index: Option<usize>,
    plain: Vec<u8>,
    stored: Vec<u8>,
    damage: BTreeMap<usize, &'static str>,
}

impl Blocks {
    /// Finds the blocks of a file whose header says that it has some.
    pub(super) fn find(source: &Source, header: &Header, limits: &Limits) -> Result<Option<Self>> {
        if !header.has_blocks() || header.stored_bytes < HEADER_BYTES {
            return Ok(None);
        }
        let file_bytes = source.len()?;
        let max_bytes = file_bytes.saturating_mul(limits.ratio).max(Limits::RATIO_FREE_BYTES);
        let (mut at, mut stored_at) = (HEADER_BYTES as u64, HEADER_BYTES as u64);
        let mut list = Vec::new();
        let fault = loop {
            let left = file_bytes.saturating_sub(stored_at);
            if left == 0 {
                break None;
            }
            let mut bytes = [0; BLOCK_HEADER_BYTES];
            let filled = source.read_full(stored_at, &mut bytes)?;
            let head = match Head::read(bytes.get(..filled).unwrap_or_default(), header) {
                Ok(head) if (BLOCK_HEADER_BYTES + head.stored_bytes) as u64 <= left => head,
                Ok(_) => break Some("the file ends inside the block"),
                Err(reason) => break Some(reason),
            };
            if head.plain_bytes > limits.record_bytes {
                return Err(Error::limit("bytes in a block", head.plain_bytes as u64, limits.record_bytes as u64));
            }
            if list.len() >= limits.entries {
                return Err(Error::limit("blocks", list.len() as u64 + 1, limits.entries as u64));
            }
            reserve(&mut list, 1)?;
            list.push(Placed { at, stored_at, head });
            at += head.plain_bytes as u64;
            stored_at += (BLOCK_HEADER_BYTES + head.stored_bytes) as u64;
            if at > max_bytes {
                return Err(Error::limit("decompressed data", at, max_bytes));
            }
        };
        let view = View {
            source: source.clone(),
            has_checksums: header.has_checksums(),
            list,
            bytes: at,
            end: stored_at,
            fault,
            unpacked: Mutex::default(),
        };
        Ok(Some(Self { view: Arc::new(view), next: 0, tail: stored_at, stored: Vec::new() }))
    }

    /// Passes the blocks before the one that an offset lies in.
    pub(super) fn skip_to(&mut self, offset: u64) {
        self.next = self.view.list.partition_point(|block| block.at <= offset).saturating_sub(1);
    }

    /// The bytes of the file without blocks.
    pub(super) fn plain(&self) -> Source {
        Source::custom(Plain(self.view.clone()))
    }

    /// Where the next block begins in the file without blocks; there is none behind the end.
    pub(super) fn next_at(&self) -> u64 {
        match self.view.list.get(self.next) {
            Some(block) => block.at,
            None if self.view.fault.is_some() => self.view.bytes,
            None => u64::MAX,
        }
    }
}

impl Reader {
    /// The block that begins here, or bytes that are none.
    #[cold]
    pub(super) fn next_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        // Reading its first byte unpacks it.
        self.window.fill(1)?;
        let Some(blocks) = &mut self.blocks else { return Ok(None) };
        let (offset, plain_bytes, len, finding) = match blocks.view.list.get(blocks.next) {
            Some(block) => {
                let len = BLOCK_HEADER_BYTES + block.head.stored_bytes;
                let damage = blocks.view.unpacked().damage.remove(&blocks.next);
                let odd = |reason| Finding::new(&BLOCK_DAMAGED, Position::at(block.stored_at)).with("reason", reason);
                blocks.next += 1;
                (block.stored_at, block.head.plain_bytes, len, damage.map(|reason| odd(reason).with("bytes", len)))
            }
            None => {
                let (offset, end) = (blocks.tail, blocks.view.end);
                let left = blocks.view.source.len()?.saturating_sub(offset);
                let len = usize::try_from(left).map_or(MAX_RESIDUE_BYTES, |left| left.min(MAX_RESIDUE_BYTES));
                blocks.tail += len as u64;
                let lost = |reason| Finding::new(&BLOCK_LOST, Position::at(end)).with("reason", reason);
                let is_first = offset == end;
                let fault = blocks.view.fault.filter(|_| is_first);
                (offset, 0, len, fault.map(|reason| lost(reason).with("bytes", left)))
            }
        };
        blocks.stored.resize(len, 0);
        let filled = blocks.view.source.read_full(offset, &mut blocks.stored)?;
        blocks.stored.truncate(filled);
        self.next_block_at = if filled == 0 { u64::MAX } else { blocks.next_at() };
        if let Some(finding) = finding
            && let Err(error) = self.findings.report(finding)
        {
            (self.next_block_at, self.state) = (u64::MAX, super::State::Done);
            return Err(error);
        }
        if filled == 0 {
            return self.next_slowly();
        }
        let stored = self.blocks.as_ref().map_or(&[][..], |blocks| &blocks.stored);
        let block = Block { plain_bytes: plain_bytes as u32, stored };
        Ok(Some(Located { offset, len: stored.len() as u64, record: Record::Block(block) }))
    }
}

impl View {
    fn unpacked(&self) -> MutexGuard<'_, Unpacked> {
        self.unpacked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a block, unless it is the one that was read last.
    fn load(&self, index: usize, block: &Placed, unpacked: &mut Unpacked) -> Result<()> {
        if unpacked.index == Some(index) {
            return Ok(());
        }
        unpacked.index = None;
        let mut stored = std::mem::take(&mut unpacked.stored);
        stored.resize(block.head.stored_bytes, 0);
        let filled = self.source.read_full(block.stored_at + BLOCK_HEADER_BYTES as u64, &mut stored)?;
        stored.get_mut(filled..).unwrap_or_default().fill(0);
        if let Err(reason) = block.head.unpack(&stored, self.has_checksums, &mut unpacked.plain) {
            unpacked.damage.insert(index, reason);
        }
        (unpacked.stored, unpacked.index) = (stored, Some(index));
        Ok(())
    }
}

struct Plain(Arc<View>);

impl ReadAt for Plain {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.bytes)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let view = &self.0;
        if offset < HEADER_BYTES as u64 {
            let before = buffer.len().min(HEADER_BYTES - offset as usize);
            return view
                .source
                .read_full(offset, buffer.get_mut(..before).unwrap_or_default())
                .map_err(io::Error::other);
        }
        let index = view.list.partition_point(|block| block.at <= offset).wrapping_sub(1);
        let Some(block) = view.list.get(index).filter(|_| offset < view.bytes) else { return Ok(0) };
        let mut unpacked = view.unpacked();
        view.load(index, block, &mut unpacked).map_err(io::Error::other)?;
        let mut rest = unpacked.plain.get((offset - block.at) as usize..).unwrap_or_default();
        io::Read::read(&mut rest, buffer)
    }
}
