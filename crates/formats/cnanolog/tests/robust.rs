//! Whatever the bytes are: no panic, no hang, the same at every window size, and written back as they were.

mod support;

use std::collections::BTreeSet;

use traceloom_bytes::{Limits, Options, Records, Result, Source};
use traceloom_cnanolog::{Record, create, edit, open, sample, text};

fn rewrite(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut reader = open(Source::bytes(bytes), &Options::default())?;
    let mut writer = create(Vec::new(), reader.header())?;
    while let Some(located) = reader.next()? {
        writer.write(&located.record)?;
    }
    Ok(writer.finish()?.0)
}

/// Everything that a user can ask of a file; errors are fine, panics are not.
fn exercise(bytes: &[u8]) {
    let source = Source::bytes(bytes);
    if let Ok(mut reader) = open(source.clone(), &Options::default()) {
        reader.check_arguments();
        let mut lines = text::Lines::new(text::Pattern::default(), reader.clock(), text::utc);
        let mut json = text::Json::new(reader.clock());
        let mut compat = text::Compat::new(&reader, None, text::utc);
        let mut out = Vec::new();
        while let Ok(Some(located)) = reader.next() {
            out.clear();
            compat.put(&located.record, &mut out);
            if let Record::Entry(entry) = located.record {
                lines.put(&entry, &mut out);
                json.put(&entry, located.offset, &mut out);
            }
        }
    }
    let _ = support::read_all(source.clone(), &Options::strict());
    let _ = edit::repair(&source, Vec::new(), &Options::default());
}

#[test]
fn every_file_is_written_back_as_it_was() {
    let mut rewritten = 0;
    for name in support::logs() {
        let bytes = support::bytes(&name);
        if let Ok(again) = rewrite(&bytes) {
            assert!(again == bytes, "{name}");
            rewritten += 1;
        }
    }
    // All but the file of no bytes.
    assert_eq!(rewritten, support::logs().len() - 1);
}

#[test]
fn the_window_size_changes_nothing() {
    for name in support::logs() {
        let expected =
            support::read_all(support::source(&name), &Options::default()).map_err(|error| error.to_string());
        for window_bytes in [1, 7, 64, 4096, 65_536] {
            let options = Options { limits: Limits { window_bytes, ..Limits::default() }, ..Options::default() };
            let found = support::read_all(support::source(&name), &options).map_err(|error| error.to_string());
            assert_eq!(found, expected, "{name} at {window_bytes}");
        }
    }
}

#[test]
fn every_prefix_is_survived() {
    for name in support::logs() {
        let bytes = support::bytes(&name);
        for len in 0..bytes.len().min(4096) {
            let prefix = &bytes[..len];
            if let Ok(again) = rewrite(prefix) {
                assert!(again == prefix, "{name} cut to {len}");
            }
            if len % 5 == 0 {
                exercise(prefix);
            }
        }
    }
}

#[test]
fn changed_bytes_are_survived() {
    let mut random = 0x1234_5678_9abc_def1u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for name in support::logs() {
        let mut bytes = support::bytes(&name);
        if bytes.is_empty() {
            continue;
        }
        for round in 0..150 {
            // Headers and dictionaries are where it hurts.
            let near = [64, bytes.len()][round % 2].min(bytes.len());
            let at = if round % 3 == 0 { bytes.len() - 1 - (next() as usize % near) } else { next() as usize % near };
            let before = bytes[at];
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, next() as u8][next() as usize % 6];
            if let Ok(again) = rewrite(&bytes) {
                assert!(again == bytes, "{name} with a change at {at}");
            }
            exercise(&bytes);
            bytes[at] = before;
        }
    }
}

#[test]
fn the_sample_is_sound() {
    let bytes = sample::clog().unwrap();
    let (records, findings) = support::read_all(Source::bytes(bytes.clone()), &Options::strict()).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    assert!(records.len() > 5000, "{}", records.len());
    let mut again = Vec::new();
    let edited = edit::canonical(&Source::bytes(bytes.clone()), &mut again, None, &Options::default()).unwrap();
    assert!(edited.loss.is_empty());
    assert!(again == bytes, "the sample is what a clean writer makes");
}

/// Offsets of the entries whose arguments can be read.
fn entries(bytes: &[u8]) -> BTreeSet<u64> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut offsets = BTreeSet::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record
            && entry.args().is_some()
        {
            offsets.insert(located.offset);
        }
    }
    offsets
}

#[test]
fn a_damaged_stretch_costs_only_the_entries_that_it_touches() {
    let good = sample::clog().unwrap();
    let all = entries(&good);
    for (at, len, fill) in [(5_000, 1, 0xff), (20_000, 300, 0xff), (40_000, 5_000, 0x00), (90_000, 70_000, 0xaa)] {
        let mut bad = good.clone();
        bad[at..at + len].fill(fill);
        let left = entries(&bad);
        // One entry before the damage may reach into it; zeros may look like a few short ones.
        let (from, to) = (at as u64 - 100, (at + len + 200) as u64);
        let lost: Vec<_> = all.difference(&left).filter(|offset| !(from..to).contains(*offset)).collect();
        assert!(lost.is_empty(), "damage at {at} of {len}: {lost:?}");
    }
}
