//! Presents a log in blocks as if it had none.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use traceloom_core::{Finding, Limits, Located, Position, ReadAt, Result, Source};

use super::{
    MAX_RESIDUE_BYTES, Reader, State,
    scan::{Kind, Piece, Scan},
};
use crate::{
    Block, Header, Record,
    blocks::{Damage, Head, Layout},
    findings::{BLOCK_DAMAGED, BLOCK_FLAGS, BLOCK_HEAD, BLOCK_LOST},
    raw::{BLOCK_HEADER_BYTES, HEADER_BYTES, header_offset},
};

/// All blocks of a file, and how far the reader is.
#[derive(Debug)]
pub(super) struct Blocks {
    view: Arc<View>,
    /// The next piece.
    next: usize,
    /// Bytes of the piece that were already returned.
    lent: u64,
    /// The block that was returned last.
    stored: Vec<u8>,
    /// What the flags should be, if they are wrong.
    denied: Option<&'static str>,
}

/// The file without blocks.
#[derive(Debug)]
struct View {
    source: Source,
    layout: Layout,
    pieces: Vec<Piece>,
    /// Size of the file without blocks.
    bytes: u64,
    unpacked: Mutex<Unpacked>,
}

/// The block that was read last, and the damage of the blocks read so far.
#[derive(Debug, Default)]
struct Unpacked {
    index: Option<usize>,
    plain: Vec<u8>,
    stored: Vec<u8>,
    damage: BTreeMap<usize, Damage>,
}

impl Blocks {
    /// Finds the blocks of a file that has some. `is_plain` decides whether a file without any makes sense.
    pub(super) fn find(
        source: &Source,
        header: &Header,
        limits: &Limits,
        is_plain: impl FnOnce() -> Result<bool>,
    ) -> Result<Option<Self>> {
        if header.stored_bytes < HEADER_BYTES {
            return Ok(None);
        }
        let Some((mut scan, is_denied)) = Scan::new(source, header, limits)? else { return Ok(None) };
        let mut denied = is_denied.then_some("the log has blocks and is read accordingly");
        scan.run()?;
        if !scan.pieces.is_empty() && scan.pieces.iter().all(Piece::is_lost) && is_plain()? {
            denied = Some("the log has no blocks and is read accordingly");
            scan.run_plain()?;
        }
        let Scan { layout, pieces, at: bytes, .. } = scan;
        let view = View { source: source.clone(), layout, pieces, bytes, unpacked: Mutex::default() };
        Ok(Some(Self { view: Arc::new(view), next: 0, lent: 0, stored: Vec::new(), denied }))
    }

    /// Skips the blocks before the one that contains an offset.
    pub(super) fn skip_to(&mut self, offset: u64) {
        self.lent = 0;
        self.next = self.view.pieces.partition_point(|piece| piece.at <= offset).saturating_sub(1);
        // Damage has no contents: it comes before the block that starts at the same offset.
        while self.next > 0 && self.view.pieces.get(self.next - 1).is_some_and(|piece| piece.at == offset) {
            self.next -= 1;
        }
    }

    /// The bytes of the file without blocks.
    pub(super) fn plain(&self) -> Source {
        Source::custom(Plain(self.view.clone()))
    }

    /// Where the next block starts in the file without blocks; none starts after the end.
    fn next_at(&self) -> u64 {
        self.view.pieces.get(self.next).map_or(u64::MAX, |piece| piece.at)
    }

    /// Whether bytes before an offset are missing, so that the stored offset is wrong.
    pub(super) fn is_shifted(&self, offset: u64) -> bool {
        self.view.pieces.iter().any(|piece| piece.is_lost() && piece.at <= offset)
    }

    /// Whether a block that was read after this offset is damaged.
    pub(super) fn is_damaged_from(&self, offset: u64) -> bool {
        let first = self.view.pieces.partition_point(|piece| piece.at + piece.plain_bytes() <= offset);
        self.view.unpacked().damage.range(first..).next().is_some()
    }

    /// A finding if the flags contradict the file about blocks.
    pub(super) fn flags_finding(&self, header: &Header) -> Option<Finding> {
        let position = Position::at(header_offset::FLAGS as u64).field("flags");
        let odd = Finding::new(&BLOCK_FLAGS, position).with("found", format!("0x{:08x}", header.flags));
        self.denied.map(|truth| odd.with("truth", truth))
    }

    /// The problem of a piece, if any.
    fn finding(&self, piece: &Piece, damage: Option<Damage>) -> Option<Finding> {
        let (bytes, end) = (piece.stored_bytes, piece.stored_at + piece.stored_bytes);
        let (rule, reason, consequence) = match (piece.kind, damage) {
            (Kind::Lost(reason), _)
                if self.view.pieces.last().is_some_and(|last| last.stored_at == piece.stored_at) =>
            {
                (&BLOCK_LOST, reason, "up to the end of the file".to_owned())
            }
            (Kind::Lost(reason), _) => (&BLOCK_LOST, reason, format!("up to the next block at {end}")),
            (_, Some(Damage::Malformed)) => (&BLOCK_DAMAGED, "its LZ4 data is malformed", "are skipped".to_owned()),
            (_, Some(Damage::Checksum)) => (&BLOCK_DAMAGED, "its checksum is wrong", "are read unchanged".to_owned()),
            (Kind::Healed(_, reason), None) => (&BLOCK_HEAD, reason, String::new()),
            (Kind::Block(_) | Kind::Plain, None) => return None,
        };
        let odd = Finding::new(rule, Position::at(piece.stored_at)).with("bytes", bytes);
        Some(odd.with("reason", reason).with("consequence", consequence))
    }
}

impl Reader {
    /// Reads blocks from here on.
    pub(super) fn enter_blocks(&mut self) {
        let offset = self.window.offset();
        self.next_block_at = match &mut self.blocks {
            Some(blocks) => {
                blocks.skip_to(offset);
                blocks.next_at()
            }
            None => u64::MAX,
        };
    }

    /// The block that starts here, or bytes that are not a block.
    #[cold]
    pub(super) fn next_block(&mut self) -> Result<Option<Located<Record<'_>>>> {
        // Reading its first byte unpacks it.
        self.window.fill(1)?;
        let Some(blocks) = &mut self.blocks else { return Ok(None) };
        let Some(piece) = blocks.view.pieces.get(blocks.next).copied() else { return Ok(None) };
        let damage = blocks.view.unpacked().damage.get(&blocks.next).copied();
        let finding = blocks.finding(&piece, damage).filter(|_| blocks.lent == 0);
        let (offset, left) = (piece.stored_at + blocks.lent, piece.stored_bytes - blocks.lent);
        let len = if piece.is_lost() { left.min(MAX_RESIDUE_BYTES as u64) } else { left };
        blocks.stored.resize(len as usize, 0);
        let filled = blocks.view.source.read_full(offset, &mut blocks.stored)?;
        blocks.stored.truncate(filled);
        blocks.lent += len;
        if filled == 0 {
            // The file has become shorter since it was opened.
            (blocks.next, blocks.lent) = (blocks.view.pieces.len(), 0);
        } else if blocks.lent == piece.stored_bytes {
            (blocks.next, blocks.lent) = (blocks.next + 1, 0);
        }
        let is_before_lost = blocks.view.pieces.get(blocks.next).is_some_and(Piece::is_lost);
        self.next_block_at = blocks.next_at();
        if let Some(finding) = finding
            && let Err(error) = self.findings.report(finding)
        {
            (self.next_block_at, self.state) = (u64::MAX, State::Done);
            return Err(error);
        }
        if filled == 0 {
            return self.next_slowly();
        }
        let is_readable = damage != Some(Damage::Malformed);
        self.fence(&piece, damage.is_some() || is_before_lost, is_readable);
        let stored = self.blocks.as_ref().map_or(&[][..], |blocks| &blocks.stored);
        let plain_bytes = if is_readable { piece.plain_bytes() as u32 } else { 0 };
        let block = Block { plain_bytes, stored };
        Ok(Some(Located { offset, len: stored.len() as u64, record: Record::Block(block) }))
    }

    /// Ends the entries of a damaged block, or of one before damage, at its end: the next block starts with an entry.
    fn fence(&mut self, piece: &Piece, is_fenced: bool, is_readable: bool) {
        let end = piece.at + piece.plain_bytes();
        let is_inside = matches!(self.state, State::Entries | State::Lost(_)) && end <= self.entries_end;
        if !is_inside {
            return;
        }
        self.end = if is_fenced { end } else { self.entries_end };
        (self.state, self.resume_at) = (State::Entries, None);
        if !is_readable {
            self.window.seek(end);
        }
    }
}

impl View {
    fn unpacked(&self) -> MutexGuard<'_, Unpacked> {
        self.unpacked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a block, unless it is the one that was read last.
    fn load(&self, index: usize, piece: &Piece, head: &Head, unpacked: &mut Unpacked) -> Result<()> {
        if unpacked.index == Some(index) {
            return Ok(());
        }
        unpacked.index = None;
        let mut stored = std::mem::take(&mut unpacked.stored);
        stored.resize(head.stored_bytes, 0);
        let filled = self.source.read_full(piece.stored_at + BLOCK_HEADER_BYTES as u64, &mut stored)?;
        stored.get_mut(filled..).unwrap_or_default().fill(0);
        if let Err(damage) = head.unpack(&stored, self.layout, &mut unpacked.plain) {
            unpacked.damage.insert(index, damage);
        }
        (unpacked.stored, unpacked.index) = (stored, Some(index));
        Ok(())
    }

    /// Reads bytes that are stored unchanged in the file.
    fn read_stored(&self, offset: u64, max: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(usize::try_from(max).unwrap_or(usize::MAX));
        self.source.read_full(offset, buffer.get_mut(..len).unwrap_or_default()).map_err(io::Error::other)
    }
}

struct Plain(Arc<View>);

impl ReadAt for Plain {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.bytes)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let view = &self.0;
        if let Some(left) = (HEADER_BYTES as u64).checked_sub(offset).filter(|left| *left > 0) {
            return view.read_stored(offset, left, buffer);
        }
        let index = view.pieces.partition_point(|piece| piece.at <= offset).wrapping_sub(1);
        let Some(piece) = view.pieces.get(index).filter(|_| offset < view.bytes) else { return Ok(0) };
        let inside = offset - piece.at;
        let (Kind::Block(head) | Kind::Healed(head, _)) = piece.kind else {
            return view.read_stored(piece.stored_at + inside, piece.plain_bytes() - inside, buffer);
        };
        let mut unpacked = view.unpacked();
        view.load(index, piece, &head, &mut unpacked).map_err(io::Error::other)?;
        let mut rest = unpacked.plain.get(inside as usize..).unwrap_or_default();
        io::Read::read(&mut rest, buffer)
    }
}
