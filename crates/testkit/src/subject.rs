//! What the suite needs to know about a format.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_core::{Codec, Descriptor, Error, Options, RecordWriter, Records, Result, Sniff, Source};

use crate::{Digest, digest::drain};

/// Number of records with a single time, by kind.
pub type Moments = BTreeMap<&'static str, u64>;

/// A changed field, and its byte range.
pub type Field = (&'static str, Range<usize>);

/// What a codec does not provide: how to judge it, and how to change one field of a record.
pub trait Specimen: Sync {
    /// The format.
    type Codec: Codec;

    /// Whether the format's tool accepts the file of this golden.
    fn accepts(&self, golden: &Value) -> bool;

    /// The golden, rebuilt in full by our reader; only what no reader can know is copied from `golden`.
    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value>;

    /// Changes one field of the header; returns the field and its byte range in the file.
    fn change_header(_header: &mut <Self::Codec as Codec>::Header) -> Option<Field> {
        None
    }

    /// Changes one field of each record below a header. It gets the length of the record, and returns the field and its
    /// byte range in the record.
    fn changes(
        header: &<Self::Codec as Codec>::Header,
    ) -> impl FnMut(&mut <Self::Codec as Codec>::Record<'_>, usize) -> Option<Field>;

    /// The kind under which to count a record with a single time; `None` for spans, definitions and texts.
    fn moment(record: &<Self::Codec as Codec>::Record<'_>) -> Option<&'static str>;

    /// Codes of errors that every empty file has, because the format's tool refuses all empty files.
    fn errors_of_empty_files() -> &'static [&'static str] {
        &[]
    }

    /// Whether the records below a header have times, so that the file can be sliced.
    fn has_times(_header: &<Self::Codec as Codec>::Header) -> bool {
        true
    }

    /// The bytes of a file that rewriting preserves: all of them, unless they are compressed.
    fn kept<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        bytes.into()
    }

    /// The folder of its files, below that of all formats.
    fn folder(&self) -> &'static str {
        Self::Codec::FORMAT.id
    }

    /// The goldens of an input; see [`crate::Case::golden`].
    fn goldens(&self, input: &Path) -> Vec<PathBuf> {
        vec![input.with_extension("json")]
    }

    /// Extensions of files in the format's folder that are neither traces nor goldens.
    fn companions(&self) -> &'static [&'static str] {
        &["README.md"]
    }
}

/// A type-erased [`Specimen`]: the cases are the same for all formats.
pub trait Subject: Sync {
    /// The format's descriptor.
    fn format(&self) -> &'static Descriptor;

    /// How certain the format is about these first bytes.
    fn sniff(&self, prefix: &[u8]) -> Sniff;

    /// Walks all records with every check; the digest holds each of them with its position, and the findings.
    fn walk(&self, source: Source, options: &Options) -> Result<Digest>;

    /// Walks all records and keeps nothing; returns their number.
    fn drain(&self, source: Source, options: &Options) -> Result<u64>;

    /// See [`Specimen::errors_of_empty_files`].
    fn errors_of_empty_files(&self) -> &'static [&'static str];

    /// See [`Specimen::has_times`].
    fn has_times(&self, source: Source, options: &Options) -> Result<bool>;

    /// Counts the records with a single time, by kind; see [`Specimen::moment`].
    fn moments(&self, source: Source, options: &Options) -> Result<Moments>;

    /// Reads all records and writes them again, with other values in the fields that `is_changed` selects.
    fn rewrite_with(&self, source: Source, options: &Options, is_changed: &mut IsChanged<'_>) -> Result<Vec<u8>>;

    /// See [`Specimen::accepts`].
    fn accepts(&self, golden: &Value) -> bool;

    /// See [`Specimen::reproduce`].
    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value>;

    /// See [`Specimen::kept`].
    fn kept<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]>;

    /// See [`Specimen::folder`].
    fn folder(&self) -> &'static str;

    /// See [`Specimen::goldens`].
    fn goldens(&self, input: &Path) -> Vec<PathBuf>;

    /// See [`Specimen::companions`].
    fn companions(&self) -> &'static [&'static str];

    /// Whether a file in the format's folder is a trace.
    fn is_input(&self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| self.format().extensions.contains(&extension))
    }

    /// Reads all records and writes them again.
    fn rewrite(&self, source: Source, options: &Options) -> Result<Vec<u8>> {
        self.rewrite_with(source, options, &mut |_, _| false)
    }

    /// Whether `written` is the required result of rewriting `read`.
    fn is_rewritten(&self, written: &[u8], read: &[u8]) -> bool {
        match self.kept(read) {
            Cow::Borrowed(read) => written == read,
            // A reader may recover more from damaged data than `kept` does.
            Cow::Owned(kept) => self.kept(written).starts_with(&kept),
        }
    }

    /// Changes one field at a time through the records: the first and the last of each kind.
    fn edits(&self, bytes: &[u8]) -> Result<Vec<FieldEdit>> {
        // The records of a compressed part have no bytes in the file.
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
}

impl<S: Specimen> Subject for S {
    fn format(&self) -> &'static Descriptor {
        S::Codec::FORMAT
    }

    fn sniff(&self, prefix: &[u8]) -> Sniff {
        S::Codec::sniff(prefix)
    }

    fn walk(&self, source: Source, options: &Options) -> Result<Digest> {
        Digest::of(S::Codec::open(source, &options.clone().thorough())?)
    }

    fn drain(&self, source: Source, options: &Options) -> Result<u64> {
        drain(S::Codec::open(source, &options.clone().thorough())?)
    }

    fn errors_of_empty_files(&self) -> &'static [&'static str] {
        S::errors_of_empty_files()
    }

    fn has_times(&self, source: Source, options: &Options) -> Result<bool> {
        Ok(S::has_times(S::Codec::open(source, options)?.header()))
    }

    fn moments(&self, source: Source, options: &Options) -> Result<Moments> {
        let mut moments = Moments::new();
        S::Codec::open(source, options)?.walk(|located| {
            if let Some(kind) = S::moment(&located.record) {
                *moments.entry(kind).or_default() += 1;
            }
            Ok::<_, Error>(())
        })?;
        Ok(moments)
    }

    fn rewrite_with(&self, source: Source, options: &Options, is_changed: &mut IsChanged<'_>) -> Result<Vec<u8>> {
        let mut reader = S::Codec::open(source, options)?;
        let mut header = reader.header().clone();
        let mut changed = header.clone();
        if S::change_header(&mut changed).is_some_and(|(field, place)| is_changed(field, place)) {
            header = changed;
        }
        let mut change = S::changes(&header);
        let mut bytes = Vec::new();
        let mut writer = S::Codec::create(&mut bytes, &header)?;
        while let Some(located) = reader.next()? {
            let (at, mut changed) = (located.offset as usize, located.record);
            let field = change(&mut changed, located.len as usize);
            let is_changed = field.is_some_and(|(field, place)| is_changed(field, at + place.start..at + place.end));
            writer.write(if is_changed { &changed } else { &located.record })?;
        }
        writer.finish()?;
        Ok(bytes)
    }

    fn accepts(&self, golden: &Value) -> bool {
        Specimen::accepts(self, golden)
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        Specimen::reproduce(self, source, golden)
    }

    fn kept<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        Specimen::kept(self, bytes)
    }

    fn folder(&self) -> &'static str {
        Specimen::folder(self)
    }

    fn goldens(&self, input: &Path) -> Vec<PathBuf> {
        Specimen::goldens(self, input)
    }

    fn companions(&self) -> &'static [&'static str] {
        Specimen::companions(self)
    }
}

/// Called with each field that can be changed separately and its byte range in the file; `true` changes it.
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
    /// Name of the field.
    pub field: &'static str,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Byte range of the field.
    pub place: Range<usize>,
}
