//! Buffered JSON output.

use std::io::Write;

use traceloom_core::{Result, text::json::Writer};

/// Number of bytes written at once.
const FULL: usize = 64 << 10;

/// A JSON writer that is flushed periodically.
pub(super) struct Out<'a> {
    pub(super) json: Writer,
    out: &'a mut dyn Write,
}

impl<'a> Out<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { json: Writer::default(), out }
    }

    #[inline]
    pub(super) fn flush_when_full(&mut self) -> Result<()> {
        if self.json.out.len() >= FULL { self.flush() } else { Ok(()) }
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        self.json.out.push(b'\n');
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.json.out)?;
        self.json.out.clear();
        Ok(())
    }
}
