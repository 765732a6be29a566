//! NYTProf under test.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

use flate2::{Decompress, FlushDecompress, Status};
use serde_json::Value;
use traceloom_bytes::{Descriptor, Options, Records, Result, Sniff, Source};
use traceloom_nytprof::{FORMAT, Reader, Record, create, open, sniff};

use super::nytprof_golden;
use crate::{Digest, FieldEdit, Subject, digest::drain};

/// Profiles of Devel::NYTProf; goldens come from its own reader and loader.
#[derive(Debug)]
pub struct Nytprof;

impl Subject for Nytprof {
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

    fn accepts(&self, golden: &Value) -> bool {
        match golden["real_reader"]["load"].as_str() {
            Some(load) => load.starts_with("ok"),
            None => golden["summary"]["raw"].get("error").is_none(),
        }
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        nytprof_golden::reproduce(source, golden)
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
}

/// Compares files of which the part from `start` on is compressed, where there is one: that part by its contents.
pub(super) fn is_rewritten(start: Option<usize>, written: &[u8], read: &[u8]) -> bool {
    let Some(start) = start else { return written == read };
    let [mut ours, theirs] = [written, read].map(|bytes| unpacked(bytes, start));
    // Of damaged data a reader may get more than we do here.
    ours.to_mut().truncate(theirs.len());
    ours == theirs
}

/// The file with its compressed part inflated in place, as far as that can be done.
fn unpacked(bytes: &[u8], start: usize) -> Cow<'_, [u8]> {
    let Some((plain, packed)) = bytes.split_at_checked(start) else { return bytes.into() };
    // An error takes the bytes of its own step with it, so that steps have to be small where there is one.
    let inflated = inflate(packed, 4096).or_else(|_| inflate(packed, 1));
    let (content, rest) = inflated.unwrap_or_else(|content| (content, &[]));
    [plain, &content, rest].concat().into()
}

/// What comes out, and what follows in the file; of damaged data only what came out before.
fn inflate(packed: &[u8], step: usize) -> Result<(Vec<u8>, &[u8]), Vec<u8>> {
    let (mut inflate, mut data, trailer_bytes) = match packed {
        [0x1f, 0x8b, 8, ..] => (Decompress::new_gzip(15), packed, 0),
        [method, flags, data @ ..]
            if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) =>
        {
            // No profile names a dictionary, or a window that zlib does not know.
            if flags & 0x20 != 0 || method >> 4 > 7 {
                return Ok((Vec::new(), &[]));
            }
            // A wrong checksum loses nothing that was read.
            (Decompress::new(false), data, 4)
        }
        _ => (Decompress::new(false), packed, 0),
    };
    let (mut content, mut buffer) = (Vec::new(), vec![0; step]);
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let Ok(status) = inflate.decompress(data, &mut buffer, FlushDecompress::None) else { return Err(content) };
        let (read, written) = (inflate.total_in() - read, inflate.total_out() - written);
        data = &data[read as usize..];
        content.extend_from_slice(&buffer[..written as usize]);
        match status {
            Status::StreamEnd => return Ok((content, data.get(trailer_bytes..).unwrap_or_default())),
            _ if read == 0 && written == 0 => return Ok((content, &[])),
            _ => {}
        }
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

/// Of each kind of record one field of the last one.
fn edits(source: &Source) -> Result<Vec<FieldEdit>> {
    let options = Options::default();
    let mut last = BTreeMap::new();
    let mut index = 0;
    let mut reader = open(source.clone(), &options)?;
    while let Some(mut located) = reader.next()? {
        // The records of a compressed part have no bytes of their own.
        if let Record::StartDeflate(_) = located.record {
            return Ok(Vec::new());
        }
        let place = located.offset as usize..(located.offset + located.len) as usize;
        if let Some(field) = change(&mut located.record) {
            last.insert(field, (index, place));
        }
        index += 1;
    }
    let edit = |(field, (at, place)): (&'static str, (usize, Range<usize>))| {
        let bytes = rewrite_with(open(source.clone(), &options)?, |index, record| {
            if index == at {
                change(record);
            }
        })?;
        // The tag stays.
        Ok(FieldEdit { field, bytes, place: place.start + 1..place.end })
    };
    last.into_iter().map(edit).collect()
}

/// Changes one field and says which; the lowest bit of a number changes nothing about its length.
fn change(record: &mut Record<'_>) -> Option<&'static str> {
    if record.odd_bytes().is_some() {
        return None;
    }
    let (number, field) = match record {
        Record::TimeLine(time) => {
            time.ticks ^= 1;
            return Some("time_line ticks");
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
    Some(field)
}
