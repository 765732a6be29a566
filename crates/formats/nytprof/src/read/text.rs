//! Lines of text.

use traceloom_core::{Finding, Position, Result};

use super::{Part, Reader, Step};
use crate::{
    Pair, Record,
    findings::{ATTRIBUTE_MALFORMED, OPTION_MALFORMED, TEXT_LONG, TEXT_NUL, TEXT_STRADDLES},
    parse::Stop,
    raw::{ORIGINAL_BUFFER, ORIGINAL_LINE, Tag},
    record::brief,
};

impl Reader {
    pub(super) fn text(&mut self, tag: Tag) -> Result<Step> {
        let len = self.window.line_len()?;
        if self.window.bytes().get(len - 1) != Some(&b'\n') {
            return self.stop(tag, Stop::Need(len + 1));
        }
        self.inspect_text(tag, len, self.position())?;
        Ok(Step::Text { tag, len })
    }

    fn inspect_text(&mut self, tag: Tag, len: usize, position: Position) -> Result<()> {
        let line = self.window.bytes().get(1..len - 1).unwrap_or_default();
        let (checker, at) = (&mut self.checker, |rule| Finding::new(rule, position));
        let is_inflated = self.part == Part::Inflated;
        if line.contains(&0) && !is_inflated {
            checker.findings.report(at(&TEXT_NUL))?;
        }
        if is_inflated && line.len() > ORIGINAL_LINE {
            checker.findings.report(at(&TEXT_LONG).with("bytes", line.len()))?;
        }
        let (first, last) = (position.offset + 1, position.offset + len as u64 - 1);
        if is_inflated && first / ORIGINAL_BUFFER != last / ORIGINAL_BUFFER {
            checker.findings.report(at(&TEXT_STRADDLES))?;
        }
        let pair = Pair::split(line);
        match (tag, pair.value) {
            (Tag::ATTRIBUTE, Some(value)) => checker.attribute(pair.key, value, position),
            (Tag::ATTRIBUTE, None) => checker.findings.report(at(&ATTRIBUTE_MALFORMED).with("key", brief(pair.key))),
            (Tag::OPTION, None) => checker.findings.report(at(&OPTION_MALFORMED).with("key", brief(pair.key))),
            _ => Ok(()),
        }
    }
}

/// The record of a line, from its tag to its newline.
pub(super) fn text_record(tag: Tag, line: &[u8]) -> Record<'_> {
    let text = line.get(1..line.len().saturating_sub(1)).unwrap_or_default();
    match tag {
        Tag::ATTRIBUTE => Record::Attribute(Pair::split(text)),
        Tag::OPTION => Record::Option(Pair::split(text)),
        _ => Record::Comment(text),
    }
}
