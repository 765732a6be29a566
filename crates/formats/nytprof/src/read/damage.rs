//! What to do if no record can be read.

use traceloom_core::{Finding, Position, Result};

use super::{MAX_PROBED, Part, Reader, State, Step};
use crate::{
    findings::{STRING_TAG, TRUNCATED, UNKNOWN_TAG},
    inflate::{Inflater, Outcome},
    parse::Stop,
    raw::Tag,
};

impl Reader {
    /// The record at the front cannot be read.
    pub(super) fn stop(&mut self, tag: Tag, stop: Stop) -> Result<Step> {
        let position = self.position();
        let left = self.window.bytes().len();
        match stop {
            Stop::Need(needed) => {
                self.state = State::Residue;
                // A truncation inside the compressed part is reported once, as such.
                if !self.is_cut_inflating() {
                    let cut = Finding::new(&TRUNCATED, position).with("record", tag.to_string());
                    self.checker.findings.report(cut.with("needed", needed).with("left", left))?;
                }
            }
            Stop::NoString { at, tag } => {
                self.state = State::Residue;
                let place = Position { offset: position.offset + at as u64, ..position };
                let odd = Finding::new(&STRING_TAG, place).with("tag", Tag(tag).to_string());
                self.checker.findings.report(odd)?;
            }
            Stop::Unknown => return self.unknown(tag, position),
        }
        self.residue()
    }

    fn is_cut_inflating(&self) -> bool {
        let outcome = self.inflater.as_ref().and_then(Inflater::outcome);
        self.part == Part::Inflated && matches!(outcome, Some(Outcome::Truncated | Outcome::Damaged(_)))
    }

    fn unknown(&mut self, tag: Tag, position: Position) -> Result<Step> {
        let resumes = self.state == State::Text && self.part == Part::Plain;
        let len = if resumes { self.stray_lines()? } else { None };
        let skipped = match len {
            Some(len) => format!("{len} bytes up to the next valid line are skipped"),
            None => "the rest cannot be read".to_owned(),
        };
        let unknown = Finding::new(&UNKNOWN_TAG, position).with("tag", tag.to_string()).with("skipped", skipped);
        self.checker.findings.report(unknown)?;
        match len {
            Some(len) => Ok(Step::Residue { len }),
            None => {
                self.state = State::Residue;
                self.residue()
            }
        }
    }

    /// The profiler writes a script's name unchanged, with its newlines: the text after one is not a record.
    fn stray_lines(&mut self) -> Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let bytes = self.window.bytes();
            let pairs = bytes.windows(2).skip(searched);
            let found = pairs.enumerate().find(|(_, pair)| matches!(pair, [b'\n', b':' | b'!' | b'#' | b'P' | b'z']));
            if let Some((index, _)) = found {
                return Ok(Some(searched + index + 1));
            }
            let available = bytes.len();
            if available > MAX_PROBED || self.window.grow(available + 1)? <= available {
                return Ok(None);
            }
            searched = available.saturating_sub(1);
        }
    }

    pub(super) fn residue(&mut self) -> Result<Step> {
        match self.window.fill(1)?.len() {
            0 => self.end_of_part(),
            len => Ok(Step::Residue { len }),
        }
    }
}
