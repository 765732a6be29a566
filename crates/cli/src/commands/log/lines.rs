//! Which of the rendered lines are printed: the first, the last, or those around matches.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal, Write},
};

use traceloom_core::Result;

use crate::{
    args,
    output::{raw_stdout, stdout},
};

/// Where the lines go.
pub(super) struct Out {
    to: Box<dyn Write>,
    /// Whether a person reads it: with colors, and without the control characters of the log.
    pub(super) is_shown: bool,
    /// Matches that were taken.
    pub(super) matches: u64,
    limit: u64,
    /// The last lines, which are printed at the end.
    tail: Option<VecDeque<Vec<u8>>>,
    tail_lines: usize,
    /// Lines before a match and after it.
    context: usize,
    before: VecDeque<Vec<u8>>,
    after: usize,
    /// Whether lines were left out since the last one.
    has_gap: bool,
}

impl Out {
    pub(super) fn new(arguments: &args::Log) -> Self {
        let wants_colors =
            io::stdout().is_terminal() || anstream::ColorChoice::global() == anstream::ColorChoice::Always;
        // JSON has none, and of the decompressor's text every byte counts.
        let is_shown = wants_colors && !arguments.json && !arguments.compat;
        Self {
            to: if is_shown { Box::new(stdout()) } else { Box::new(raw_stdout()) },
            is_shown,
            matches: 0,
            limit: arguments.limit.unwrap_or(u64::MAX),
            tail: arguments.tail.map(|_| VecDeque::new()),
            tail_lines: arguments.tail.unwrap_or(0),
            context: arguments.context,
            before: VecDeque::new(),
            after: 0,
            has_gap: false,
        }
    }

    /// Whether lines that do not match are needed, too.
    pub(super) fn has_context(&self) -> bool {
        self.context > 0
    }

    /// Whether no more lines are wanted.
    pub(super) fn is_full(&self) -> bool {
        self.matches >= self.limit && self.after == 0
    }

    /// Takes a line that matches.
    pub(super) fn put(&mut self, line: &[u8]) -> Result<()> {
        if self.matches >= self.limit {
            return Ok(());
        }
        self.matches += 1;
        if std::mem::take(&mut self.has_gap) && self.context > 0 && self.matches > 1 {
            self.print(b"--\n")?;
        }
        for line in std::mem::take(&mut self.before) {
            self.print(&line)?;
        }
        self.after = self.context;
        self.print(line)
    }

    /// Takes a line that does not match.
    pub(super) fn put_other(&mut self, line: &[u8]) -> Result<()> {
        if self.after > 0 {
            self.after -= 1;
            return self.print(line);
        }
        self.before.push_back(line.to_vec());
        if self.before.len() > self.context {
            self.before.pop_front();
            self.has_gap = true;
        }
        Ok(())
    }

    fn print(&mut self, line: &[u8]) -> Result<()> {
        let Some(tail) = &mut self.tail else { return Ok(self.to.write_all(line)?) };
        tail.push_back(line.to_vec());
        if tail.len() > self.tail_lines {
            tail.pop_front();
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        Ok(self.to.flush()?)
    }

    /// Prints the last lines.
    pub(super) fn finish(&mut self) -> Result<()> {
        for line in self.tail.take().unwrap_or_default() {
            self.to.write_all(&line)?;
        }
        self.flush()
    }
}
