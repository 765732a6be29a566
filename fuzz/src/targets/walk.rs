//! One walk over the records of a file, with the checks that apply to every walk.

use std::collections::BTreeMap;

use traceloom_core::{Codec, Describe, Error, ErrorKind, Fields, Findings, Mode, Records};
use traceloom_testkit::FieldHash;

use crate::{MAX_FINDINGS, shapes};

/// The result of a walk; equal for equal bytes, however they were read.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Walked {
    /// Where the last record ended; `None` inside or right after a compressed part, whose offsets count from its start.
    pub(super) end: Option<u64>,
    /// The error that ended the walk before the end of the file.
    pub(super) error: Option<String>,
    hash: u64,
    findings: BTreeMap<&'static str, u64>,
}

/// Walks to the end or to an error.
pub(super) fn walk<C: Codec>(mut reader: C::Reader, mode: Mode) -> Walked {
    let shape = shapes::of(C::FORMAT.id);
    let mut hash = FieldHash::default();
    let mut end = Some(C::header_bytes(reader.header()));
    let mut run = None;
    let mut is_packed = false;
    let mut has_blocks = false;
    let error = loop {
        match reader.next() {
            Ok(Some(located)) => {
                let kind = located.record.kind();
                is_packed = (is_packed && end.is_some()) || kind == "start_deflate";
                let adds_bytes = located.len > 0 && end.is_none_or(|end| located.offset >= end);
                has_blocks |= kind == "block";
                let is_in_block = has_blocks && shape.kinds_in_blocks.contains(&kind);
                if !is_in_block && (adds_bytes || !shape.has_records_without_bytes) {
                    end = step(end, located.offset, located.len, kind);
                }
                // How a run of unexplained bytes is split into records depends on the window.
                let unexplained = Some(kind).filter(|kind| matches!(*kind, "payload" | "residue"));
                if unexplained.is_none() || run != unexplained {
                    hash.unsigned("offset", located.offset);
                    hash.word("kind", kind);
                }
                run = unexplained;
                located.record.describe(&mut hash);
            }
            Ok(None) => break None,
            Err(error) => {
                assert_expected(&error, mode);
                break Some(error.to_string());
            }
        }
    };
    if error.is_none() {
        assert!(matches!(reader.next(), Ok(None)), "a record after the end");
    }
    let findings = reader.into_findings();
    assert_bounded(&findings);
    Walked { end: end.filter(|_| !is_packed), error, hash: hash.value(), findings: findings.counts().clone() }
}

/// Where the next record has to start, after the record at `offset`; `None` if only the file determines it.
fn step(end: Option<u64>, offset: u64, len: u64, kind: &str) -> Option<u64> {
    if let Some(end) = end {
        assert_eq!(offset, end, "a record does not begin where the one before it ended");
    }
    match kind {
        "start_deflate" => Some(0),
        "end_deflate" => None,
        _ => {
            assert!(len > 0, "a record without bytes at {offset}");
            Some(offset.checked_add(len).expect("a record ends beyond 2^64"))
        }
    }
}

/// Errors that input may cause: lenient mode refuses only files that are not of the format.
pub(super) fn assert_expected(error: &Error, mode: Mode) {
    match error.kind() {
        ErrorKind::Io(_) | ErrorKind::Limit { .. } | ErrorKind::Unrecognized(_) => {}
        ErrorKind::Refused(_) if mode == Mode::Strict => {}
        _ => panic!("{mode:?} mode ends with: {error}"),
    }
}

fn assert_bounded(findings: &Findings) {
    let mut kept = BTreeMap::<_, usize>::new();
    for finding in findings.kept() {
        *kept.entry(finding.rule.code).or_default() += 1;
        let mut placeholders = finding.rule.message.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        let has_value = |name| finding.values.iter().any(|(key, _)| *key == name);
        assert!(placeholders.all(has_value), "a value is missing: {finding}");
    }
    assert!(kept.values().all(|count| *count <= MAX_FINDINGS), "more findings kept than allowed: {kept:?}");
}
