//! EasyProfiler under test.

use std::{collections::BTreeMap, ops::Range};

use serde_json::Value;
use traceloom_bytes::{Descriptor, Options, Records, Result, Sniff, Source};
use traceloom_easyprofiler::{
    FORMAT, Header, Reader, Record, create, open,
    raw::{Layout, SwitchOrder},
    sniff,
};

use super::easyprofiler_golden;
use crate::{Digest, FieldEdit, Subject, digest::drain};

/// `.prof` files; goldens come from the original 2.1.0 reader.
#[derive(Debug)]
pub struct EasyProfiler;

impl Subject for EasyProfiler {
    fn format(&self) -> &'static Descriptor {
        &FORMAT
    }

    fn sniff(&self, prefix: &[u8]) -> Sniff {
        sniff(prefix)
    }

    fn walk(&self, source: Source, options: &Options) -> Result<Digest> {
        let mut reader = open(source, options)?;
        reader.check_depth();
        Digest::of(&reader.header().clone(), reader)
    }

    fn drain(&self, source: Source, options: &Options) -> Result<u64> {
        let mut reader = open(source, options)?;
        reader.check_depth();
        drain(reader)
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
        golden["upstream_reader"]["accepted"] == true
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        easyprofiler_golden::reproduce(&source, golden)
    }

    fn companions(&self) -> &'static [&'static str] {
        &["README.md", "net_session.bin", "net_session.json"]
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

/// The process id, and of each kind of record one field of the last one.
fn edits(source: &Source) -> Result<Vec<FieldEdit>> {
    let options = Options::default();
    let mut reader = open(source.clone(), &options)?;
    let header = reader.header().clone();
    let mut edits = Vec::new();
    if let Some(pid) = header.pid {
        let changed = Header { pid: Some(pid ^ 0x55), ..header.clone() };
        let bytes = rewrite_with(open(source.clone(), &options)?, &changed, |_, _| {})?;
        edits.push(FieldEdit { field: "header pid", bytes, place: 8..8 + header.layout.pid.bytes() });
    }
    let mut last = BTreeMap::new();
    let mut index = 0;
    while let Some(mut located) = reader.next()? {
        if let Some((field, place)) = change(&mut located.record, &header.layout) {
            let offset = located.offset as usize;
            last.insert(field, (index, offset + place.start..offset + place.end));
        }
        index += 1;
    }
    for (field, (at, place)) in last {
        let bytes = rewrite_with(open(source.clone(), &options)?, &header, |index, record| {
            if index == at {
                change(record, &header.layout);
            }
        })?;
        edits.push(FieldEdit { field, bytes, place });
    }
    Ok(edits)
}

/// Changes one field of a record; says which, and where from the record's first byte it lies.
fn change(record: &mut Record<'_>, layout: &Layout) -> Option<(&'static str, Range<usize>)> {
    const BITS: u32 = 0x00ff_0001;
    match record {
        Record::Descriptor(descriptor) => {
            descriptor.color ^= BITS;
            Some(("descriptor color", 10..14))
        }
        Record::Thread(thread) => {
            thread.id ^= u64::from(BITS);
            Some(("thread id", 0..layout.thread_id.bytes()))
        }
        Record::Switch(switch) if layout.switch == SwitchOrder::TimesFirst => {
            switch.end ^= u64::from(BITS);
            Some(("switch end", 10..18))
        }
        Record::Block(block) => {
            block.end ^= u64::from(BITS);
            Some(("block end", 10..18))
        }
        Record::Value(value) => {
            value.value_id ^= u64::from(BITS);
            Some(("value id", 28..36))
        }
        Record::Bookmark(bookmark) => {
            bookmark.color ^= BITS;
            Some(("bookmark color", 10..14))
        }
        _ => None,
    }
}
