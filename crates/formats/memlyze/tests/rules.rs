//! The seven documented rules, and every other finding, one by one.

mod support;

use support::{sample, walk};
use traceloom_core::{Limits, Options, Source};
use traceloom_memlyze::raw::Packing;

const METADATA: &str = r#"{"stack_traces": {"0": [{"file_id": 0, "line": 42, "func_id": 0}]}, "files": {"0": "a.py"}, "functions": {"0": "main"}}"#;
const ALLOC: &[u8] = b"\x00\x05\x10\x00\x00\x00\x00\x00\x00\x00\x40\x00\x01\x00";
const FREE: &[u8] = b"\x01\x05\x10\x00\x00\x00\x00\x00\x00\x00";

/// A file made of its parts.
struct File {
    header: Vec<u8>,
    metadata: Vec<u8>,
    events: Vec<u8>,
}

impl File {
    fn new() -> Self {
        Self::with_metadata(METADATA)
    }

    fn with_metadata(metadata: &str) -> Self {
        let mut header = b"MTRC\x01\x00\x00\x00".to_vec();
        header.extend_from_slice(&1_765_000_000_000_000u64.to_le_bytes());
        header.extend_from_slice(&(metadata.len() as u32).to_le_bytes());
        header.resize(256, 0);
        Self { header, metadata: metadata.as_bytes().to_vec(), events: Vec::new() }
    }

    fn event(mut self, bytes: &[u8]) -> Self {
        self.events.extend_from_slice(bytes);
        self
    }

    fn header_at(mut self, offset: usize, bytes: &[u8]) -> Self {
        self.header[offset..offset + bytes.len()].copy_from_slice(bytes);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        [self.header.as_slice(), &self.metadata, &self.events].concat()
    }

    /// The codes found, the number of events read, and whether strict mode refuses.
    #[track_caller]
    fn expect(&self, codes: &[&str], events: usize, refused: bool) {
        let walked = walk(&self.bytes(), &Options::default()).unwrap();
        let found: Vec<&str> = walked.codes.iter().map(|code| code.strip_prefix("memlyze.").unwrap()).collect();
        assert_eq!(found, codes, "{:#?}", walked.findings);
        assert!(walked.rewritten == self.bytes());
        let is_event = |line: &&String| ["alloc ", "free ", "gc ", "marker "].iter().any(|kind| line.contains(kind));
        assert_eq!(walked.lines.iter().skip(1).filter(is_event).count(), events, "{:#?}", walked.lines);
        assert_eq!(walk(&self.bytes(), &Options::strict()).is_err(), refused);
    }
}

#[test]
fn a_good_file_has_no_findings() {
    File::new().event(ALLOC).event(FREE).event(b"\x02\x00\x01\x02").event(b"\x03\x00\x00").expect(&[], 4, false);
}

#[test]
fn rule_1_magic() {
    File::new().event(ALLOC).header_at(0, b"CRTM").expect(&["bad-magic"], 1, true);
    let other = File::new().header_at(0, b"\x7fELF").header_at(4, &[9]).bytes();
    assert!(walk(&other, &Options::default()).is_err());
    let empty = walk(b"", &Options::default()).unwrap_err();
    assert!(empty.to_string().contains("the file is empty"), "{empty}");
}

#[test]
fn rule_2_version() {
    File::new().event(ALLOC).header_at(4, &[2]).expect(&["unsupported-version"], 1, true);
    // A newer version may have new events: those before it are kept.
    let newer = File::new().event(ALLOC).event(b"\x04\x01\x02").event(ALLOC).header_at(4, &[2]);
    newer.expect(&["unsupported-version", "unknown-event"], 1, true);
}

#[test]
fn rule_3_metadata() {
    File::with_metadata("[1, 2]").event(ALLOC).expect(&["metadata-not-object", "stack-missing"], 1, true);
    let cut = r#"{"files": {"0": "a.py"}, "stack_traces": {"0": [{"file_id": 0, "line": 1"#;
    File::with_metadata(cut).event(FREE).expect(&["metadata-invalid"], 1, true);
    File::with_metadata("").event(ALLOC).expect(&["metadata-absent", "stack-missing"], 1, true);
    File::with_metadata("").event(FREE).expect(&["metadata-absent"], 1, false);
    File::new().event(ALLOC).header_at(16, &5000u32.to_le_bytes()).expect(&["metadata-length"], 1, true);
    File::new().event(ALLOC).header_at(16, &10u32.to_le_bytes()).expect(&["metadata-length"], 1, true);
    File::new().event(ALLOC).event(ALLOC).header_at(16, &140u32.to_le_bytes()).expect(&["metadata-length"], 2, true);
    File::with_metadata(&format!("{METADATA}  \n ")).event(ALLOC).expect(&[], 1, false);
    File::with_metadata(&format!("{METADATA}\0\0\0")).event(ALLOC).expect(&["metadata-surplus"], 1, true);
}

#[test]
fn a_cut_inside_the_metadata_is_one_finding() {
    let whole = File::new().event(ALLOC).bytes();
    for len in 257..256 + METADATA.len() {
        let walked = walk(&whole[..len], &Options::default()).unwrap();
        assert_eq!(walked.codes, ["memlyze.metadata-invalid"], "{len} bytes");
    }
}

#[test]
fn metadata_of_odd_shape() {
    let odd = r#"{"files": 7, "functions": {"0": 5, "1": "b"}, "stack_traces": {"0": {}, "1": [3, {"line": 1.5}]}}"#;
    let codes = ["metadata-shape"; 4].into_iter().chain(["frame-field"; 3]).collect::<Vec<_>>();
    File::with_metadata(odd).event(FREE).expect(&codes, 1, false);
    let ids = r#"{"files": {"x": "a", "-1": "b", "07": "c", "1.0": "d", "7": "e"}}"#;
    File::with_metadata(ids).event(FREE).expect(&["metadata-id"; 4], 1, false);
    let twice = r#"{"files": {"7": "a"}, "functions": {"0": "a", "0": "b"}, "files": {"1": "b"}, "pid": 3}"#;
    let codes = ["metadata-duplicate", "metadata-key", "metadata-duplicate"];
    File::with_metadata(twice).event(FREE).expect(&codes, 1, false);
    let reader = traceloom_memlyze::open(Source::bytes(File::with_metadata(twice).bytes()), &Options::default());
    let reader = reader.unwrap();
    assert_eq!(reader.metadata().function(0), Some(&b"b"[..]));
    assert_eq!(reader.metadata().files().collect::<Vec<_>>(), [(1, &b"b"[..])]);
}

#[test]
fn rule_4_ids() {
    let unknown_stack = b"\x00\x05\x10\x00\x00\x00\x00\x00\x00\x00\x40\x07\x01\x00";
    File::new().event(unknown_stack).event(unknown_stack).expect(&["stack-missing"], 2, true);
    File::new().event(b"\x03\x00\x07").event(b"\x03\x00\x08").expect(&["marker-missing"; 2], 2, true);
    let frames = r#"{"stack_traces": {"0": [{"file_id": 9, "line": 1, "func_id": 9}]}, "files": {}, "functions": {}}"#;
    File::with_metadata(frames).event(ALLOC).expect(&["frame-missing"], 1, true);
}

#[test]
fn rule_5_event_types() {
    for kind in [4, 5, 6, 0x7b, 0xff] {
        File::new().event(ALLOC).event(&[kind, 0, 0]).event(FREE).expect(&["unknown-event"], 1, true);
    }
}

#[test]
fn rule_6_varints() {
    let padded = b"\x01\x85\x80\x00\x10\x00\x00\x00\x00\x00\x00\x00";
    File::new().event(ALLOC).event(padded).event(FREE).expect(&["varint-padded"], 3, false);
    let longest = b"\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00";
    File::new().event(longest).expect(&[], 1, false);
    let too_long = b"\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00\x00";
    File::new().event(ALLOC).event(too_long).expect(&["varint-too-long"], 1, true);
    let too_large = b"\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00";
    File::new().event(ALLOC).event(too_large).event(ALLOC).expect(&["varint-too-long"], 1, true);
}

#[test]
fn rule_7_ends_on_an_event() {
    for len in 1..ALLOC.len() {
        File::new().event(FREE).event(ALLOC.split_at(len).0).expect(&["event-cut"], 1, true);
    }
}

#[test]
fn header_oddities() {
    File::new().event(ALLOC).header_at(20, &[1, 2]).expect(&["reserved-nonzero"], 1, false);
    let mut big = File::new().header_at(4, &[0, 0, 0, 1]);
    big = big.header_at(8, &1_765_000_000_000_000u64.to_be_bytes());
    big = big.header_at(16, &(METADATA.len() as u32).to_be_bytes());
    big = big.event(b"\x00\x05\x00\x00\x00\x00\x00\x00\x00\x10\x40\x00\x00\x01");
    big.expect(&["big-endian"], 1, true);
    assert!(walk(&big.bytes(), &Options::default()).unwrap().lines.last().unwrap().contains("address=16"));
    let cut = &File::new().bytes()[..100];
    let walked = walk(cut, &Options::default()).unwrap();
    assert_eq!(walked.codes, ["memlyze.header-cut"]);
}

#[test]
fn deltas_beyond_64_bits_stay_at_the_end_of_time() {
    let longest = b"\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00";
    File::new().event(longest).event(longest).event(longest).expect(&["time-overflow"], 3, false);
}

#[test]
fn growth_is_recognized_and_says_what_it_cannot_know() {
    let empty = r#"{"stack_traces": {}, "files": {}, "functions": {}}"#;
    let growth = b"\x00\x05\x00\x00\x00\x00\x00\x00\x00\x00\x40\x00\x01\x00";
    let shrink = b"\x01\x05\x00\x00\x00\x00\x00\x00\x00\x00";
    let file = File::with_metadata(empty).event(growth).event(shrink).event(growth).event(b"\x03\x01\x00");
    file.expect(&["growth-mode", "growth-stack", "growth-marker"], 4, false);
    let walked = walk(&file.bytes(), &Options::default()).unwrap();
    assert!(walked.findings[0].contains("does not show"));
    assert!(walked.lines.last().unwrap().contains("time_us=6"), "{:?}", walked.lines);
    // An address near the start means that the dialect is another one; far behind, it is a finding.
    File::with_metadata(empty).event(growth).event(ALLOC).expect(&["stack-missing"], 2, true);
    let mut late = File::with_metadata(empty);
    for _ in 0..5000 {
        late = late.event(growth);
    }
    late.event(ALLOC).expect(&["growth-mode", "growth-stack", "growth-address"], 5001, false);
}

#[test]
fn limits_hold() {
    let limits = Limits::with(|limits| limits.entries = 1);
    let two = r#"{"functions": {"0": "a", "1": "b"}}"#;
    let options = Options::default().with_limits(limits);
    assert!(walk(&File::with_metadata(two).bytes(), &options).is_err());
}

#[test]
fn the_sample_is_sound() {
    for packing in [Packing::Plain, Packing::Blocks] {
        let walked = walk(&sample(packing), &Options::strict()).unwrap();
        assert!(walked.findings.is_empty(), "{:?}", walked.findings);
        assert!(walked.lines.len() > 5_000);
    }
}

#[test]
fn another_recording_in_the_file_is_named() {
    let second = File::new().event(ALLOC).event(FREE).bytes();
    File::new().event(ALLOC).event(&second).expect(&["another-recording"], 1, true);
    // Only its magic is not enough.
    File::new().event(ALLOC).event(b"MTRX\x01\x00\x00\x00").expect(&["unknown-event"], 1, true);
}
