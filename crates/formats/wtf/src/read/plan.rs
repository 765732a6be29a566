//! The positions of the parts of a chunk, and whether bytes could be a chunk at all.

use traceloom_core::{ByteOrder, Cursor, Finding, Findings, Limits, Position, Result, Source, Window, reserve};

use crate::{
    findings::*,
    raw::{CHUNK_FIXED, ChunkType, PART_ENTRY, PartType},
    record::Part,
};

/// The fixed fields of a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) id: u32,
    pub(crate) kind: ChunkType,
    pub(crate) length: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) part_count: u32,
}

impl Head {
    /// The head at the front of `bytes`, if there are enough.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(bytes, 0, ByteOrder::Little);
        let mut word = || cursor.u32("chunk head").ok();
        Some(Self {
            id: word()?,
            kind: ChunkType(word()?),
            length: word()?,
            start: word()?,
            end: word()?,
            part_count: word()?,
        })
    }

    /// Size of head and part table.
    pub(crate) fn needed(&self) -> u64 {
        CHUNK_FIXED as u64 + PART_ENTRY as u64 * u64::from(self.part_count)
    }

    fn is_known(&self) -> bool {
        self.kind.name().is_some()
    }
}

/// What to do with a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Content {
    FileHeader,
    Strings,
    WordEvents,
    LegacyEvents,
    JsonEvents,
    Resource(u32, PartType),
    Unread,
}

/// A part, in byte order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) content: Content,
}

/// The parts of a chunk and their positions.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// The string table that is used.
    pub(super) strings: Option<(u64, u64)>,
    /// Whether parts overlap, so that the bytes cannot be returned part by part.
    pub(super) overlaps: bool,
}

/// The bounds of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// First byte of the head.
    pub(super) start: u64,
    /// First byte after the part table.
    pub(super) body: u64,
    /// First byte after the chunk.
    pub(super) end: u64,
    /// First byte after the file.
    pub(super) file_end: u64,
    /// Whether the chunk is shorter than it claims.
    pub(super) is_cut: bool,
}

impl Plan {
    /// `spare` is how many bytes may be read again because parts overlap each other or the next chunk.
    pub(super) fn new(
        kind: ChunkType,
        parts: &[Part],
        bounds: Bounds,
        spare: &mut u64,
        findings: &mut Findings,
    ) -> Result<Self> {
        let last = |wanted: fn(PartType) -> bool| parts.iter().rposition(|part| wanted(part.kind));
        let counts = [
            last(|kind| kind == PartType::FILE_HEADER),
            last(|kind| kind == PartType::STRING_TABLE),
            last(PartType::is_events),
        ];
        let mut plan = Self::default();
        let mut resources = 0;
        for (place, part) in parts.iter().copied().enumerate() {
            let counts = counts.contains(&Some(place));
            let mut content = Self::content(kind, part, counts, bounds, findings)?;
            if let Content::Resource(ordinal, _) = &mut content {
                *ordinal = resources;
                resources += 1;
            }
            plan.add(part, content, bounds, findings)?;
        }
        let missing = match (kind, counts) {
            (ChunkType::FILE_HEADER, [None, ..]) => Some(&NO_HEADER_PART),
            (ChunkType::EVENT_DATA, [.., None]) => Some(&NO_EVENT_BUFFER),
            _ => None,
        };
        if let Some(rule) = missing {
            findings.report(Finding::new(rule, Position::at(bounds.start)))?;
        }
        plan.sort(bounds, spare, findings)?;
        Ok(plan)
    }

    /// How a part is used; of those that may occur only once, only the last `counts`.
    fn content(chunk: ChunkType, part: Part, counts: bool, bounds: Bounds, findings: &mut Findings) -> Result<Content> {
        let content = match part.kind {
            kind if kind.name().is_none() => {
                report(findings, &PART_UNKNOWN, part, bounds)?;
                return Ok(Content::Unread);
            }
            PartType::FILE_HEADER if chunk == ChunkType::FILE_HEADER => Content::FileHeader,
            kind if chunk == ChunkType::FILE_HEADER => {
                let odd = Finding::new(&PART_MISPLACED, Position::at(bounds.start));
                findings.report(odd.with("type", kind.to_string()).with("chunk", chunk.to_string()))?;
                return Ok(Content::Unread);
            }
            PartType::STRING_TABLE => Content::Strings,
            PartType::BINARY_EVENT_BUFFER => Content::WordEvents,
            PartType::LEGACY_EVENT_BUFFER => Content::LegacyEvents,
            PartType::JSON_EVENT_BUFFER => Content::JsonEvents,
            kind if kind.is_resource() => return Ok(Content::Resource(0, kind)),
            _ => return Ok(Content::Unread),
        };
        if !counts {
            report(findings, &PART_REPLACED, part, bounds)?;
            return Ok(Content::Unread);
        }
        Ok(content)
    }

    fn add(&mut self, part: Part, content: Content, bounds: Bounds, findings: &mut Findings) -> Result<()> {
        let start = bounds.body.saturating_add(part.offset.into());
        let end = start.saturating_add(part.length.into());
        if end > bounds.file_end {
            report(findings, &PART_PAST_END, part, bounds)?;
        } else if end > bounds.end && !bounds.is_cut {
            let odd = Finding::new(&PART_PAST_CHUNK, Position::at(bounds.start));
            findings.report(odd.with("type", part.kind.to_string()).with("bytes", end - bounds.end))?;
        }
        let is_buffer = matches!(content, Content::WordEvents);
        if is_buffer && !start.is_multiple_of(4) {
            report(findings, &PART_UNALIGNED, part, bounds)?;
        }
        if is_buffer && !part.length.is_multiple_of(4) {
            let odd = Finding::new(&BUFFER_TAIL, Position::at(start));
            findings.report(odd.with("bytes", part.length))?;
        }
        let limit = if bounds.is_cut { bounds.end } else { bounds.file_end };
        self.overlaps |= end.min(limit) > bounds.end;
        let (start, end) = (start.min(limit), end.min(limit));
        if content == Content::Strings {
            self.strings = Some((start, end));
        }
        reserve(&mut self.steps, 1)?;
        self.steps.push(Step { start, end, content });
        Ok(())
    }

    fn sort(&mut self, bounds: Bounds, spare: &mut u64, findings: &mut Findings) -> Result<()> {
        self.steps.sort_by_key(|step| (step.start, step.end));
        let mut reached = 0;
        for step in &mut self.steps {
            // Two empty parts at one offset, or an empty one at the start of another, hide nothing.
            if step.start < reached {
                self.overlaps = true;
                let odd = Finding::new(&PART_OVERLAP, Position::at(step.start));
                findings.report(odd.with("type", format!("{:?}", step.content)))?;
            }
            let again = reached.min(step.end).saturating_sub(step.start);
            let again = again.max(step.end.saturating_sub(bounds.end.max(step.start)));
            if let Some(left) = spare.checked_sub(again) {
                *spare = left;
            } else {
                let odd = Finding::new(&PART_LEFT_OUT, Position::at(step.start)).with("bytes", step.end - step.start);
                findings.report(odd.with("type", format!("{:?}", step.content)))?;
                if step.content == Content::Strings {
                    self.strings = None;
                }
                step.content = Content::Unread;
            }
            reached = reached.max(step.end);
        }
        Ok(())
    }
}

fn report(findings: &mut Findings, rule: &'static traceloom_core::Rule, part: Part, bounds: Bounds) -> Result<()> {
    findings.report(Finding::new(rule, Position::at(bounds.start)).with("type", part.kind.to_string()))
}

/// Maximum number of parts in a chunk found by searching; real ones have two or three.
const MAX_PARTS_FOUND: u32 = 64;

/// Searches for the next bytes that are plausible as a whole chunk, at multiples of four from `from` on.
pub(super) fn find(source: &Source, from: u64, limits: &Limits) -> Result<Option<u64>> {
    let file_end = source.len()?;
    // The search is usually short, and there may be many of them.
    let limits = limits.clone().but(|limits| limits.window_bytes = limits.window_bytes.min(4096));
    let mut window = Window::new(source.clone(), &limits);
    window.seek(from.next_multiple_of(4));
    let longest = CHUNK_FIXED + PART_ENTRY * MAX_PARTS_FOUND as usize;
    loop {
        let offset = window.offset();
        let bytes = window.fill(longest)?;
        let Some(head) = Head::parse(bytes) else { return Ok(None) };
        if is_plausible(&head, bytes, file_end - offset) {
            return Ok(Some(offset));
        }
        window.consume(4);
    }
}

/// Where a chunk starts inside another one: searched for if the end of the other one is implausible, as if some of its
/// bytes were missing.
pub(super) fn swallowed(source: &Source, bounds: Bounds, limits: &Limits) -> Result<Option<u64>> {
    let mut next = [0; CHUNK_FIXED];
    let filled = source.read_full(bounds.end, &mut next)?;
    let left = bounds.file_end.saturating_sub(bounds.end);
    let makes_sense = |head: Head| (head.needed()..=left).contains(&head.length.into());
    // A file may end in a few bytes that are not a chunk, or in the first bytes of one.
    if filled < CHUNK_FIXED || Head::parse(&next).is_none_or(makes_sense) {
        return Ok(None);
    }
    Ok(find(source, bounds.start + 4, limits)?.filter(|begins| (bounds.body..bounds.end).contains(begins)))
}

fn is_plausible(head: &Head, bytes: &[u8], left: u64) -> bool {
    let length = u64::from(head.length);
    let fits = head.is_known()
        && (1..=MAX_PARTS_FOUND).contains(&head.part_count)
        && length.is_multiple_of(4)
        && (head.needed()..=left).contains(&length);
    let table = || bytes.get(CHUNK_FIXED..head.needed() as usize);
    fits && table().is_some_and(|table| {
        let entries = table.chunks_exact(PART_ENTRY);
        entries.into_iter().all(|entry| {
            let mut cursor = Cursor::new(entry, 0, ByteOrder::Little);
            let mut word = || cursor.u32("part").unwrap_or(u32::MAX);
            let (kind, offset, len) = (PartType(word()), word(), word());
            let room = length - head.needed();
            kind.name().is_some() && u64::from(offset) + u64::from(len) <= room
        })
    })
}
