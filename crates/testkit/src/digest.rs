//! The result of a walk over a file, in a form in which two walks can be compared.

use std::hash::{DefaultHasher, Hash, Hasher};

use traceloom_core::{Describe, FieldValue, Fields, Finding, Located, RecordOf, Records, Result};

/// All records of a file with their positions, and the findings.
#[derive(Debug, Eq, PartialEq)]
pub struct Digest {
    /// The header, then the records in the order in which they were read.
    pub entries: Vec<RecordDigest>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// One record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RecordDigest {
    /// Offset of its first byte.
    pub offset: u64,
    /// Its length.
    pub len: u64,
    /// The kind of record.
    pub kind: &'static str,
    /// A hash of all fields.
    pub fields: u64,
}

impl Digest {
    /// Walks a reader to its end.
    pub fn of<R: Records>(mut reader: R) -> Result<Self> {
        let header = reader.header();
        let mut entries = vec![RecordDigest { offset: 0, len: 0, kind: header.kind(), fields: hash(header) }];
        let mut run = FieldHash::default();
        each(&mut reader, |located| {
            let Located { offset, len, record } = located;
            let kind = record.kind();
            // How a run of unexplained bytes is split into records depends on the window.
            let is_unexplained = matches!(kind, "payload" | "residue");
            let joins =
                |last: &&mut RecordDigest| is_unexplained && last.kind == kind && last.offset + last.len == offset;
            if let Some(last) = entries.last_mut().filter(joins) {
                last.len += len;
            } else {
                run = FieldHash::default();
                entries.push(RecordDigest { offset, len, kind, fields: 0 });
            }
            record.describe(&mut run);
            entries.last_mut().expect("the header is there").fields = run.value();
        })?;
        Ok(Self { entries, findings: reader.into_findings().kept().to_vec() })
    }

    /// Number of records of this kind.
    pub fn count(&self, kind: &str) -> usize {
        self.entries.iter().filter(|entry| entry.kind == kind).count()
    }

    /// The codes of the findings, in order.
    pub fn codes(&self) -> Vec<&'static str> {
        self.findings.iter().map(|finding| finding.rule.code).collect()
    }

    /// The first difference between two walks.
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        if self == other {
            return None;
        }
        let records = first_unequal(&self.entries, &other.entries);
        let findings = || first_unequal(&self.findings, &other.findings);
        records.or_else(findings)
    }
}

/// Walks a reader to its end and keeps nothing; returns the number of records.
pub(crate) fn drain(mut reader: impl Records) -> Result<u64> {
    let mut records = 0;
    each(&mut reader, |_| records += 1)?;
    Ok(records)
}

/// Visits every record; both ends of a walk are final.
fn each<R: Records>(reader: &mut R, mut visit: impl FnMut(Located<RecordOf<'_, R>>)) -> Result<()> {
    let outcome = loop {
        match reader.next() {
            Ok(Some(located)) => visit(located),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    assert!(!matches!(reader.next(), Ok(Some(_))), "a record comes after the end, or after an error");
    outcome
}

fn first_unequal<T: std::fmt::Debug + PartialEq>(one: &[T], two: &[T]) -> Option<String> {
    let longer = one.len().max(two.len());
    let index = (0..longer).find(|index| one.get(*index) != two.get(*index))?;
    Some(format!("{index}: {:?} against {:?}", one.get(index), two.get(index)))
}

fn hash(record: &impl Describe) -> u64 {
    let mut fields = FieldHash::default();
    record.describe(&mut fields);
    fields.value()
}

/// A hash of all fields of records: walks over the same records have the same hash.
#[derive(Debug, Default)]
pub struct FieldHash(DefaultHasher);

impl FieldHash {
    /// The hash so far.
    pub fn value(&self) -> u64 {
        self.0.finish()
    }

    fn put(&mut self, name: &str, value: impl Hash) {
        name.hash(&mut self.0);
        value.hash(&mut self.0);
    }
}

impl Fields for FieldHash {
    fn field(&mut self, name: &'static str, value: FieldValue<'_>) {
        match value {
            FieldValue::Unsigned(value) | FieldValue::Hex(value) => self.put(name, value),
            FieldValue::Signed(value) => self.put(name, value),
            FieldValue::Float(value) => self.put(name, value.to_bits()),
            FieldValue::Flag(value) => self.put(name, value),
            FieldValue::Text(value) => self.put(name, value),
            FieldValue::Word(value) => self.put(name, value),
            // Without name and length, so that pieces hash like the whole.
            FieldValue::Bytes(value) => self.0.write(value),
        }
    }

    fn list(&mut self, name: &'static str) {
        self.put(name, "[");
    }

    fn end(&mut self) {
        self.put("", "]");
    }
}
