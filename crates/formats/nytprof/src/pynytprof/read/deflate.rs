//! The compressed part of a file.

use traceloom_core::{Finding, Position, Result, Source, Window};

use super::{Reader, State, Step};
use crate::{
    inflate::{Inflater, Outcome, Wrapper},
    pynytprof::findings::{ZLIB, ZLIB_DAMAGED},
};

impl Reader {
    /// The compressed part is small and needs random access, so it is unpacked to a temporary file.
    pub(super) fn start_deflate(&mut self) -> Result<Step> {
        let offset = self.window.offset();
        self.checker.findings.report(Finding::new(&ZLIB, Position::at(offset)))?;
        let (wrapper, level) = Wrapper::of(self.window.fill(4)?.get(1..).unwrap_or_default());
        let inflater = Inflater::new(self.file.clone(), offset + 1, wrapper, &self.limits)?;
        self.source = Source::spool(inflater.source().stream(), &self.limits)?;
        self.length = self.source.len()?;
        self.window = Window::new(self.source.clone(), &self.limits);
        self.is_inflated = true;
        let reason = match inflater.outcome() {
            Some(Outcome::Complete(next)) => {
                self.after_inflated = Some(next);
                None
            }
            Some(Outcome::Checksum(next)) => {
                self.after_inflated = Some(next);
                Some("complete and has a wrong checksum".to_owned())
            }
            Some(Outcome::Damaged(reason)) => Some(format!("damaged ({reason})")),
            Some(Outcome::Truncated) | None => Some("cut".to_owned()),
        };
        if let Some(reason) = reason {
            let damaged = Finding::new(&ZLIB_DAMAGED, Position::at(offset)).with("reason", reason);
            self.checker.findings.report(damaged.with("bytes", inflater.produced()))?;
        }
        Ok(Step::StartDeflate { offset, level })
    }

    pub(super) fn end_of_part(&mut self) -> Result<Step> {
        let position = self.position();
        if let Some(next) = self.after_inflated.take() {
            self.is_inflated = false;
            (self.source, self.length) = (self.file.clone(), self.file_bytes);
            self.window = Window::new(self.file.clone(), &self.limits);
            self.window.seek(next);
            self.state = State::Residue;
            if self.left() > 0 {
                self.after_end()?;
            }
            return Ok(Step::EndDeflate { offset: position.offset });
        }
        self.state = State::Done;
        self.checker.finish(self.header.dialect, position)?;
        Ok(Step::Done)
    }
}
