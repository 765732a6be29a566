//! Every golden of the corpus, rebuilt from our reader.

mod support;

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::{Map, Value, json};
use support::{difference, fixtures};
use traceloom_bytes::{Findings, Limits, Options, Records, Source};
use traceloom_memlyze::{Frame, Metadata, Reader, Record, allocations::Allocations, findings as rules, raw::Dialect};

/// The JSON that the golden of this file holds.
fn reproduce(source: Source, golden: &Value) -> Value {
    let options = Options { limits: Limits { findings: usize::MAX, ..Limits::default() }, ..Options::default() };
    let bytes = source.len().unwrap();
    let mut reader = match traceloom_memlyze::open(source, &options) {
        Ok(reader) => reader,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    if let Some(error) = refusal(reader.findings()) {
        return json!({ "error": error });
    }
    let header = json!({
        "version": reader.header().version.0,
        "start_us": reader.header().start_us,
        "metadata_length": reader.header().metadata_len,
    });
    let mut walk = Walk::new(reader.header().dialect);
    while walk.step(&mut reader) {}
    let metadata = metadata(&walk.text, reader.metadata());
    let warnings = warnings(reader.findings());
    let events = if golden["events"] == "omitted" { json!("omitted") } else { Value::Array(walk.events.clone()) };
    json!({
        "header": header,
        "metadata": metadata,
        "summary": walk.summary(bytes),
        "warnings": warnings,
        "events": events,
    })
}

/// What makes the independent reader give up.
fn refusal(findings: &Findings) -> Option<String> {
    findings.kept().iter().find_map(|finding| {
        let value = |name| finding.values.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string());
        let number = |name| value(name).and_then(|value| value.parse::<u64>().ok());
        match finding.rule.code {
            code if code == rules::BAD_MAGIC.code => {
                let hex: String = value("found")?.bytes().map(|byte| format!("{byte:02x}")).collect();
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

fn warnings(findings: &Findings) -> Vec<String> {
    let mut warnings = Vec::new();
    for finding in findings.kept() {
        let value = |name| &finding.values.iter().find(|(key, _)| *key == name).unwrap().1;
        let offset = finding.position.offset;
        match finding.rule.code {
            code if code == rules::UNSUPPORTED_VERSION.code => warnings.push(format!("version {}", value("found"))),
            code if code == rules::RESERVED_NONZERO.code => {
                warnings.push("reserved header bytes are not all zero".to_owned());
            }
            code if code == rules::EVENT_CUT.code => warnings.push(format!("truncated event at {offset}")),
            // The independent reader gives up at the varint itself, which is behind the type.
            code if code == rules::VARINT_PADDED.code => warnings.push(format!("overlong varint at {}", offset + 1)),
            code if code == rules::VARINT_TOO_LONG.code => {
                warnings.push(format!("varint longer than 10 bytes at {offset}"));
            }
            code if code == rules::UNKNOWN_EVENT.code => {
                warnings.push(format!("unknown event type {} at {offset}", value("type")));
            }
            _ => {}
        }
    }
    let count = |rule: &traceloom_bytes::Rule| findings.counts().get(rule.code).copied().unwrap_or(0);
    let counted = [
        (count(&rules::STACK_MISSING) + count(&rules::GROWTH_STACK), "stack ids not in metadata"),
        (count(&rules::MARKER_MISSING) + count(&rules::GROWTH_MARKER), "marker name ids not in metadata"),
        (count(&rules::FRAME_MISSING), "frames with unknown file/function id"),
    ];
    warnings.extend(counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    warnings
}

/// The three sections from our tables, and whatever else stands in the text.
fn metadata(text: &[u8], tables: &Metadata) -> Value {
    if text.is_empty() {
        return json!({});
    }
    let mut object: Map<String, Value> = serde_json::from_slice(text).unwrap();
    let name = |(id, name): (u64, &[u8])| (id.to_string(), json!(String::from_utf8(name.to_vec()).unwrap()));
    let frame = |frame: Frame| {
        let fields = [("file_id", frame.file), ("line", frame.line), ("func_id", frame.function)];
        fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect::<Value>()
    };
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
    Value::Object(object)
}

struct Walk {
    text: Vec<u8>,
    events: Vec<Value>,
    counts: [u64; 4],
    parsed: u64,
    sum: u128,
    batches: u128,
    run: Option<u64>,
    threads: BTreeSet<u16>,
    zeros_only: bool,
    gc: [u128; 2],
    allocations: Allocations,
}

impl Walk {
    fn new(dialect: Dialect) -> Self {
        Self {
            text: Vec::new(),
            events: Vec::new(),
            counts: [0; 4],
            parsed: 256,
            sum: 0,
            batches: 0,
            run: None,
            threads: BTreeSet::new(),
            zeros_only: true,
            gc: [0; 2],
            allocations: Allocations::new(dialect, &Limits::default()),
        }
    }

    fn step(&mut self, reader: &mut Reader) -> bool {
        let Some(located) = reader.next().unwrap() else { return false };
        let end = located.offset + located.len;
        match located.record {
            Record::Metadata(text) => self.text.extend_from_slice(text),
            // The independent reader stops where a varint is padded; ours reads on.
            event if support::is_padded(&event) => return false,
            Record::Alloc(alloc) => {
                self.memory(alloc.delta_us, alloc.address);
                self.threads.insert(alloc.thread);
                self.counts[0] += 1;
                self.allocations.alloc(&alloc).unwrap();
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
            Record::Block(_) | Record::Residue(_) => return true,
        }
        self.parsed = end;
        true
    }

    fn memory(&mut self, delta: u64, address: u64) {
        self.sum += u128::from(delta);
        if self.run.replace(delta) != Some(delta) {
            self.batches += u128::from(delta);
        }
        self.zeros_only &= address == 0;
    }

    fn other(&mut self, delta: u64) {
        self.sum += u128::from(delta);
        self.batches += u128::from(delta);
        self.run = None;
    }

    fn summary(&self, bytes: u64) -> Value {
        let totals = self.allocations.totals();
        let number = |value: u128| json!(u64::try_from(value).unwrap());
        let [alloc, free, gc, marker] = self.counts;
        let live: u128 = self.allocations.live().map(|live| u128::from(live.size_bytes)).sum();
        json!({
            "alloc": alloc, "free": free, "gc": gc, "marker": marker, "events": alloc + free + gc + marker,
            "bytes_parsed": self.parsed, "file_size": bytes,
            "alloc_bytes": number(totals.alloc_bytes),
            "duration_us_sum": number(self.sum), "duration_us_batches": number(self.batches),
            "distinct_threads": self.threads, "all_addresses_zero": self.zeros_only,
            "live_at_end": self.allocations.live().len(), "live_bytes_at_end": number(live),
            "freed_bytes": number(totals.freed_bytes), "unmatched_frees": totals.unmatched_frees,
            "address_reused_without_free": totals.reused, "peak_bytes": number(totals.peak_bytes),
            "gc_objects": number(self.gc[0]), "gc_bytes": number(self.gc[1]),
        })
    }
}

#[test]
fn every_golden_is_reproduced() {
    let mut wrong = Vec::new();
    for path in fixtures() {
        let golden: Value = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
        let ours = reproduce(Source::bytes(fs::read(&path).unwrap()), &golden);
        if let Some(difference) = difference(&ours, &golden, "$") {
            wrong.push(format!("{}: {difference}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_list_of_files_is_the_folder() {
    let folder = support::folder();
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let listed: BTreeSet<PathBuf> =
        manifest.as_array().unwrap().iter().map(|entry| folder.join(entry["file"].as_str().unwrap())).collect();
    assert_eq!(listed, fixtures().into_iter().collect());
}

/// The sum of batch times of a real trace is what our clock says of its last event.
#[test]
fn real_traces_are_growth_and_keep_their_time() {
    for path in fixtures() {
        let mut reader = traceloom_memlyze::open(Source::bytes(fs::read(&path).unwrap()), &Options::default()).unwrap();
        let golden: Value = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
        let is_real = golden["summary"]["all_addresses_zero"] == true
            && golden["summary"]["events"] != 0
            && golden["metadata"]["functions"] == json!({});
        assert_eq!(reader.header().dialect == Dialect::Growth, is_real, "{}", path.display());
        let rule = if is_real { "duration_us_batches" } else { "duration_us_sum" };
        let mut last = 0;
        while let Some(located) = reader.next().unwrap() {
            last = located.record.time_us().unwrap_or(last);
        }
        if golden.get("error").is_none() {
            assert_eq!(last, golden["summary"][rule].as_u64().unwrap(), "{}", path.display());
        }
    }
}
