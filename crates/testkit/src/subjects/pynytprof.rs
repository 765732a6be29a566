//! The dialect of Pynytprof under test.

use std::path::{Path, PathBuf};

use serde_json::Value;
use traceloom_bytes::{Descriptor, Options, Records, Result, Sniff, Source};
use traceloom_nytprof::pynytprof::{FORMAT, Reader, Record, create, open, sniff};

use super::{nytprof::is_rewritten, pynytprof_golden};
use crate::{Digest, FieldEdit, Subject, digest::drain};

/// Profiles of Pynytprof; goldens come from an independent reader that was written from its document and history.
#[derive(Debug)]
pub struct Pynytprof;

impl Subject for Pynytprof {
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
        rewrite_with(open(source, options)?, |_, _| {})
    }

    fn is_rewritten(&self, written: &[u8], read: &[u8]) -> bool {
        let start = open(Source::bytes(read), &Options::default()).ok().and_then(packed_at);
        is_rewritten(start, written, read)
    }

    fn edits(&self, source: Source) -> Result<Vec<FieldEdit>> {
        edits(&source)
    }

    /// By the document's rules: its chunks in its order, each as it says, and nothing else.
    fn accepts(&self, golden: &Value) -> bool {
        let chunks: Vec<&Value> = golden["chunks"].as_array().into_iter().flatten().collect();
        let tags: String = chunks.iter().filter_map(|chunk| chunk["tag"].as_str()).collect();
        let is_whole = golden.get("after_end").is_none() && chunks.iter().all(|chunk| chunk.get("error").is_none());
        let has_forms = chunks.iter().all(|chunk| {
            let form = chunk.get("form").and_then(Value::as_str);
            form.is_none_or(|form| matches!(form, "empty" | "sid-flags-name"))
        });
        golden["dialect"] == "pyn-P17-tlv" && golden["blank_lines"] == 0 && tags == "SDCE" && is_whole && has_forms
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        pynytprof_golden::reproduce(source, golden)
    }

    fn folder(&self) -> &'static str {
        "nytprof/pynytprof"
    }

    fn goldens(&self, input: &Path) -> Vec<PathBuf> {
        vec![input.with_extension("pyn.json")]
    }
}

/// Where the compressed part begins.
fn packed_at(mut reader: Reader) -> Option<usize> {
    while let Ok(Some(located)) = reader.next() {
        if let Record::StartDeflate(_) = located.record {
            return usize::try_from(located.offset + located.len).ok();
        }
    }
    None
}

fn rewrite_with(mut reader: Reader, mut change: impl FnMut(usize, &mut Record<'_>)) -> Result<Vec<u8>> {
    let mut writer = create(Vec::new(), reader.header())?;
    let mut index = 0;
    while let Some(mut located) = reader.next()? {
        change(index, &mut located.record);
        writer.write(&located.record)?;
        index += 1;
    }
    writer.finish()
}

/// One field of every record that has a number; files of the dialect are small.
fn edits(source: &Source) -> Result<Vec<FieldEdit>> {
    let options = Options::default();
    let mut places = Vec::new();
    let mut index = 0;
    let mut reader = open(source.clone(), &options)?;
    while let Some(mut located) = reader.next()? {
        if let Record::StartDeflate(_) = located.record {
            return Ok(Vec::new());
        }
        if let Some(field) = change(&mut located.record) {
            places.push((field, index, located.offset as usize..(located.offset + located.len) as usize));
        }
        index += 1;
    }
    // The first and the last of a long list are enough.
    let step = (places.len() / 32).max(1);
    let edit = |(field, at, place)| {
        let bytes = rewrite_with(open(source.clone(), &options)?, |index, record| {
            if index == at {
                change(record);
            }
        })?;
        Ok(FieldEdit { field, bytes, place })
    };
    places.into_iter().step_by(step).map(edit).collect()
}

/// Changes one field and says which; the lowest bit of a number changes nothing about its length.
fn change(record: &mut Record<'_>) -> Option<&'static str> {
    let (number, field) = match record {
        Record::Process(process) => (&mut process.ppid, "process ppid"),
        Record::Line(line) => (&mut line.calls, "line calls"),
        Record::Sub(sub) => (&mut sub.sid, "sub sid"),
        Record::Range(sub) => (&mut sub.last_line, "range last_line"),
        Record::Visit(visit) => (&mut visit.line, "visit line"),
        Record::Edge(edge) => (&mut edge.calls, "edge calls"),
        Record::Place(place) => (&mut place.line, "place line"),
        Record::File(file) => (&mut file.flags, "file flags"),
        _ => return None,
    };
    *number ^= 1;
    Some(field)
}
