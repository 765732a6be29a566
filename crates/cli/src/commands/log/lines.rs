//! Selects the rendered lines to print: the first, the last, or the ones around matches.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use traceloom_core::Result;

use crate::{
    args,
    output::{raw_stdout, stdout},
};

/// A consumer of rendered lines.
pub(super) trait TakeLines {
    /// Accepts a line that matches.
    fn put(&mut self, line: &[u8]) -> Result<()>;

    /// Accepts a line that does not match.
    fn put_other(&mut self, line: &[u8]) -> Result<()>;

    /// Whether lines that do not match are needed as well.
    fn has_context(&self) -> bool;

    /// Whether lines are for a person: with colors, and without the control characters of the log.
    fn is_shown(&self) -> bool;

    /// Flushes the output.
    fn flush(&mut self) -> Result<()>;
}

/// Lines that were rendered on another thread.
#[derive(Clone)]
pub(super) struct Page {
    text: Vec<u8>,
    /// The end of each line, and whether it matches.
    lines: Vec<(usize, bool)>,
    has_context: bool,
    is_shown: bool,
}

impl Page {
    fn push(&mut self, line: &[u8], is_match: bool) {
        self.text.extend_from_slice(line);
        self.lines.push((self.text.len(), is_match));
    }
}

/// Pages whose memory is used again: fresh memory costs as much as a tenth of the text.
pub(super) struct Pages {
    empty: Page,
    unused: Mutex<Vec<Page>>,
}

impl Pages {
    pub(super) fn new(empty: Page) -> Self {
        Self { empty, unused: Mutex::default() }
    }

    /// A page to fill.
    pub(super) fn empty(&self) -> Page {
        self.unused().pop().unwrap_or_else(|| self.empty.clone())
    }

    /// Returns a page that is printed.
    pub(super) fn put_back(&self, mut page: Page) {
        page.text.clear();
        page.lines.clear();
        self.unused().push(page);
    }

    fn unused(&self) -> MutexGuard<'_, Vec<Page>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakeLines for Page {
    fn put(&mut self, line: &[u8]) -> Result<()> {
        self.push(line, true);
        Ok(())
    }

    fn put_other(&mut self, line: &[u8]) -> Result<()> {
        self.push(line, false);
        Ok(())
    }

    fn has_context(&self) -> bool {
        self.has_context
    }

    fn is_shown(&self) -> bool {
        self.is_shown
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The output of lines.
pub(super) struct Out {
    to: Box<dyn Write>,
    is_shown: bool,
    /// Number of matches so far.
    pub(super) matches: u64,
    limit: u64,
    /// The last lines, which are printed at the end.
    tail: Option<VecDeque<Vec<u8>>>,
    tail_lines: usize,
    /// Number of lines to print before and after a match.
    context: usize,
    before: VecDeque<Vec<u8>>,
    after: usize,
    /// Whether lines were skipped since the last printed one.
    has_gap: bool,
}

impl Out {
    pub(super) fn new(arguments: &args::log::Log) -> Self {
        let wants_colors =
            io::stdout().is_terminal() || anstream::ColorChoice::global() == anstream::ColorChoice::Always;
        // JSON has no colors, and the decompressor's text must match byte for byte.
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

    /// An empty page for this output.
    pub(super) fn page(&self) -> Page {
        Page { text: Vec::new(), lines: Vec::new(), has_context: self.has_context(), is_shown: self.is_shown }
    }

    /// Whether there is no limit, so that pages may be rendered ahead.
    pub(super) fn is_endless(&self) -> bool {
        self.limit == u64::MAX
    }

    /// Accepts the lines of a page.
    pub(super) fn put_page(&mut self, page: &Page) -> Result<()> {
        if self.is_endless() && self.tail.is_none() && self.context == 0 {
            self.matches += page.lines.len() as u64;
            return Ok(self.to.write_all(&page.text)?);
        }
        let mut start = 0;
        for (end, is_match) in &page.lines {
            let line = &page.text[start..*end];
            if *is_match {
                self.put(line)?;
            } else {
                self.put_other(line)?;
            }
            start = *end;
        }
        Ok(())
    }

    /// Whether the limit is reached.
    pub(super) fn is_full(&self) -> bool {
        self.matches >= self.limit && self.after == 0
    }

    fn print(&mut self, line: &[u8]) -> Result<()> {
        let Some(tail) = &mut self.tail else { return Ok(self.to.write_all(line)?) };
        tail.push_back(line.to_vec());
        if tail.len() > self.tail_lines {
            tail.pop_front();
        }
        Ok(())
    }

    /// Prints the last lines.
    pub(super) fn finish(&mut self) -> Result<()> {
        for line in self.tail.take().unwrap_or_default() {
            self.to.write_all(&line)?;
        }
        self.flush()
    }
}

impl TakeLines for Out {
    fn put(&mut self, line: &[u8]) -> Result<()> {
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

    fn put_other(&mut self, line: &[u8]) -> Result<()> {
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

    fn has_context(&self) -> bool {
        self.context > 0
    }

    fn is_shown(&self) -> bool {
        self.is_shown
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.to.flush()?)
    }
}
