//! What the suite needs to know of a format.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_core::{Codec, Descriptor, Error, Options, RecordWriter, Records, Result, Sniff, Source};

use crate::{Digest, digest::drain};

/// Numbers of records that happen at one moment, by what they are.
pub type Moments = BTreeMap<&'static str, u64>;

/// Which field was changed, and where it lies.
pub type Field = (&'static str, Range<usize>);

/// What no codec knows about itself: who judges it, and how one field of a record is changed.
pub trait Specimen: Sync {
    /// The format.
    type Codec: Codec;

    /// Whether the original tool accepts the file of this golden.
    fn accepts(&self, golden: &Value) -> bool;

    /// The golden, rebuilt in full by our reader; only what no reader can know is taken from `golden`.
    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value>;

    /// Changes one field of the header, and says which and where in the file it lies.
    fn change_header(_header: &mut <Self::Codec as Codec>::Header) -> Option<Field> {
        None
    }

    /// Changes one field of each record below a header. It is given the length of the record, and says which field it
    /// is and where in the record that lies.
    fn changes(
        header: &<Self::Codec as Codec>::Header,
    ) -> impl FnMut(&mut <Self::Codec as Codec>::Record<'_>, usize) -> Option<Field>;

    /// What to count a record as that happens at one moment; none for spans, definitions and texts.
    fn moment(record: &<Self::Codec as Codec>::Record<'_>) -> Option<&'static str>;

    /// Codes of errors that every empty file has, because the original refuses all of them.
    fn errors_of_empty_files() -> &'static [&'static str] {
        &[]
    }

    /// Whether the records below a header have times, so that ranges can be cut out of the file.
    fn has_times(_header: &<Self::Codec as Codec>::Header) -> bool {
        true
    }

    /// The bytes of a file that rewriting keeps: all of them, unless they are compressed.
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

    /// Files of the format's folder that are neither traces nor goldens, by how their names end.
    fn companions(&self) -> &'static [&'static str] {
        &["README.md"]
    }
}

/// A [`Specimen`], erased: the cases are the same for all formats.
pub trait Subject: Sync {
    /// The format as data.
    fn format(&self) -> &'static Descriptor;

    /// How sure the format is about these first bytes.
    fn sniff(&self, prefix: &[u8]) -> Sniff;

    /// Walks all records with every check; the digest holds each of them with its place, and the findings.
    fn walk(&self, source: Source, options: &Options) -> Result<Digest>;

    /// Walks all records and keeps nothing; gives their number.
    fn drain(&self, source: Source, options: &Options) -> Result<u64>;

    /// See [`Specimen::errors_of_empty_files`].
    fn errors_of_empty_files(&self) -> &'static [&'static str];

    /// See [`Specimen::has_times`].
    fn has_times(&self, source: Source, options: &Options) -> Result<bool>;

    /// Counts the records that happen at one moment, by what they are; see [`Specimen::moment`].
    fn moments(&self, source: Source, options: &Options) -> Result<Moments>;

    /// Reads all records and writes them again, with other values in the fields for which `is_changed` says so.
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

    /// Whether a file of the format's folder is a trace.
    fn is_input(&self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| self.format().extensions.contains(&extension))
    }

    /// Reads all records and writes them again.
    fn rewrite(&self, source: Source, options: &Options) -> Result<Vec<u8>> {
        self.rewrite_with(source, options, &mut |_, _| false)
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
