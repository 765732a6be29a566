//! The goldens of Pynytprof profiles: banner, process, chunks and their records.

use serde_json::{Value, json};
use traceloom_core::{Located, Options, Records, Result, Source};
use traceloom_nytprof::{
    Dialect,
    pynytprof::{
        Chunk, Record, open,
        raw::{Form, Integers, Tag},
    },
};

use crate::subjects::hex;

pub(super) fn reproduce(source: Source, golden: &Value) -> Result<Value> {
    let bytes = source.prefix(usize::try_from(source.len()?).unwrap_or(usize::MAX))?;
    let mut reader = open(source, &Options::default())?;
    let dialect = reader.header().dialect;
    let mut ours = Golden::new(&bytes);
    while let Some(located) = reader.next()? {
        ours.take(&located);
    }
    Ok(ours.finish(dialect, golden))
}

/// Built as records arrive.
struct Golden<'a> {
    file: &'a [u8],
    json: Value,
    chunks: Vec<Value>,
    /// Number of bytes from the first chunk on that cannot be read completely.
    unread: Option<u64>,
    has_newline: bool,
    /// Index of the first record of the real stream.
    tokens_at: Option<usize>,
}

impl<'a> Golden<'a> {
    fn new(file: &'a [u8]) -> Self {
        let json = json!({ "attributes": {}, "options": {}, "comments": [], "blank_lines": 0 });
        Self { file, json, chunks: Vec::new(), unread: None, has_newline: false, tokens_at: None }
    }

    fn take(&mut self, located: &Located<Record<'_>>) {
        match located.record {
            Record::Comment(text) => push(&mut self.json["comments"], show(text)),
            Record::Attribute(pair) => self.json["attributes"][lossy(pair.key)] = pair.value.map_or(Value::Null, show),
            Record::Option(pair) => self.json["options"][lossy(pair.key)] = pair.value.map_or(Value::Null, show),
            Record::Blank => self.json["blank_lines"] = (self.json["blank_lines"].as_u64().unwrap_or(0) + 1).into(),
            _ => self.take_binary(located),
        }
    }

    fn take_binary(&mut self, located: &Located<Record<'_>>) {
        if self.json.get("binary_offset").is_none() {
            self.json["binary_offset"] = located.offset.into();
        }
        match &located.record {
            Record::Process(process) => {
                self.json["P"] = json!({ "pid": process.pid, "ppid": process.ppid, "time": process.time });
            }
            Record::Chunk(chunk) => self.take_chunk(located.offset, chunk),
            Record::Token(_) => {
                self.tokens_at.get_or_insert(located.offset as usize);
            }
            Record::Residue(bytes) => self.take_residue(located, bytes),
            _ if self.unread.is_some() => {}
            record => {
                let place = located.offset as usize..(located.offset + located.len) as usize;
                self.has_newline |= self.file.get(place).is_some_and(|bytes| bytes.contains(&b'\n'));
                self.take_item(record);
            }
        }
    }

    fn take_chunk(&mut self, offset: u64, chunk: &Chunk) {
        let mut json = json!({ "tag": tag_text(chunk.tag), "offset": offset, "length": chunk.length });
        let left = self.file.len() as u64 - offset;
        if u64::from(chunk.length) + 5 > left {
            json["error"] = "truncated".into();
            self.unread = Some(left);
        } else {
            if let Some(form) = form_text(chunk) {
                json["form"] = form.into();
            }
            if chunk.tag != Tag::E && !matches!(chunk.layout.form, Form::Properties | Form::Raw) {
                json["records"] = json!([]);
            }
        }
        self.chunks.push(json);
    }

    /// Bytes after the end, or a chunk with a wrong length.
    fn take_residue(&mut self, located: &Located<Record<'_>>, bytes: &[u8]) {
        let has_ended = self.chunks.last().is_some_and(|chunk| chunk["tag"] == "E");
        if let ([tag, length @ ..], false, None) = (bytes, has_ended, self.unread) {
            let length = length.first_chunk().map(|length| u32::from_le_bytes(*length));
            let json = json!({
                "tag": tag_text(Tag(*tag)), "offset": located.offset, "length": length, "error": "truncated",
            });
            self.chunks.push(json);
        }
        self.unread = Some(located.len);
    }

    fn take_item(&mut self, record: &Record<'_>) {
        let Some(chunk) = self.chunks.last_mut() else { return };
        match record {
            Record::Payload(bytes) => {
                chunk["hex"] = hex(bytes).into();
                if chunk["tag"] == "S" {
                    chunk["error"] = "length is not a multiple of 28".into();
                }
            }
            Record::Property(pair) => {
                let text = [pair.key, b"=", pair.value.unwrap_or_default(), b"\0"].concat();
                let before = chunk.get("hex").and_then(Value::as_str).unwrap_or_default();
                chunk["hex"] = format!("{before}{}", hex(&text)).into();
            }
            record => row(record).into_iter().for_each(|row| push(&mut chunk["records"], row)),
        }
    }

    /// What the golden says about other readers is copied.
    fn finish(self, dialect: Dialect, golden: &Value) -> Value {
        let mut ours = self.json;
        ours["dialect"] = match dialect {
            Dialect::Document => "pyn-P17-tlv",
            Dialect::LengthProcess => "pyn-P21-tlv",
            Dialect::Tokens => "pyn-P17-tokens",
            Dialect::NoProcess => "pyn-noP-tlv",
            other => other.as_str(),
        }
        .into();
        if dialect == Dialect::Tokens {
            let rest = self.tokens_at.and_then(|at| self.file.get(at..));
            ours["rest_hex"] = hex(rest.unwrap_or_default()).into();
        } else {
            ours["chunks"] = self.chunks.into();
            ours["newline_in_payload"] = self.has_newline.into();
            if let Some(unread) = self.unread {
                ours["after_end"] = unread.into();
            }
        }
        for key in ["file", "devel_nytprof", "pynytprof_reader_seed_commit", "pynytprof_reader_head"] {
            ours[key] = golden[key].clone();
        }
        ours
    }
}

fn row(record: &Record<'_>) -> Option<Value> {
    Some(match record {
        Record::Line(l) => json!([l.fid, l.line, l.calls, l.inc_ticks, l.exc_ticks]),
        Record::Sub(sub) => json!([sub.sid, sub.flags, show(sub.name)]),
        Record::Range(sub) => json!([sub.sid, sub.fid, sub.first_line, sub.last_line, show(sub.name)]),
        Record::Visit(visit) => json!([visit.fid, visit.line, visit.ns]),
        Record::Edge(e) => json!([e.caller_sid, e.callee_sid, e.calls, e.ticks, e.sub_ticks]),
        Record::SiteCalls(calls) => json!([calls.fid, calls.line, calls.sid, calls.inc_ticks, calls.exc_ticks]),
        Record::File(f) => json!([f.fid, f.flags, f.size, f.mtime, show(f.path)]),
        Record::IndexedFile(fid, string) => json!([fid, string]),
        _ => return None,
    })
}

fn form_text(chunk: &Chunk) -> Option<&'static str> {
    let is_fixed = chunk.layout.integers == Integers::Fixed;
    Some(match chunk.layout.form {
        Form::Subs if chunk.length == 0 => "empty",
        Form::Visits if !is_fixed => "varint-stmt",
        Form::Files if !is_fixed => "varint-file",
        _ if !is_fixed => "varint",
        Form::Subs => "sid-flags-name",
        Form::Ranges => "sid-fid-range-name",
        Form::Visits => "stmt",
        Form::Files => "fid-flags-size-mtime-path",
        Form::IndexedFiles => "fid-stringindex",
        _ => return None,
    })
}

fn push(array: &mut Value, item: Value) {
    if let Value::Array(items) = array {
        items.push(item);
    }
}

fn tag_text(tag: Tag) -> String {
    char::from(tag.0).to_string()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn show(bytes: &[u8]) -> Value {
    lossy(bytes).into()
}
