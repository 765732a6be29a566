//! The scopes of damaged files, and calls files without calls.

mod support;

use std::{fs, path::Path};

use support::traces;
use traceloom_core::{Options, Random, Records, Source};
use traceloom_wtf::{Record, derive::Tree, open};

#[test]
fn trees_of_damaged_files_are_survived() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut next = || random.number() as usize;
    for bytes in traces().into_values().map(|path| fs::read(path).unwrap()) {
        if bytes.is_empty() {
            continue;
        }
        for round in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + round % 3 {
                let at = next() % damaged.len();
                damaged[at] = if round % 2 == 0 { next() as u8 } else { damaged[at] ^ 1 << (next() % 8) };
            }
            if round % 10 == 0 {
                let at = next() % damaged.len();
                damaged.drain(at..(at + 1 + next() % 40).min(bytes.len()));
            }
            let _ = Tree::build(&Source::bytes(damaged), &Options::default(), true);
        }
    }
}

/// Fails unless the raw bytes that are returned make up the file, and every decoded record is within them.
fn assert_adds_up(bytes: &[u8], what: &str) {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut lent = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            Record::Raw(raw) => lent.extend_from_slice(raw),
            _ => assert!(located.offset < lent.len() as u64, "{what}: a record at {}", located.offset),
        }
    }
    assert!(lent == bytes, "{what}: {} of {} bytes are lent", lent.len(), bytes.len());
}

#[test]
fn calls_add_up_however_many_there_are() {
    let plain = fs::read(&traces()["hc-calls-plain.wtf-calls"]).unwrap();
    let header_bytes = 4 + u32::from_le_bytes(*plain.first_chunk().unwrap()) as usize;
    let header = &plain[..header_bytes.next_multiple_of(4)];
    // Batches have 4096 records.
    for count in [0, 1, 4095, 4096, 4097, 8192] {
        let records = [1000i32, -1000].into_iter().cycle().take(count).flat_map(i32::to_le_bytes);
        let bytes: Vec<u8> = header.iter().copied().chain(records).collect();
        assert_adds_up(&bytes, &format!("{count} calls"));
        assert_adds_up(&[&bytes[..], &[9, 9, 9]].concat(), &format!("{count} calls and a tail"));
    }
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/wtf/found/calls-cut-in-header.wtf-calls");
    assert_adds_up(&fs::read(found).unwrap(), "a cut header");
}
