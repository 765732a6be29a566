//! Edits that read what they wrote before they say that it is fine.

use std::io::{self, Write};

use super::{Codec, Edited, Loss, Mode, Options};
use crate::{
    ErrorKind, Result, Source,
    spill::{Temporary, temporary},
};

/// Runs an edit and reads its output as the tool of the format does; what that still refuses is in the loss.
pub fn checked<C: Codec, W: Write>(
    out: W,
    options: &Options,
    edit: impl FnOnce(&mut Copied<W>) -> Result<Edited>,
) -> Result<Edited> {
    let mut copied = Copied { out, copy: temporary::create()? };
    let mut edited = edit(&mut copied)?;
    let written = Source::custom(copied.copy);
    let refusal = match C::check(&written, &options.clone().with_mode(Mode::Strict)) {
        Ok(_) => C::settle(&written, options)?.map(|id| format!("it would be taken for {id}")),
        Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => return Err(error),
        Err(error) => Some(error.to_string()),
    };
    if let Some(refusal) = refusal {
        edited.loss.lose(Loss::REMAINING, || refusal);
    }
    Ok(edited)
}

/// An output of which a copy is kept in a temporary file.
#[derive(Debug)]
pub struct Copied<W> {
    out: W,
    copy: Temporary,
}

impl<W: Write> Write for Copied<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        temporary::append(&mut self.copy, bytes.get(..written).unwrap_or_default()).map_err(io::Error::other)?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
