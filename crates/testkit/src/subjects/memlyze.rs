//! Memlyze under test.

use std::{collections::BTreeMap, ops::Range};

use serde_json::{Value, json};
use traceloom_bytes::{Descriptor, Options, Records, Result, Sniff, Source};
use traceloom_memlyze::{FORMAT, Header, Reader, Record, create, open, raw::Packing, sniff};

use super::memlyze_golden;
use crate::{Digest, FieldEdit, Subject, digest::drain};

/// `.mlyze` files; goldens come from an independent reader that was written from the document.
#[derive(Debug)]
pub struct Memlyze;

impl Subject for Memlyze {
    fn format(&self) -> &'static Descriptor {
        &FORMAT
    }

    fn sniff(&self, prefix: &[u8]) -> Sniff {
        sniff(prefix)
    }

    fn walk(&self, source: Source, options: &Options) -> Result<Digest> {
        let reader = open(source, options)?;
        Digest::of(&reader.header().clone(), reader)
    }

    fn drain(&self, source: Source, options: &Options) -> Result<u64> {
        drain(open(source, options)?)
    }

    fn rewrite(&self, source: Source, options: &Options) -> Result<Vec<u8>> {
        let reader = open(source, options)?;
        let header = reader.header().clone();
        rewrite_with(reader, &header, |_, _| {})
    }

    fn edits(&self, source: Source) -> Result<Vec<FieldEdit>> {
        edits(&source)
    }

    /// By the document's seven rules. Traces of the upstream tracer are exempt from the fourth, that all ids
    /// exist: their metadata is empty.
    fn accepts(&self, golden: &Value) -> bool {
        let is_growth = golden["metadata"] == json!({"stack_traces": {}, "files": {}, "functions": {}})
            && golden["summary"]["all_addresses_zero"] == true
            && golden["summary"]["events"] != 0;
        let is_harmless = |warning: &str| {
            let is_of_the_tracer =
                warning.ends_with("stack ids not in metadata") || warning.ends_with("marker name ids not in metadata");
            let breaks_no_rule =
                warning == "reserved header bytes are not all zero" || warning.starts_with("overlong varint");
            breaks_no_rule || is_growth && is_of_the_tracer
        };
        let warnings = golden["warnings"].as_array();
        warnings.is_some_and(|warnings| warnings.iter().all(|warning| warning.as_str().is_some_and(is_harmless)))
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        memlyze_golden::reproduce(source, golden)
    }

    fn companions(&self) -> &'static [&'static str] {
        &["README.md", "manifest.json", ".analyze.txt"]
    }
}

fn rewrite_with(
    mut reader: Reader,
    header: &Header,
    mut change: impl FnMut(usize, &mut Record<'_>),
) -> Result<Vec<u8>> {
    let mut writer = create(Vec::new(), header)?;
    let mut index = 0;
    while let Some(mut located) = reader.next()? {
        change(index, &mut located.record);
        writer.write(&located.record)?;
        index += 1;
    }
    writer.finish()
}

/// The start of the recording, and of each kind of event one field of the last one.
fn edits(source: &Source) -> Result<Vec<FieldEdit>> {
    let options = Options::default();
    let mut reader = open(source.clone(), &options)?;
    let header = reader.header().clone();
    let mut edits = Vec::new();
    let changed = Header { start_us: header.start_us ^ 0x55, ..header.clone() };
    let bytes = rewrite_with(open(source.clone(), &options)?, &changed, |_, _| {})?;
    edits.push(FieldEdit { field: "header start", bytes, place: 8..16 });
    // The events of a block have no bytes of their own.
    if header.packing() == Packing::Blocks {
        return Ok(edits);
    }
    let mut last = BTreeMap::new();
    let mut index = 0;
    while let Some(mut located) = reader.next()? {
        let (offset, end) = (located.offset as usize, (located.offset + located.len) as usize);
        if let Some((field, place)) = change(&mut located.record, offset..end) {
            last.insert(field, (index, place));
        }
        index += 1;
    }
    for (field, (at, place)) in last {
        let bytes = rewrite_with(open(source.clone(), &options)?, &header, |index, record| {
            if index == at {
                change(record, place.clone());
            }
        })?;
        edits.push(FieldEdit { field, bytes, place });
    }
    Ok(edits)
}

/// Changes one field of an event that lies at `event`; says which, and where it lies.
///
/// The lowest bit of a number changes nothing about the length of its varint.
fn change(record: &mut Record<'_>, event: Range<usize>) -> Option<(&'static str, Range<usize>)> {
    match record {
        Record::Alloc(alloc) => {
            alloc.thread ^= 0x0101;
            Some(("alloc thread", event.end - 2..event.end))
        }
        Record::Free(free) => {
            free.address ^= 0x0100_0000_0001;
            Some(("free address", event.end - 8..event.end))
        }
        Record::Gc(gc) => {
            gc.size_bytes ^= 1;
            Some(("gc bytes", event.start + 3..event.end))
        }
        Record::Marker(marker) => {
            marker.name ^= 1;
            Some(("marker name", event.start + 2..event.end))
        }
        Record::Metadata(_) | Record::Block(_) | Record::Residue(_) => None,
    }
}
