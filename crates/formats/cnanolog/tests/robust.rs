//! For any bytes: texts and edits do not panic, and damage costs no more than it touches.

mod support;

use std::collections::BTreeSet;

use traceloom_cnanolog::{Dictionary, Extra, Record, edit, findings, open, open_with, sample, text};
use traceloom_core::{Options, Random, Records, Source};

/// Everything that a user can do with a file; errors are fine, panics are not.
fn exercise(bytes: &[u8]) {
    let source = Source::bytes(bytes);
    if let Ok(mut reader) = open(source.clone(), &Options::default().thorough()) {
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
fn texts_and_edits_survive_every_prefix() {
    for name in support::logs() {
        let bytes = support::bytes(&name);
        for len in (0..bytes.len().min(4096)).step_by(5) {
            exercise(&bytes[..len]);
        }
    }
}

#[test]
fn texts_and_edits_survive_changed_bytes() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut next = || random.number();
    for name in support::logs() {
        let mut bytes = support::bytes(&name);
        if bytes.is_empty() {
            continue;
        }
        for round in 0..150 {
            // Damage to headers and dictionaries has the worst effects.
            let near = [64, bytes.len()][round % 2].min(bytes.len());
            let at = if round % 3 == 0 { bytes.len() - 1 - (next() as usize % near) } else { next() as usize % near };
            let before = bytes[at];
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, next() as u8][next() as usize % 6];
            exercise(&bytes);
            bytes[at] = before;
        }
    }
}

#[test]
fn the_sample_is_sound() {
    let bytes = sample::sample().unwrap().bytes;
    let (records, findings) = support::read_all(Source::bytes(bytes.clone()), &Options::strict()).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    assert!(records.len() > 5000, "{}", records.len());
    let mut again = Vec::new();
    let edited = edit::canonical(&Source::bytes(bytes.clone()), &mut again, None, &Options::default()).unwrap();
    assert!(edited.loss.is_empty());
    assert!(again == bytes, "the sample is what a clean writer makes");
}

/// Offsets of the entries; with a dictionary, of those whose arguments can be decoded.
fn entries(bytes: &[u8], extra: Extra) -> BTreeSet<u64> {
    let mut reader = open_with(Source::bytes(bytes), &Options::default(), extra).unwrap();
    let has_dictionary = reader.dictionary().is_some();
    let mut offsets = BTreeSet::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record
            && (entry.args().is_some() || !has_dictionary)
        {
            offsets.insert(located.offset);
        }
    }
    offsets
}

/// The sample as left by a process that dies before it closes its log.
fn unfinished(whole: &[u8]) -> Vec<u8> {
    let dictionary_at = u64::from_le_bytes(whole[40..48].try_into().unwrap()) as usize;
    let mut bytes = whole[..dictionary_at].to_vec();
    bytes[40..52].fill(0);
    bytes
}

#[test]
fn a_damaged_stretch_costs_only_the_entries_that_it_touches() {
    let whole = sample::sample().unwrap().bytes;
    let unfinished = unfinished(&whole);
    let dictionary = Dictionary::of(Source::bytes(whole.clone()), &Options::default()).unwrap();
    let supplied = Extra::default().with_dictionary(dictionary);
    for (good, extra) in [(&whole, Extra::default()), (&unfinished, Extra::default()), (&unfinished, supplied)] {
        let all = entries(good, extra.clone());
        assert!(all.len() > 5000);
        for (at, len, fill) in [(5_000, 1, 0xff), (20_000, 300, 0xff), (40_000, 5_000, 0x00), (90_000, 70_000, 0xaa)] {
            let mut bad = good.clone();
            bad[at..at + len].fill(fill);
            let left = entries(&bad, extra.clone());
            // One entry before the damage may extend into it; zeros may look like a few short ones.
            let (from, to) = (at as u64 - 100, (at + len + 200) as u64);
            let lost: Vec<_> = all.difference(&left).filter(|offset| !(from..to).contains(*offset)).collect();
            assert!(lost.is_empty(), "damage at {at} of {len}: {lost:?}");
        }
    }
}

/// A program that is stopped while it closes its log leaves half a dictionary, which is not an entry.
#[test]
fn entries_end_where_half_a_dictionary_begins() {
    let whole = sample::sample().unwrap().bytes;
    let mut half = unfinished(&whole);
    let end = half.len();
    let all = entries(&half, Extra::default());
    half.extend_from_slice(&whole[end..end + 100]);
    assert!(entries(&half, Extra::default()) == all);
    let mut reader = open(Source::bytes(half), &Options::default()).unwrap();
    while reader.next().unwrap().is_some() {}
    assert_eq!(reader.resume_at(), end as u64);
    assert!(reader.findings().counts().contains_key(findings::DICTIONARY_CUT.code));
}

/// An id, a time and two lengths. Rarely, a wrong length ends before something that looks like an entry; then the
/// entries inside are lost.
#[test]
fn damaged_headers_without_a_dictionary_cost_little() {
    let good = unfinished(&sample::sample().unwrap().bytes);
    let all = entries(&good, Extra::default());
    let mut lost = Vec::new();
    for offset in all.iter().skip(40).step_by(97).take(60) {
        for (field, value) in [(3, 0x80), (11, 0x40), (12, 0xff), (13, 0x21)] {
            let mut bad = good.clone();
            bad[*offset as usize + field] = value;
            lost.push(all.difference(&entries(&bad, Extra::default())).count());
        }
    }
    lost.sort_unstable();
    assert!(lost[lost.len() * 95 / 100] <= 1, "{lost:?}");
}

/// An unfinished log of garbage must not be searched for entries over and over.
#[test]
fn garbage_is_read_in_time() {
    let mut bytes = unfinished(&sample::sample().unwrap().bytes);
    bytes.truncate(64);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    while bytes.len() < 8 << 20 {
        let random = random.number();
        // Ids that no program has, and no arguments: as many entries as possible.
        bytes.extend_from_slice(&(random as u32 | 1 << 31).to_le_bytes());
        bytes.extend_from_slice(&random.to_le_bytes());
        bytes.extend_from_slice(&[0, 0]);
    }
    let started = std::time::Instant::now();
    assert!(entries(&bytes, Extra::default()).len() > 500_000);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
