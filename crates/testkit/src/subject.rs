//! What the suite needs to know of a format.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_core::{Descriptor, Options, Result, Sniff, Source};

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

    /// Reads all records and writes them again, with other values in the fields for which `is_changed` says so.
    fn rewrite_with(&self, source: Source, options: &Options, is_changed: &mut IsChanged<'_>) -> Result<Vec<u8>>;

    /// Whether the original tool accepts the file of this golden.
    fn accepts(&self, golden: &Value) -> bool;

    /// The golden, rebuilt in full by our reader; only what no reader can know is taken from `golden`.
    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value>;

    /// Reads all records and writes them again.
    fn rewrite(&self, source: Source, options: &Options) -> Result<Vec<u8>> {
        self.rewrite_with(source, options, &mut |_, _| false)
    }

    /// What of a file rewriting keeps: every byte, unless they are compressed.
    fn kept<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        bytes.into()
    }

    /// Whether `written` is what rewriting has to make of `read`.
    fn is_rewritten(&self, written: &[u8], read: &[u8]) -> bool {
        match self.kept(read) {
            Cow::Borrowed(read) => written == read,
            // Of damaged data a reader may get more than we do here.
            Cow::Owned(kept) => self.kept(written).starts_with(&kept),
        }
    }

    /// Changes one field at a time through the records: the first and the last of each kind.
    fn edits(&self, bytes: &[u8]) -> Result<Vec<FieldEdit>> {
        // The records of a compressed part have no bytes of their own.
        if let Cow::Owned(_) = self.kept(bytes) {
            return Ok(Vec::new());
        }
        let rewrite =
            |is_changed: &mut IsChanged<'_>| self.rewrite_with(Source::bytes(bytes), &Options::default(), is_changed);
        let mut fields = Vec::new();
        rewrite(&mut |field, place| {
            fields.push((field, place));
            false
        })?;
        let edit = |at: usize| {
            let mut numbers = 0..;
            let bytes = rewrite(&mut |_, _| numbers.next() == Some(at))?;
            let (field, place) = fields[at].clone();
            Ok(FieldEdit { field, bytes, place })
        };
        outermost(&fields).into_iter().map(edit).collect()
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

/// Told of each field that can be changed by itself, and where in the file it lies; `true` changes it.
pub type IsChanged<'c> = dyn FnMut(&'static str, Range<usize>) -> bool + 'c;

/// The indices of the first and the last field of each name.
fn outermost(fields: &[(&'static str, Range<usize>)]) -> BTreeSet<usize> {
    let (mut first, mut last) = (BTreeMap::new(), BTreeMap::new());
    for (index, (field, _)) in fields.iter().enumerate() {
        first.entry(field).or_insert(index);
        last.insert(field, index);
    }
    first.into_values().chain(last.into_values()).collect()
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
