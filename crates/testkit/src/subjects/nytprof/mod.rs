//! NYTProf under test.

mod golden;
mod summary;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use serde_json::Value;
use traceloom_core::{Options, Result, Source};
use traceloom_nytprof::{Header, Record, open};

use crate::{Specimen, subject::Field, zlib::unpacked};

/// Profiles of Devel::NYTProf; goldens come from its reader and loader.
#[derive(Debug)]
pub struct Nytprof;

impl Specimen for Nytprof {
    type Codec = traceloom_nytprof::Nytprof;

    fn kept<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        unpacked(bytes, open(Source::bytes(bytes), &Options::default()))
    }

    fn accepts(&self, golden: &Value) -> bool {
        match golden["real_reader"]["load"].as_str() {
            Some(load) => load.starts_with("ok"),
            None => golden["summary"]["raw"].get("error").is_none(),
        }
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        golden::reproduce(source, golden)
    }

    fn goldens(&self, input: &Path) -> Vec<PathBuf> {
        let folder = input.parent().filter(|folder| folder.ends_with("damaged"));
        folder.map_or_else(
            || ["chunks.json", "summary.json"].map(|ending| input.with_extension(ending)).to_vec(),
            |folder| vec![folder.join("expect.json")],
        )
    }

    fn companions(&self) -> &'static [&'static str] {
        &["README.md", ".callgrind.txt", ".csv.txt", ".folded.txt"]
    }

    /// Changing the lowest bit of a number does not change its length.
    fn changes(_header: &Header) -> impl FnMut(&mut Record<'_>, usize) -> Option<Field> {
        |record, len| {
            if record.odd_bytes().is_some() {
                return None;
            }
            let (number, field) = match record {
                Record::TimeLine(time) => {
                    time.ticks ^= 1;
                    return Some(("time_line ticks", 1..len));
                }
                Record::TimeBlock(time) => (&mut time.sub_line, "time_block sub_line"),
                Record::PidStart(start) => (&mut start.ppid, "pid_start ppid"),
                Record::PidEnd(end) => (&mut end.pid, "pid_end pid"),
                Record::NewFid(file) => (&mut file.mtime, "new_fid mtime"),
                Record::SubEntry(entry) => (&mut entry.caller_line, "sub_entry caller_line"),
                Record::SubReturn(left) => (&mut left.depth, "sub_return depth"),
                Record::SrcLine(source) => (&mut source.line, "src_line line"),
                Record::SubInfo(sub) => (&mut sub.last_line, "sub_info last_line"),
                Record::SubCallers(calls) => (&mut calls.count, "sub_callers count"),
                _ => return None,
            };
            *number ^= 1;
            // The tag is kept.
            Some((field, 1..len))
        }
    }

    /// A statement counts by its start.
    fn moment(record: &Record<'_>) -> Option<&'static str> {
        matches!(record, Record::TimeLine(_) | Record::TimeBlock(_)).then_some("statement")
    }
}
