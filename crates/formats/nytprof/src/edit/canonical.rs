//! Writes a file as a clean writer would.

use std::io::Write;

use traceloom_core::{Describe, Edited, Loss, Options, Records, Result, Source};

use super::{is_closing_text, is_compression_comment, is_text, level_of, names_pynytprof, start_deflate, with_doubles};
use crate::{Header, Pair, Record, Writer, create, open, record::brief};

/// Writes `source` again from scratch: version 5.0, shortest integers, 8-byte numbers, compressed as in `variant` or as
/// it was.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let compression = variant.map(level_of).transpose()?;
    let mut reader = open(source.clone(), options)?;
    let mut clean = Clean { writer: create(out, &Header::default())?, compression, loss: Loss::default() };
    reader.walk(|located| clean.record(&located.record))?;
    let Clean { mut writer, compression, loss } = clean;
    if let Some(Some(level)) = compression {
        start_deflate(&mut writer, level)?;
    }
    writer.finish()?;
    Ok(Edited { findings: reader.into_findings(), loss })
}

struct Clean<W: Write> {
    writer: Writer<W>,
    /// `None`: like the input. `Some(Some(_))`: not started yet.
    compression: Option<Option<u8>>,
    loss: Loss,
}

impl<W: Write> Clean<W> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::Comment(text) if self.compression.is_some() && is_compression_comment(text) => return Ok(()),
            Record::Comment(text) if names_pynytprof(text, &mut self.loss) => return Ok(()),
            Record::StartDeflate(_) | Record::EndDeflate if self.compression.is_some() => return Ok(()),
            Record::Residue(bytes) => {
                if !is_closing_text(bytes) {
                    self.loss.lose("unrecognized bytes", || brief(bytes));
                }
                return Ok(());
            }
            Record::Attribute(Pair { key, value: None }) | Record::Option(Pair { key, value: None }) => {
                self.loss.lose("lines without a value", || brief(key));
                return Ok(());
            }
            Record::Attribute(Pair { key: b"nv_size", .. }) => {
                return self.writer.write(&Record::Attribute(Pair::new(b"nv_size", b"8")));
            }
            _ => {}
        }
        if let Some(Some(level)) = self.compression
            && !is_text(record)
        {
            start_deflate(&mut self.writer, level)?;
            self.compression = Some(None);
        }
        let (record, is_exact) = with_doubles(record);
        if !is_exact {
            self.loss.lose("digits of numbers that a double cannot hold", || format!("of a {} record", record.kind()));
        }
        self.writer.write(&record)
    }
}
