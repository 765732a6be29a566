//! Output of edits.

use std::io::{self, Write};

/// Remembers whether writing failed, because an edit also reads, and a write error must not be attributed to the trace.
pub(crate) struct Output<'w> {
    out: &'w mut dyn Write,
    pub(crate) has_failed: bool,
}

impl<'w> Output<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Self {
        Self { out, has_failed: false }
    }

    fn watch<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        self.has_failed |= outcome.is_err();
        outcome
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.watch(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.watch(flushed)
    }
}
