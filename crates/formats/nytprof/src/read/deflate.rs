//! The compressed part of a file: where it starts, where it ends, and what follows.

use traceloom_core::{Finding, Position, Result, Window};

use super::{Part, Reader, State, Step};
use crate::{
    findings::{ZLIB_CHECKSUM, ZLIB_DAMAGED, ZLIB_HEADER, ZLIB_NESTED, ZLIB_TRAILING, ZLIB_TRUNCATED},
    inflate::{Inflater, Outcome, Wrapper},
};

impl Reader {
    pub(super) fn start_deflate(&mut self) -> Result<Step> {
        let position = self.position();
        if self.part == Part::Inflated {
            self.checker.findings.report(Finding::new(&ZLIB_NESTED, position))?;
            self.state = State::Residue;
            return self.residue();
        }
        let (wrapper, level) = Wrapper::of(self.window.fill(4)?.get(1..).unwrap_or_default());
        if wrapper != Wrapper::Zlib {
            let odd = Finding::new(&ZLIB_HEADER, position).with("found", wrapper.name());
            self.checker.findings.report(odd)?;
        }
        let inflater = Inflater::new(self.source.clone(), position.offset + 1, wrapper, &self.limits)?;
        self.window = Window::new(inflater.source(), &self.limits);
        self.inflater = Some(inflater);
        self.part = Part::Inflated;
        Ok(Step::StartDeflate { offset: position.offset, level })
    }

    /// Called when all bytes of the part have been read.
    pub(super) fn end_of_part(&mut self) -> Result<Step> {
        let position = self.position();
        let outcome = self.inflater.as_ref().and_then(Inflater::outcome);
        let (Part::Inflated, Some(outcome)) = (self.part, outcome) else { return self.finish(position) };
        let at = |rule| Finding::new(rule, position).with("bytes", position.offset);
        let next = match outcome {
            Outcome::Complete(next) => next,
            Outcome::Checksum(next) => {
                self.checker.findings.report(at(&ZLIB_CHECKSUM))?;
                next
            }
            Outcome::Truncated => {
                self.checker.findings.report(at(&ZLIB_TRUNCATED))?;
                return self.finish(position);
            }
            Outcome::Damaged(reason) => {
                self.checker.findings.report(at(&ZLIB_DAMAGED).with("reason", reason))?;
                return self.finish(position);
            }
        };
        self.part = Part::AfterInflated;
        self.state = State::Residue;
        self.window = Window::new(self.source.clone(), &self.limits);
        self.window.seek(next);
        self.inspect_trailer(next)?;
        Ok(Step::EndDeflate { offset: position.offset })
    }

    fn inspect_trailer(&mut self, at: u64) -> Result<()> {
        let bytes = self.source.len()?.saturating_sub(at);
        let trailer = self.window.fill(15)?;
        if !trailer.is_empty() && !trailer.starts_with(b"#\n# Compressed ") {
            let odd = Finding::new(&ZLIB_TRAILING, Position::at(at)).with("bytes", bytes);
            self.checker.findings.report(odd)?;
        }
        Ok(())
    }

    fn finish(&mut self, position: Position) -> Result<Step> {
        self.state = State::Done;
        self.checker.finish(position)?;
        Ok(Step::Done)
    }
}
