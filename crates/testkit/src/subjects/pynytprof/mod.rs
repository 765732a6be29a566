//! Pynytprof's dialect under test.

mod golden;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_core::{Options, Result, Source};
use traceloom_nytprof::pynytprof::{Header, Record, open};

use crate::{Specimen, subject::Field, zlib::unpacked};

/// Profiles of Pynytprof; goldens come from an independent reader that was written from its documentation and history.
#[derive(Debug)]
pub struct Pynytprof;

impl Specimen for Pynytprof {
    type Codec = traceloom_nytprof::pynytprof::Pynytprof;

    fn kept<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        unpacked(bytes, open(Source::bytes(bytes), &Options::default()))
    }

    /// According to the documentation: its chunks in its order, each as specified, and nothing else.
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
        golden::reproduce(source, golden)
    }

    fn folder(&self) -> &'static str {
        "nytprof/pynytprof"
    }

    fn goldens(&self, input: &Path) -> Vec<PathBuf> {
        vec![input.with_extension("pyn.json")]
    }

    /// Changing the lowest bit of a number does not change its length.
    fn changes(_header: &Header) -> impl FnMut(&mut Record<'_>, usize) -> Option<Field> {
        |record, len| {
            let (number, field) = match record {
                Record::Process(process) => (&mut process.ppid, "process ppid"),
                Record::Line(line) => (&mut line.calls, "line calls"),
                Record::Sub(sub) => (&mut sub.sid, "sub sid"),
                Record::Range(sub) => (&mut sub.last_line, "range last_line"),
                Record::Visit(visit) => (&mut visit.line, "visit line"),
                Record::Edge(edge) => (&mut edge.calls, "edge calls"),
                Record::SiteCalls(calls) => (&mut calls.line, "place line"),
                Record::File(file) => (&mut file.flags, "file flags"),
                _ => return None,
            };
            *number ^= 1;
            Some((field, 0..len))
        }
    }

    fn has_times(_header: &Header) -> bool {
        false
    }

    /// The format holds only sums.
    fn moment(_record: &Record<'_>) -> Option<&'static str> {
        None
    }
}
