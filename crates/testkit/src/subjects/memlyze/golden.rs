//! Rebuilds the golden of the independent Memlyze reader from ours.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use traceloom_core::{Error, Findings, Limits, Options, Records, Result, Source};
use traceloom_memlyze::{
    Frame, Metadata, Padding, Reader, Record, allocations::Allocations, findings as rules, open, raw::HEADER_BYTES,
};

use crate::subjects::hex;

/// The golden of a file; whether it lists the events is copied from `golden`.
pub(super) fn reproduce(source: Source, golden: &Value) -> Result<Value> {
    let options = Options::default().with_limits(Limits::with(|limits| limits.findings = usize::MAX));
    let bytes = source.len()?;
    let mut reader = open(source, &options)?;
    if let Some(error) = refusal(reader.findings()) {
        return Ok(json!({ "error": error }));
    }
    let header = json!({
        "version": reader.header().version.0,
        "start_us": reader.header().start_us,
        "metadata_length": reader.header().metadata_len,
    });
    let mut walk = Walk::new(&reader);
    while walk.step(&mut reader)? {}
    let summary = walk.summary(bytes)?;
    let events = if golden["events"] == "omitted" { json!("omitted") } else { Value::Array(walk.events) };
    Ok(json!({
        "header": header,
        "metadata": metadata(&walk.text, reader.metadata())?,
        "summary": summary,
        "warnings": warnings(&reader),
        "events": events,
    }))
}

/// Why the independent reader gives up.
fn refusal(findings: &Findings) -> Option<String> {
    findings.kept().iter().find_map(|finding| {
        let value = |name| finding.values.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
        let number = |name| value(name).and_then(|value| value.parse::<u64>().ok());
        match finding.rule.code {
            code if code == rules::BAD_MAGIC.code => {
                let hex = hex(value("found")?.as_bytes());
                Some(format!("bad magic {hex}"))
            }
            code if code == rules::METADATA_NOT_OBJECT.code => Some("metadata is not a JSON object".to_owned()),
            code if code == rules::METADATA_LENGTH.code && number("declared") > number("left") => {
                Some(format!("metadata_length {} runs past end of file", value("declared")?))
            }
            _ => None,
        }
    })
}

fn warnings(reader: &Reader) -> Vec<String> {
    let mut warnings = Vec::new();
    for finding in reader.findings().kept() {
        let value = |name| finding.values.iter().find(|(key, _)| *key == name).map_or(&NONE, |(_, value)| value);
        let offset = finding.position.offset;
        warnings.extend(match finding.rule.code {
            code if code == rules::UNSUPPORTED_VERSION.code => Some(format!("version {}", value("found"))),
            code if code == rules::RESERVED_NONZERO.code => Some("reserved header bytes are not all zero".to_owned()),
            code if code == rules::EVENT_CUT.code => Some(format!("truncated event at {offset}")),
            // The independent reader gives up at the varint itself, which comes after the type.
            code if code == rules::VARINT_PADDED.code => Some(format!("overlong varint at {}", offset + 1)),
            code if code == rules::VARINT_TOO_LONG.code => Some(format!("varint longer than 10 bytes at {offset}")),
            code if code == rules::UNKNOWN_EVENT.code => {
                Some(format!("unknown event type {} at {offset}", value("type")))
            }
            _ => None,
        });
    }
    let frames = reader.findings().counts().get(rules::FRAME_MISSING.code).copied().unwrap_or(0);
    let counted = [
        (reader.missing_stacks().count() as u64, "stack ids not in metadata"),
        (reader.missing_markers().count() as u64, "marker name ids not in metadata"),
        (frames, "frames with unknown file/function id"),
    ];
    warnings.extend(counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    warnings
}

/// Represents a value that a finding does not have.
static NONE: traceloom_core::Value = traceloom_core::Value::Text(String::new());

/// The three sections from our tables, and everything else in the text.
fn metadata(text: &[u8], tables: &Metadata) -> Result<Value> {
    if text.is_empty() {
        return Ok(json!({}));
    }
    let parsed = serde_json::from_slice::<Map<String, Value>>(text);
    let mut object = parsed.map_err(|error| Error::usage(format!("the metadata is no JSON object: {error}")))?;
    let name = |(id, name): (u64, &[u8])| (id.to_string(), json!(String::from_utf8_lossy(name)));
    for (section, value) in &mut object {
        match section.as_str() {
            "stack_traces" => {
                *value = tables
                    .stacks()
                    .map(|(id, frames)| (id.to_string(), frames.map(frame).collect::<Value>()))
                    .collect();
            }
            "files" => *value = tables.files().map(name).collect(),
            "functions" => *value = tables.functions().map(name).collect(),
            _ => {}
        }
    }
    Ok(object.into())
}

fn frame(frame: Frame) -> Value {
    let fields = [("file_id", frame.file), ("line", frame.line), ("func_id", frame.function)];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect()
}

struct Walk {
    text: Vec<u8>,
    events: Vec<Value>,
    counts: [u64; 4],
    parsed: u64,
    /// The sum of all deltas, with runs of equal ones counted once: both rules, whatever the dialect.
    sum_us: u128,
    batches_us: u128,
    run: Option<u64>,
    threads: BTreeSet<u16>,
    zeros_only: bool,
    gc: [u128; 2],
    allocations: Allocations,
}

impl Walk {
    fn new(reader: &Reader) -> Self {
        Self {
            text: Vec::new(),
            events: Vec::new(),
            counts: [0; 4],
            parsed: HEADER_BYTES as u64,
            sum_us: 0,
            batches_us: 0,
            run: None,
            threads: BTreeSet::new(),
            zeros_only: true,
            gc: [0; 2],
            allocations: Allocations::new(reader.header().dialect, &Limits::default()),
        }
    }

    fn step(&mut self, reader: &mut Reader) -> Result<bool> {
        let Some(located) = reader.next()? else { return Ok(false) };
        let end = located.offset + located.len;
        match located.record {
            Record::Metadata(text) => self.text.extend_from_slice(text),
            // The independent reader stops at a padded varint; ours continues.
            event if is_padded(&event) => return Ok(false),
            Record::Alloc(alloc) => {
                self.memory(alloc.delta_us, alloc.address);
                self.threads.insert(alloc.thread);
                self.counts[0] += 1;
                self.allocations.alloc(&alloc)?;
                let event = json!(["A", alloc.delta_us, alloc.address, alloc.size_bytes, alloc.stack, alloc.thread]);
                self.events.push(event);
            }
            Record::Free(free) => {
                self.memory(free.delta_us, free.address);
                self.counts[1] += 1;
                self.allocations.free(&free);
                self.events.push(json!(["F", free.delta_us, free.address]));
            }
            Record::Gc(gc) => {
                self.other(gc.delta_us);
                self.counts[2] += 1;
                self.gc[0] += u128::from(gc.objects);
                self.gc[1] += u128::from(gc.size_bytes);
                self.events.push(json!(["G", gc.delta_us, gc.objects, gc.size_bytes]));
            }
            Record::Marker(marker) => {
                self.other(marker.delta_us);
                self.counts[3] += 1;
                self.events.push(json!(["M", marker.delta_us, marker.name]));
            }
            _ => return Ok(true),
        }
        self.parsed = end;
        Ok(true)
    }

    fn memory(&mut self, delta: u64, address: u64) {
        self.sum_us += u128::from(delta);
        if self.run.replace(delta) != Some(delta) {
            self.batches_us += u128::from(delta);
        }
        self.zeros_only &= address == 0;
    }

    fn other(&mut self, delta: u64) {
        self.sum_us += u128::from(delta);
        self.batches_us += u128::from(delta);
        self.run = None;
    }

    fn summary(&self, bytes: u64) -> Result<Value> {
        let totals = self.allocations.totals();
        let number = |value: u128| {
            let small = u64::try_from(value).map_err(|_| Error::usage("no golden has a sum above 64 bits"));
            small.map(Value::from)
        };
        let [alloc, free, gc, marker] = self.counts;
        let live: u128 = self.allocations.live().map(|live| u128::from(live.size_bytes)).sum();
        Ok(json!({
            "alloc": alloc, "free": free, "gc": gc, "marker": marker, "events": alloc + free + gc + marker,
            "bytes_parsed": self.parsed, "file_size": bytes,
            "alloc_bytes": number(totals.alloc_bytes)?,
            "duration_us_sum": number(self.sum_us)?, "duration_us_batches": number(self.batches_us)?,
            "distinct_threads": self.threads, "all_addresses_zero": self.zeros_only,
            "live_at_end": self.allocations.live().len(), "live_bytes_at_end": number(live)?,
            "freed_bytes": number(totals.freed_bytes)?, "unmatched_frees": totals.unmatched_frees,
            "address_reused_without_free": totals.reused, "peak_bytes": number(totals.peak_bytes)?,
            "gc_objects": number(self.gc[0])?, "gc_bytes": number(self.gc[1])?,
        }))
    }
}

/// Whether a varint of an event is longer than necessary.
fn is_padded(record: &Record<'_>) -> bool {
    let padding = match record {
        Record::Alloc(alloc) => alloc.padding,
        Record::Free(free) => free.padding,
        Record::Gc(gc) => gc.padding,
        Record::Marker(marker) => marker.padding,
        _ => Padding::default(),
    };
    !padding.is_none()
}
