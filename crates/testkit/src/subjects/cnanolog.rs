//! CNanoLog under test.

use std::{collections::BTreeMap, ops::Range};

use serde_json::Value;
use traceloom_bytes::{Descriptor, Options, Records, Result, Sniff, Source};
use traceloom_cnanolog::{
    FORMAT, Header, Reader, Record, create, open,
    raw::{LEVEL_FIXED, header_offset},
    sniff,
};

use super::cnanolog_golden;
use crate::{Digest, FieldEdit, Subject, digest::drain};

/// `.clog` files; goldens come from an independent reader, texts from the original decompressor.
#[derive(Debug)]
pub struct CNanoLog;

impl Subject for CNanoLog {
    fn format(&self) -> &'static Descriptor {
        &FORMAT
    }

    fn sniff(&self, prefix: &[u8]) -> Sniff {
        sniff(prefix)
    }

    fn walk(&self, source: Source, options: &Options) -> Result<Digest> {
        let mut reader = open(source, options)?;
        reader.check_arguments();
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

    /// By the document: it refuses unfinished files, unknown ids and lengths that reach too far.
    fn accepts(&self, golden: &Value) -> bool {
        let is_refused = |warning: &Value| {
            let text = warning.as_str().unwrap_or_default();
            text.starts_with("no dictionary") || text.starts_with("stopped at offset")
        };
        golden["warnings"].as_array().is_some_and(|warnings| !warnings.iter().any(is_refused))
    }

    fn reproduce(&self, source: Source, _golden: &Value) -> Result<Value> {
        cnanolog_golden::reproduce(&source)
    }

    fn companions(&self) -> &'static [&'static str] {
        &["README.md", "manifest.json", ".txt", ".log"]
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
    Ok(writer.finish()?.0)
}

/// The start of the log, and of each kind of record one field of the last one.
fn edits(source: &Source) -> Result<Vec<FieldEdit>> {
    let options = Options::default();
    let mut reader = open(source.clone(), &options)?;
    let header = reader.header().clone();
    let mut edits = Vec::new();
    let place = header_offset::START_TIME_SEC..header_offset::START_TIME_NSEC;
    if header.stored_bytes >= place.end {
        let changed = Header { start_time_sec: header.start_time_sec ^ 0x55, ..header.clone() };
        let bytes = rewrite_with(open(source.clone(), &options)?, &changed, |_, _| {})?;
        edits.push(FieldEdit { field: "header start", bytes, place });
    }
    let mut last = BTreeMap::new();
    let mut index = 0;
    while let Some(mut located) = reader.next()? {
        if let Some((field, place)) = change(&mut located.record) {
            let offset = located.offset as usize;
            last.insert(field, (index, offset + place.start..offset + place.end));
        }
        index += 1;
    }
    for (field, (at, place)) in last {
        let bytes = rewrite_with(open(source.clone(), &options)?, &header, |index, record| {
            if index == at {
                change(record);
            }
        })?;
        edits.push(FieldEdit { field, bytes, place });
    }
    Ok(edits)
}

/// Changes one field of a record; says which, and where in the record it lies.
fn change(record: &mut Record<'_>) -> Option<(&'static str, Range<usize>)> {
    match record {
        Record::Entry(entry) => {
            let timestamp = entry.timestamp.as_mut()?;
            *timestamp ^= 0x0100_0000_0001;
            Some(("entry timestamp", 4..12))
        }
        Record::Levels(section) => {
            section.reserved ^= 1;
            Some(("levels reserved", 12..16))
        }
        Record::Level(level) => {
            level.padding[0] ^= 1;
            Some(("level padding", 2..LEVEL_FIXED))
        }
        Record::Dictionary(section) => {
            section.total_size ^= 1;
            Some(("dictionary size", 8..12))
        }
        Record::Site(site) => {
            site.line ^= 0x0100_0001;
            Some(("site line", 10..14))
        }
        Record::Residue(_) => None,
    }
}
