//! Finds the blocks of a file, even after damage.

use traceloom_core::{Error, Limits, Result, Source, reserve};

use crate::{
    Header,
    blocks::{Head, Layout},
    raw::{BLOCK_HEADER_BYTES, CNANOLOG_BLOCK_MAGIC, HEADER_BYTES, MAX_BLOCK_BYTES},
};

/// Number of bytes that are searched at a time for the magic of a block.
const SEARCH_CHUNK: usize = 64 << 10;
/// How much a small file may unpack, in addition to [`CHECKED_RATIO`], to verify blocks.
const FREE_CHECKED_BYTES: u64 = 16 << 20;
/// How many bytes per byte of the file may be unpacked to verify blocks; this bounds the cost of hostile files.
const CHECKED_RATIO: u64 = 8;
/// LZ4's maximum expansion of a byte.
const MAX_EXPANSION: usize = 255;
const LENGTHS_ARE_WRONG: &str = "its lengths are wrong";

/// A run of bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Where its contents start in the file without blocks.
    pub(super) at: u64,
    pub(super) stored_at: u64,
    /// Including the head of a block.
    pub(super) stored_bytes: u64,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Block(Head),
    /// A block with a damaged head, with the nature of the damage and the head as it was before.
    Healed(Head, &'static str),
    /// Not a block, for this reason.
    Lost(&'static str),
    /// Records that are not in a block.
    Plain,
}

impl Piece {
    /// Size of its contents.
    pub(super) fn plain_bytes(&self) -> u64 {
        match self.kind {
            Kind::Block(head) | Kind::Healed(head, _) => head.plain_bytes as u64,
            Kind::Lost(_) => 0,
            Kind::Plain => self.stored_bytes,
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        matches!(self.kind, Kind::Lost(_))
    }
}

/// A walk from block to block.
pub(super) struct Scan<'a> {
    source: &'a Source,
    limits: &'a Limits,
    pub(super) layout: Layout,
    file_bytes: u64,
    /// Maximum size of the file without blocks.
    max_bytes: u64,
    pub(super) pieces: Vec<Piece>,
    /// Where the contents of the next piece start in the file without blocks.
    pub(super) at: u64,
    /// Number of bytes that may still be unpacked to verify blocks.
    checkable: u64,
    chunk_at: u64,
    chunk: Vec<u8>,
    stored: Vec<u8>,
    plain: Vec<u8>,
    /// Room for the contents of a block of unknown length.
    healed: Vec<u8>,
}

impl<'a> Scan<'a> {
    /// A scan of a file that seems to have blocks, and whether its flags contradict that.
    pub(super) fn new(source: &'a Source, header: &Header, limits: &'a Limits) -> Result<Option<(Self, bool)>> {
        let file_bytes = source.len()?;
        let declared = Layout::of(header);
        let has_checksums = declared.is_some_and(|layout| layout.has_checksums);
        let layout = declared.unwrap_or(Layout { order: header.order, is_compressed: true, has_checksums });
        let mut scan = Self {
            source,
            limits,
            layout,
            file_bytes,
            max_bytes: source.max_unpacked(limits)?,
            pieces: Vec::new(),
            at: HEADER_BYTES as u64,
            checkable: file_bytes.saturating_mul(CHECKED_RATIO).saturating_add(FREE_CHECKED_BYTES),
            chunk_at: 0,
            chunk: Vec::new(),
            stored: Vec::new(),
            plain: Vec::new(),
            healed: Vec::new(),
        };
        if declared.is_some() && (layout.is_compressed || scan.head(scan.at)?.is_ok()) {
            return Ok(Some((scan, false)));
        }
        // A damaged flag does not hide the blocks.
        scan.layout.is_compressed = true;
        let is_denied = match scan.head(scan.at)? {
            Ok(head) if head.is_checkable(scan.layout) => scan.is_sound(scan.at, &head)? == Some(true),
            Ok(_) => scan.is_block(scan.at)?,
            Err(_) => false,
        };
        if !is_denied {
            scan.layout = layout;
        }
        Ok((is_denied || declared.is_some()).then_some((scan, is_denied)))
    }

    /// Finds all blocks and all damage between them.
    pub(super) fn run(&mut self) -> Result<()> {
        let mut stored_at = HEADER_BYTES as u64;
        while stored_at < self.file_bytes {
            stored_at = match self.head(stored_at)? {
                Ok(head) => self.push(Kind::Block(head), stored_at, end_of(stored_at, &head))?,
                Err(reason) => self.pass(stored_at, reason)?,
            };
        }
        Ok(())
    }

    /// Treats the file as one without blocks.
    pub(super) fn run_plain(&mut self) -> Result<()> {
        self.pieces.clear();
        self.at = HEADER_BYTES as u64;
        while self.at < self.file_bytes {
            let end = self.file_bytes.min(self.at + MAX_BLOCK_BYTES as u64);
            self.push(Kind::Plain, self.at, end)?;
        }
        Ok(())
    }

    /// Skips damage; returns the offset of the block after it, or the end of the file.
    fn pass(&mut self, stored_at: u64, reason: &'static str) -> Result<u64> {
        // A block with wrong lengths also leads to a wrong offset.
        let suspect = self.pieces.last().copied();
        let suspect = match suspect.map(|last| (last, last.kind)) {
            Some((last, Kind::Block(head))) if self.is_sound(last.stored_at, &head)? == Some(false) => Some(last),
            _ => None,
        };
        let next = self.next_block(suspect.map_or(stored_at, |suspect| suspect.stored_at) + 1)?;
        if let Some(suspect) = suspect {
            let kind = match self.heal(suspect.stored_at, next)? {
                Some(head) => Some(Kind::Healed(head, LENGTHS_ARE_WRONG)),
                None => (next < stored_at).then_some(Kind::Lost(LENGTHS_ARE_WRONG)),
            };
            if let Some(kind) = kind {
                self.pieces.pop();
                self.at = suspect.at;
                return self.push(kind, suspect.stored_at, next);
            }
        }
        let healed = self.heal(stored_at, next)?;
        self.push(healed.map_or(Kind::Lost(reason), |head| Kind::Healed(head, reason)), stored_at, next)
    }

    /// Adds a piece and returns its end; a piece that unpacks to too much is lost, and so are all after it.
    fn push(&mut self, kind: Kind, stored_at: u64, end: u64) -> Result<u64> {
        let mut piece = Piece { at: self.at, stored_at, stored_bytes: end.saturating_sub(stored_at), kind };
        let Limits { record_bytes, entries, .. } = *self.limits;
        if !matches!(kind, Kind::Plain) && piece.plain_bytes() > record_bytes as u64 {
            return Err(Error::limit("bytes in a block", piece.plain_bytes(), record_bytes as u64));
        }
        if self.pieces.len() >= entries {
            return Err(Error::limit("blocks", self.pieces.len() as u64 + 1, entries as u64));
        }
        if self.at + piece.plain_bytes() > self.max_bytes {
            piece.kind = Kind::Lost(Limits::UNPACKS_TOO_MUCH);
            piece.stored_bytes = self.file_bytes.saturating_sub(stored_at);
        }
        self.at += piece.plain_bytes();
        reserve(&mut self.pieces, 1)?;
        self.pieces.push(piece);
        Ok(stored_at + piece.stored_bytes)
    }

    /// The head of a block that is completely in the file, or why there is none.
    fn head(&self, at: u64) -> Result<Result<Head, &'static str>> {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        let filled = self.source.read_full(at, &mut bytes)?;
        let head = Head::read(bytes.get(..filled).unwrap_or_default(), self.layout);
        Ok(head.and_then(|head| {
            if end_of(at, &head) <= self.file_bytes { Ok(head) } else { Err("the file ends inside the block") }
        }))
    }

    /// The offset of the first block from here on, or the end of the file.
    fn next_block(&mut self, from: u64) -> Result<u64> {
        let magic = self.layout.order.put_u32(CNANOLOG_BLOCK_MAGIC);
        let mut from = from;
        loop {
            let (chunk_at, chunk) = self.chunk(from)?;
            let bytes = chunk.get((from - chunk_at) as usize..).unwrap_or_default();
            let Some(index) = bytes.windows(magic.len()).position(|bytes| bytes == magic) else {
                let (end, is_last) = (chunk_at + chunk.len() as u64, chunk.len() < SEARCH_CHUNK);
                if is_last {
                    return Ok(self.file_bytes);
                }
                // A magic may cross the boundary.
                from = end + 1 - magic.len() as u64;
                continue;
            };
            let at = from + index as u64;
            if self.is_block(at)? {
                return Ok(at);
            }
            from = at + 1;
        }
    }

    /// Bytes of the file that start here or earlier, and their offset. The bytes of the last call are not read again,
    /// because damaged ranges may be close together.
    fn chunk(&mut self, from: u64) -> Result<(u64, &[u8])> {
        let last = self.chunk_at + self.chunk.len() as u64;
        if from < self.chunk_at || from + CNANOLOG_BLOCK_MAGIC.to_le_bytes().len() as u64 > last {
            self.chunk.resize(SEARCH_CHUNK, 0);
            let filled = self.source.read_full(from, &mut self.chunk)?;
            self.chunk.truncate(filled);
            self.chunk_at = from;
        }
        Ok((self.chunk_at, &self.chunk))
    }

    /// Whether a block starts here: another block or the end of the file follows it, or its contents are verified.
    fn is_block(&mut self, at: u64) -> Result<bool> {
        let Ok(head) = self.head(at)? else { return Ok(false) };
        let end = end_of(at, &head);
        Ok(end == self.file_bytes || self.head(end)?.is_ok() || self.is_sound(at, &head)? == Some(true))
    }

    /// Whether the contents are verified; `None` if the budget for unpacking is used up.
    fn is_sound(&mut self, at: u64, head: &Head) -> Result<Option<bool>> {
        if !head.is_checkable(self.layout) {
            return Ok(Some(false));
        }
        let Some(left) = self.checkable.checked_sub(head.plain_bytes as u64) else { return Ok(None) };
        self.checkable = left;
        self.read(at + BLOCK_HEADER_BYTES as u64, head.stored_bytes)?;
        Ok(Some(head.unpack(&self.stored, self.layout, &mut self.plain).is_ok()))
    }

    /// The head of the block that fills the bytes up to the next one, if its contents prove it.
    fn heal(&mut self, at: u64, next: u64) -> Result<Option<Head>> {
        let Ok(bytes) = usize::try_from(next - at) else { return Ok(None) };
        if bytes <= BLOCK_HEADER_BYTES || bytes > BLOCK_HEADER_BYTES + MAX_BLOCK_BYTES {
            return Ok(None);
        }
        self.read(at, bytes)?;
        let needed = MAX_BLOCK_BYTES.min(bytes.saturating_mul(MAX_EXPANSION));
        self.healed.resize(self.healed.len().max(needed), 0);
        let parts = self.stored.split_at_checked(BLOCK_HEADER_BYTES);
        Ok(parts.and_then(|(head, contents)| Head::heal(head, contents, self.layout, &mut self.healed)))
    }

    fn read(&mut self, at: u64, bytes: usize) -> Result<()> {
        self.stored.resize(bytes, 0);
        let filled = self.source.read_full(at, &mut self.stored)?;
        self.stored.truncate(filled);
        Ok(())
    }
}

fn end_of(at: u64, head: &Head) -> u64 {
    at + (BLOCK_HEADER_BYTES + head.stored_bytes) as u64
}
