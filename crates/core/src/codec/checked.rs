//! Edits that read their own output before they report success.

use std::io::{self, Write};

use super::{Codec, Edited, Loss, Mode, Options};
use crate::{
    ErrorKind, Result, Source,
    spill::{Temporary, temporary},
};

/// Runs an edit and reads its output in strict mode; if the format's tool would still refuse the output, the loss says
/// why.
pub fn checked<C: Codec, W: Write>(
    out: W,
    options: &Options,
    edit: impl FnOnce(&mut Copied<W>) -> Result<Edited>,
) -> Result<Edited> {
    let mut copied = Copied { out, copy: temporary::create()? };
    let mut edited = edit(&mut copied)?;
    let written = Source::custom(copied.copy);
    let refusal = match C::check(&written, &options.clone().with_mode(Mode::Strict)) {
        Ok(_) => C::settle(&written, options)?.map(|id| format!("it would be detected as {id}")),
        Err(error) if matches!(error.kind(), ErrorKind::Io(_)) => return Err(error),
        Err(error) => Some(error.to_string()),
    };
    if let Some(refusal) = refusal {
        edited.loss.lose(Loss::REMAINING, || refusal);
    }
    Ok(edited)
}

/// An output that keeps a copy in a temporary file.
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
