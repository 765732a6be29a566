//! The part before the chunks: the first line, the lines of text, and the process.

use traceloom_core::{Finding, Position, Result};

use super::{Reader, State, Step};
use crate::{
    Dialect, Pair,
    dialect::ANCESTOR_MAGIC,
    pynytprof::{
        findings::{ANCESTOR, PROCESS_INTEGERS, TOKENS, VERSION},
        raw::{Form, LENGTH_PROCESS_BYTES, PROCESS_BYTES, Tag},
        record::{Process, Record},
        tokens,
    },
    record::brief,
};

/// Maximum size of the texts in the ancestor's header; it has three short ones.
const MAX_TEXTS: usize = 4 << 10;

impl Reader {
    pub(super) fn read_head(&mut self) -> Result<()> {
        let position = Position::at(0);
        if self.header.dialect == Dialect::Ancestor {
            self.checker.findings.report(Finding::new(&ANCESTOR, position))?;
            let len = self.ancestor_head()?;
            self.header.head = self.window.take(len).to_vec();
            self.state = State::Items(Form::Properties.into(), self.ancestor_texts()?);
            return Ok(());
        }
        let len = self.window.line_len()?;
        self.header.head = self.window.take(len).to_vec();
        if self.header.head != b"NYTProf 5 0\n" {
            let text = brief(self.header.head.trim_ascii_end());
            self.checker.findings.report(Finding::new(&VERSION, position.field("version")).with("text", text))?;
        }
        Ok(())
    }

    /// The ancestor's header is the magic and two numbers, or the magic, a number and a length; then chunks.
    fn ancestor_head(&mut self) -> Result<usize> {
        let ahead = self.window.fill(64)?;
        let is_chunk = |at: &usize| ahead.get(*at).is_some_and(|tag| Tag(*tag).is_known() || tag.is_ascii_lowercase());
        let shortest = ANCESTOR_MAGIC.len();
        let at = [shortest + 8, shortest + 12, shortest + 4].into_iter().find(is_chunk);
        Ok(at.unwrap_or(ahead.len().min(shortest + 8)))
    }

    /// Size of the texts `key=value` that some commits wrote after the ancestor's numbers, each with a NUL.
    fn ancestor_texts(&mut self) -> Result<u64> {
        let ahead = self.window.fill(MAX_TEXTS)?;
        let ahead = ahead.get(..MAX_TEXTS.min(ahead.len())).unwrap_or_default();
        let texts = ahead.split_inclusive(|byte| *byte == 0);
        let texts = texts.take_while(|text| text.first().is_some_and(u8::is_ascii_lowercase) && text.ends_with(&[0]));
        Ok(texts.map(|text| text.len() as u64).sum())
    }

    pub(super) fn banner(&mut self) -> Result<Step> {
        match self.window.fill(1)?.first() {
            Some(b':' | b'!' | b'#' | b'\n') => {
                let len = self.window.line_len()?;
                let position = self.position();
                let line = self.window.bytes().get(..len).unwrap_or_default();
                if line.last() != Some(&b'\n') {
                    return self.truncated("a line of text".to_owned(), len as u64 + 1);
                }
                self.checker.text(line, position)?;
                Ok(Step::Text { len })
            }
            Some(b'z') if !self.is_inflated => self.start_deflate(),
            _ => {
                self.checker.end_banner(self.position())?;
                self.state = State::Process;
                Ok(Step::Again)
            }
        }
    }

    pub(super) fn process(&mut self) -> Result<Step> {
        self.state = if self.header.dialect == Dialect::Tokens { State::Tokens } else { State::Started };
        if self.header.dialect == Dialect::VariableProcess {
            return self.variable_process();
        }
        let position = self.position();
        let has_length = self.header.dialect == Dialect::LengthProcess;
        let len = if has_length { LENGTH_PROCESS_BYTES } else { PROCESS_BYTES };
        let bytes = self.window.fill(len)?;
        if bytes.first() != Some(&b'P') {
            self.checker.no_process(position)?;
            return Ok(Step::Again);
        }
        let Some(fields) = bytes.get(len - 16..).and_then(|fields| fields.first_chunk()) else {
            return self.truncated("the process record".to_owned(), len as u64);
        };
        let process = Process { has_length, ..Process::decode(*fields) };
        self.checker.process(&process, position)?;
        if self.header.dialect == Dialect::Tokens {
            self.checker.findings.report(Finding::new(&TOKENS, position))?;
        }
        Ok(Step::Process(process, len))
    }

    fn variable_process(&mut self) -> Result<Step> {
        let position = self.position();
        let Some((start, len)) = tokens::process(self.window.fill(32)?) else {
            self.checker.no_process(position)?;
            return Ok(Step::Again);
        };
        let process = Process::from(&start);
        self.checker.process(&process, position)?;
        self.checker.findings.report(Finding::new(&PROCESS_INTEGERS, position))?;
        Ok(Step::Token { len })
    }
}

/// The record of a line.
pub(super) fn text(line: &[u8]) -> Record<'_> {
    let text = line.get(1..line.len().saturating_sub(1)).unwrap_or_default();
    match line.first() {
        Some(b'#') => Record::Comment(text),
        Some(b':') => Record::Attribute(Pair::split(text)),
        Some(b'!') => Record::Option(Pair::split(text)),
        _ => Record::Blank,
    }
}
