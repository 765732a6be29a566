//! Sections after the entries: levels, the dictionary, and bytes that belong to neither.

use traceloom_core::{Result, Sniff};

use super::{MAX_RESIDUE_BYTES, Reader, State, Step, locate::Span, residue};
use crate::{
    dictionary::{parse_level, parse_section, parse_site},
    findings::{ANOTHER_LOG, GAP, TRAILING},
    probe,
    raw::{HEADER_BYTES, LEVEL_FIXED, SECTION_HEADER_BYTES},
};

/// Maximum length of a level name.
const MAX_NAME_BYTES: usize = 255;

impl Reader {
    /// Unexplained bytes before a section.
    fn gap(&mut self, until: u64) -> Result<Option<Step>> {
        let bytes = until.saturating_sub(self.window.offset());
        self.report(&GAP, |odd| odd.with("bytes", bytes))?;
        let piece = usize::try_from(bytes).map_or(MAX_RESIDUE_BYTES, |bytes| bytes.min(MAX_RESIDUE_BYTES));
        let piece = piece.min(self.window.fill(piece)?.len());
        if piece == 0 {
            self.state = State::Trailing { reported: false };
        }
        Ok(residue(piece))
    }

    pub(super) fn next_section(&mut self, span: Option<Span>, next: State, after: State) -> Result<Option<Step>> {
        let Some(span) = span else {
            self.state = after;
            return Ok(None);
        };
        if self.window.offset() < span.at {
            return self.gap(span.at);
        }
        let Some(section) = parse_section(self.window.fill(SECTION_HEADER_BYTES)?, self.header.order) else {
            return self.shrunk();
        };
        self.state = next;
        Ok(Some(if matches!(next, State::Level(_)) { Step::Levels(section) } else { Step::Dictionary(section) }))
    }

    pub(super) fn next_level(&mut self, left: u32) -> Result<Option<Step>> {
        let Some((_, len)) = parse_level(self.window.fill(LEVEL_FIXED + MAX_NAME_BYTES)?) else { return self.shrunk() };
        self.state = State::Level(left - 1);
        Ok(Some(Step::Level(len)))
    }

    pub(super) fn next_site(&mut self, left: u32) -> Result<Option<Step>> {
        let (order, slots) = (self.header.order, self.slots);
        let mut wanted = 256;
        let len = loop {
            let bytes = self.window.fill(wanted)?;
            match parse_site(bytes, order, slots) {
                Some((_, len)) => break len,
                // Two names of at most 65 535 bytes.
                None if bytes.len() >= wanted && wanted < 1 << 18 => wanted *= 4,
                None => return self.shrunk(),
            }
        };
        self.state = State::Site(left - 1);
        Ok(Some(Step::Site(len)))
    }

    /// The file has become shorter since it was opened.
    #[cold]
    fn shrunk(&mut self) -> Result<Option<Step>> {
        self.state = State::Trailing { reported: false };
        Ok(None)
    }

    pub(super) fn next_trailing(&mut self) -> Result<Option<Step>> {
        let left = self.window.fill(MAX_RESIDUE_BYTES)?.len().min(MAX_RESIDUE_BYTES);
        if left == 0 {
            self.state = State::Done;
        } else if let State::Trailing { reported: false } = self.state {
            self.state = State::Trailing { reported: true };
            let bytes = self.window.source().len()?.saturating_sub(self.window.offset());
            let is_log = probe::sniff(self.window.fill(HEADER_BYTES)?) == Sniff::Yes;
            self.report(if is_log { &ANOTHER_LOG } else { &TRAILING }, |odd| odd.with("bytes", bytes))?;
        }
        Ok(residue(left))
    }
}
