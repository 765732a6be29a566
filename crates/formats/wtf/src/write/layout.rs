//! Writes chunks in the requested form.

use std::io::Write;

use traceloom_core::Result;

use super::{encode, json};
use crate::raw::{ChunkType, FORMAT_VERSION, MAGIC, PartType, WTF_VERSION};

/// The form of a file.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Form {
    /// Chunks in binary.
    #[default]
    Binary,
    /// One JSON document, event buffers in base64.
    Json,
    /// A JSON document for the header and one per chunk.
    JsonPartial,
    /// One JSON document with readable events.
    JsonEvents,
}

impl Form {
    /// The form that a variant of the format names.
    pub fn from_variant(variant: &str) -> Option<Self> {
        Some(match variant {
            "binary" => Self::Binary,
            "json" => Self::Json,
            "json-partial" => Self::JsonPartial,
            "json-events" => Self::JsonEvents,
            _ => return None,
        })
    }
}

/// A file that chunks are appended to.
#[derive(Debug)]
pub(super) struct Layout<W> {
    out: W,
    form: Form,
    next_chunk: u32,
}

impl<W: Write> Layout<W> {
    /// Starts a file.
    pub(super) fn new(mut out: W, form: Form) -> Result<Self> {
        match form {
            Form::Binary => {
                for word in [MAGIC, WTF_VERSION as u32, FORMAT_VERSION] {
                    out.write_all(&word.to_le_bytes())?;
                }
            }
            Form::Json | Form::JsonEvents => {
                let versions = format!("\"wtfVersion\": {WTF_VERSION},\n  \"formatVersion\": {FORMAT_VERSION}");
                write!(out, "{{\n  {versions},\n  \"chunks\": [\n    ")?;
            }
            Form::JsonPartial => {
                writeln!(out, "{{\n  \"wtfVersion\": {WTF_VERSION},\n  \"formatVersion\": {FORMAT_VERSION}\n}}")?;
            }
        }
        Ok(Self { out, form, next_chunk: 1 })
    }

    pub(super) const fn form(&self) -> Form {
        self.form
    }

    /// Adds a chunk.
    pub(super) fn put_chunk(&mut self, kind: ChunkType, times: (u32, u32), parts: &[(PartType, &[u8])]) -> Result<()> {
        let id = self.next_chunk;
        self.next_chunk += 1;
        if self.form == Form::Binary {
            self.out.write_all(&encode::chunk(id, kind, times, parts)?)?;
            return Ok(());
        }
        let text = json::chunk(id, kind, times, parts);
        if self.form == Form::JsonPartial {
            self.out.write_all(b"{\"chunks\": [")?;
            self.out.write_all(&text)?;
            self.out.write_all(b"]}\n")?;
            return Ok(());
        }
        if id > 1 {
            self.out.write_all(b",\n    ")?;
        }
        Ok(self.out.write_all(&text)?)
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<W> {
        if let Form::Json | Form::JsonEvents = self.form {
            self.out.write_all(b"\n  ]\n}")?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}
