//! The input of the parser: a window over a source, or memory.

use crate::{Result, Window};

/// Text that is read front to back.
pub trait Input {
    /// Makes `wanted` bytes available and returns what is available: fewer only at the end of the text.
    fn ahead(&mut self, wanted: usize) -> Result<&[u8]>;

    /// Moves past `len` bytes and returns them; all of them must be available.
    fn take(&mut self, len: usize) -> &[u8];

    /// The offset of the next byte.
    fn offset(&self) -> u64;
}

impl Input for Window {
    #[inline]
    fn ahead(&mut self, wanted: usize) -> Result<&[u8]> {
        self.fill(wanted)
    }

    #[inline]
    fn take(&mut self, len: usize) -> &[u8] {
        Window::take(self, len)
    }

    #[inline]
    fn offset(&self) -> u64 {
        Window::offset(self)
    }
}

impl<I: Input> Input for &mut I {
    #[inline]
    fn ahead(&mut self, wanted: usize) -> Result<&[u8]> {
        (**self).ahead(wanted)
    }

    #[inline]
    fn take(&mut self, len: usize) -> &[u8] {
        (**self).take(len)
    }

    #[inline]
    fn offset(&self) -> u64 {
        (**self).offset()
    }
}

/// Text in memory.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Memory<'a> {
    /// Text that starts at `offset` in its file.
    pub const fn new(text: &'a [u8], offset: u64) -> Self {
        Self { rest: text, offset }
    }
}

impl Input for Memory<'_> {
    #[inline]
    fn ahead(&mut self, _wanted: usize) -> Result<&[u8]> {
        Ok(self.rest)
    }

    #[inline]
    fn take(&mut self, len: usize) -> &[u8] {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, &[]));
        self.rest = rest;
        self.offset += taken.len() as u64;
        taken
    }

    #[inline]
    fn offset(&self) -> u64 {
        self.offset
    }
}
