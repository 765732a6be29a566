//! The Web Tracing Framework under test.

use std::{collections::BTreeMap, ops::Range};

use serde_json::Value;
use traceloom_bytes::{Descriptor, Options, Records, Result, Sniff, Source};
use traceloom_wtf::{Container, Encoding, FORMAT, Header, Reader, Record, create, open, sniff};

use super::wtf_golden;
use crate::{Digest, FieldEdit, Subject, digest::drain};

/// `.wtf-trace`, `.wtf-json` and `.wtf-calls` files; goldens come from the original reader.
#[derive(Debug)]
pub struct Wtf;

impl Wtf {
    /// What the original holds after loading a file, in the words of the goldens; nothing where it refuses it.
    pub fn tables(source: Source) -> Option<Value> {
        wtf_golden::tables(source)
    }
}

impl Subject for Wtf {
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

    fn accepts(&self, golden: &Value) -> bool {
        golden["ok"] == true
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        wtf_golden::reproduce(source, golden)
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

/// The writer's version, the number of the last chunk, and the time of the last event of each class.
fn edits(source: &Source) -> Result<Vec<FieldEdit>> {
    let options = Options::default();
    let mut reader = open(source.clone(), &options)?;
    let header = reader.header().clone();
    let mut edits = Vec::new();
    if header.container == Container::Binary {
        let changed = Header { wtf_version: header.wtf_version ^ 0x55, ..header.clone() };
        let bytes = rewrite_with(open(source.clone(), &options)?, &changed, |_, _| {})?;
        edits.push(FieldEdit { field: "version of the writer", bytes, place: 4..8 });
    }
    let mut last = BTreeMap::new();
    let (mut index, mut is_text) = (0, false);
    while let Some(mut located) = reader.next()? {
        if let Record::Chunk(chunk) = &located.record {
            // What was decoded from text has no bytes of its own.
            is_text = chunk.carried;
        }
        if let Some((field, place)) = change(&mut located.record, located.offset as usize).filter(|_| !is_text) {
            last.insert(field, (index, place));
        }
        index += 1;
    }
    for (field, (at, place)) in last {
        let bytes = rewrite_with(open(source.clone(), &options)?, &header, |index, record| {
            if index == at {
                change(record, place.start);
            }
        })?;
        edits.push(FieldEdit { field, bytes, place });
    }
    Ok(edits)
}

/// Changes one field of a record that begins at `start`; says which, and where it lies.
fn change(record: &mut Record<'_>, start: usize) -> Option<(&'static str, Range<usize>)> {
    match record {
        Record::Chunk(chunk) => {
            chunk.id ^= 0x0101_0101;
            Some(("chunk id", start..start + 4))
        }
        Record::Event(event) => {
            event.time ^= 0x0101_0101;
            let at = start + if event.args.encoding == Encoding::Words { 4 } else { 2 };
            Some((if event.kind.is_scope() { "scope time" } else { "event time" }, at..at + 4))
        }
        _ => None,
    }
}
