//! What the suite needs to know of a format.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_bytes::{Descriptor, Options, Result, Sniff, Source};

use crate::Digest;

/// A format under test. Everything here is said once; the cases are the same for all formats.
pub trait Subject: Sync {
    /// The format as data.
    fn format(&self) -> &'static Descriptor;

    /// How sure the format is about these first bytes.
    fn sniff(&self, prefix: &[u8]) -> Sniff;

    /// Walks all records; the digest holds each of them with its place, and the findings.
    fn walk(&self, source: Source, options: &Options) -> Result<Digest>;

    /// Walks all records and keeps nothing; gives their number.
    fn drain(&self, source: Source, options: &Options) -> Result<u64>;

    /// Reads all records and writes them again.
    fn rewrite(&self, source: Source, options: &Options) -> Result<Vec<u8>>;

    /// Changes one field at a time through the records; each edit says which bytes may differ.
    fn edits(&self, source: Source) -> Result<Vec<FieldEdit>>;

    /// Whether the original tool accepts the file of this golden.
    fn accepts(&self, golden: &Value) -> bool;

    /// The golden, rebuilt in full by our reader; only what no reader can know is taken from `golden`.
    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value>;

    /// Whether `written` is what rewriting has to make of `read`: the same bytes, unless they are compressed.
    fn is_rewritten(&self, written: &[u8], read: &[u8]) -> bool {
        written == read
    }

    /// The folder of its files, below that of all formats.
    fn folder(&self) -> &'static str {
        self.format().id
    }

    /// The goldens beside an input; see [`crate::Case::golden`].
    fn goldens(&self, input: &Path) -> Vec<PathBuf> {
        vec![input.with_extension("json")]
    }

    /// Whether a file of the format's folder is a trace.
    fn is_input(&self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| self.format().extensions.contains(&extension))
    }

    /// Files of the format's folder that are neither traces nor goldens, by how their names end.
    fn companions(&self) -> &'static [&'static str] {
        &["README.md"]
    }
}

/// A file after one field was changed.
#[derive(Debug)]
pub struct FieldEdit {
    /// Which field.
    pub field: &'static str,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Where the field lies.
    pub place: Range<usize>,
}
