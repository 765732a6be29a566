//! Edits: the output is what a clean writer makes, and everything that could not be kept is reported.

mod support;

use traceloom_cnanolog::{Reader, Record, edit, open, sample, text};
use traceloom_core::{ByteOrder, Options, Records, Severity, Slice, Source, TimeRange};

type Edit<'a> = &'a dyn Fn(&Source, &mut Vec<u8>) -> traceloom_core::Result<traceloom_core::Edited>;

/// Level, location, time and message of every entry that can be decoded.
fn lines(source: Source) -> Vec<String> {
    let mut reader = open(source, &Options::default()).unwrap();
    let mut lines = text::Lines::new(text::Pattern::default(), reader.clock(), text::utc);
    let mut out = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            let mut line = Vec::new();
            lines.put(&entry, &mut line);
            if entry.args().is_some() {
                out.push(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }
    out
}

/// Findings of severity error, arguments checked.
fn errors(bytes: &[u8]) -> Vec<String> {
    let mut reader = open(Source::bytes(bytes), &Options::default().thorough()).unwrap();
    while reader.next().unwrap().is_some() {}
    let kept = reader.findings().kept().iter();
    kept.filter(|finding| finding.rule.severity >= Severity::Warning).map(ToString::to_string).collect()
}

#[test]
fn re_laid_files_say_the_same_in_every_layout() {
    let options = Options::default();
    let layouts: [Edit<'_>; 5] = [
        &|source, out| edit::canonical(source, out, None, &options),
        &|source, out| edit::canonical(source, out, Some("1.0.7"), &options),
        &|source, out| edit::canonical(source, out, Some("document"), &options),
        &|source, out| edit::canonical_in(source, out, Some("document"), ByteOrder::Big, &options),
        &|source, out| edit::canonical_in(source, out, None, ByteOrder::Big, &options),
    ];
    for name in support::logs().into_iter().filter(|name| !name.contains("invalid/")) {
        let source = support::source(&name);
        let header = open(source.clone(), &options).unwrap().header().clone();
        let has_custom_levels =
            open(source.clone(), &options).unwrap().dictionary().is_some_and(|it| it.levels().count() > 0);
        for (index, layout) in layouts.iter().enumerate() {
            let is_document = matches!(index, 2 | 3);
            let mut out = Vec::new();
            layout(&source, &mut out).unwrap_or_else(|error| panic!("{name} {index}: {error}"));
            assert_eq!(errors(&out), Vec::<String>::new(), "{name} {index}");
            // The documented layout has no custom levels and no entries without a time; damage is kept as text.
            let damaged = ["head_crash_a.clog", "head_burst_1300.clog", "d2.clog"];
            let is_whole = !damaged.iter().any(|damaged| name.ends_with(damaged));
            if is_whole && !(is_document && (has_custom_levels || !header.has_timestamps)) {
                assert_eq!(lines(Source::bytes(out)), lines(source.clone()), "{name} {index}");
            }
        }
    }
}

#[test]
fn what_a_clean_writer_makes_stays_as_it_is() {
    // Written by the library at 1.0.7 and closed properly: nothing to change.
    for name in
        ["head_args16", "head_custom", "head_empty", "head_levels", "head_notime_types", "head_server", "head_types"]
    {
        let bytes = support::bytes(&format!("{name}.clog"));
        let mut out = Vec::new();
        let edited = edit::repair(&Source::bytes(bytes.clone()), &mut out, &Options::default()).unwrap();
        assert!(edited.loss.is_empty(), "{name}: {:?}", edited.loss);
        assert!(out == bytes, "{name}");
    }
}

#[test]
fn repaired_files_are_ones_that_the_original_opens() {
    for name in support::logs() {
        let mut out = Vec::new();
        if edit::repair(&support::source(&name), &mut out, &Options::default()).is_err() {
            continue;
        }
        let strict = support::read_all(Source::bytes(out.clone()), &Options::strict());
        let (_, findings) = strict.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(findings.is_empty(), "{name}: {findings:?}");
        // CNanoLog finds sites by index, reads only the counted entries, and never stops early.
        let mut reader = open(Source::bytes(out), &Options::default()).unwrap();
        let header = reader.header().clone();
        assert_eq!((header.order, header.has_swapped_magic()), (ByteOrder::Little, false), "{name}");
        let mut compat = text::Compat::new(&reader, None, text::utc);
        let mut printed = Vec::new();
        let mut entries = 0;
        while let Some(located) = reader.next().unwrap() {
            if let Record::Entry(_) = located.record {
                entries += 1;
                assert_eq!(compat.put(&located.record, &mut printed), text::Step::Continue, "{name}");
            }
        }
        assert_eq!(entries, header.entry_count, "{name}");
    }
}

#[test]
fn a_crashed_log_is_repaired_to_its_bytes() {
    let mut out = Vec::new();
    let edited = edit::repair(&support::source("head_crash_a.clog"), &mut out, &Options::default()).unwrap();
    let lost: Vec<_> = edited.loss.entries().map(|(what, count, _)| (what, count)).collect();
    assert_eq!(lost, [("types of unreadable arguments, kept as hexadecimal text", 180)]);
    let lines = lines(Source::bytes(out));
    assert_eq!(lines.len(), 180);
    assert!(lines[0].ends_with("[unknown:0] id 0 [unreadable arguments: 81000000000000000000]\n"), "{}", lines[0]);
}

fn slice_of(source: &Source, range: TimeRange) -> traceloom_core::Result<Vec<u8>> {
    let mut out = Vec::new();
    edit::slice(source, &mut out, &Slice { range, ..Slice::default() }, &Options::default())?;
    Ok(out)
}

#[test]
fn a_slice_keeps_its_entries_and_the_layout() {
    let sample = sample::sample().unwrap().bytes;
    let source = Source::bytes(sample.clone());
    let border = 30_000_000_000;
    let first = slice_of(&source, TimeRange::new(None, Some(border))).unwrap();
    let second = slice_of(&source, TimeRange::new(Some(border), None)).unwrap();
    for part in [&first, &second] {
        assert_eq!(errors(part), Vec::<String>::new());
    }
    let (first, second) = (lines(Source::bytes(first)), lines(Source::bytes(second)));
    assert!(!first.is_empty() && !second.is_empty());
    assert_eq!([first, second].concat(), lines(source.clone()));
    assert!(slice_of(&source, TimeRange::ALL).unwrap() == sample);
    let threads = Slice { threads: vec!["main".to_owned()], ..Slice::default() };
    let refused = edit::slice(&source, Vec::new(), &threads, &Options::default());
    assert!(refused.unwrap_err().to_string().contains("no threads"));
    let untimed = support::source("head_notime_types.clog");
    let refused = slice_of(&untimed, TimeRange::new(Some(0), None));
    assert!(refused.unwrap_err().to_string().contains("no timestamps"));
}

/// Ids, ticks and arguments of all entries, in file order.
fn entries(bytes: &[u8]) -> Vec<(u32, Option<u64>, Vec<u8>)> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut entries = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            entries.push((entry.id, entry.timestamp, entry.data.to_vec()));
        }
    }
    entries
}

/// Where to cut a log: the times of entries, and the nanoseconds around them, from the origin.
fn cuts(bytes: &[u8]) -> Vec<i64> {
    let header = open(Source::bytes(bytes), &Options::default()).unwrap().header().clone();
    let times: Vec<i64> =
        entries(bytes).iter().filter_map(|entry| Some(header.clock().since_start_ns(entry.1?))).collect();
    let origin = if header.start_timestamp == 0 { times.first().copied().unwrap_or(0) } else { 0 };
    let step = times.len().div_ceil(8).max(1);
    times
        .iter()
        .step_by(step)
        .flat_map(|ns| [-1, 0, 1].map(|by| ns.saturating_sub(origin).saturating_add(by)))
        .collect()
}

#[test]
fn adjacent_ranges_partition_the_entries() {
    let mut tried = 0;
    for name in support::logs() {
        let bytes = support::bytes(&name);
        let source = Source::bytes(bytes.clone());
        if open(source.clone(), &Options::default()).is_err() {
            continue;
        }
        let mut all = entries(&slice_of(&source, TimeRange::ALL).unwrap());
        all.sort();
        for cut in cuts(&bytes) {
            let left = entries(&slice_of(&source, TimeRange::new(None, Some(cut))).unwrap());
            let right = entries(&slice_of(&source, TimeRange::new(Some(cut), None)).unwrap());
            let mut both = [left, right].concat();
            both.sort();
            assert!(both == all, "{name} at {cut}");
            tried += 1;
        }
    }
    assert!(tried > 500, "{tried}");
}

/// If a log has no start, its first entry is the origin of its times.
#[test]
fn ranges_count_from_the_first_entry_if_there_is_no_start() {
    let mut bytes = sample::sample().unwrap().bytes;
    bytes[16..24].fill(0);
    let all = entries(&bytes);
    let source = Source::bytes(bytes);
    assert_eq!(entries(&slice_of(&source, TimeRange::between(0, 1)).unwrap()), all[..1]);
    assert_eq!(entries(&slice_of(&source, TimeRange::new(None, Some(0))).unwrap()), []);
    assert_eq!(entries(&slice_of(&source, TimeRange::new(Some(1), None)).unwrap()), all[1..]);
}

#[test]
fn an_empty_range_gives_an_empty_log() {
    for name in support::logs().into_iter().filter(|name| !name.contains("invalid/")) {
        let source = support::source(&name);
        let whole = open(source.clone(), &Options::default()).unwrap();
        for range in [TimeRange::between(5, 5), TimeRange::between(9, 3)] {
            let empty = slice_of(&source, range).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(entries(&empty), [], "{name}");
            let reader = open(Source::bytes(empty.clone()), &Options::default()).unwrap();
            let sites = |reader: &Reader| reader.dictionary().map(traceloom_cnanolog::Dictionary::len);
            assert_eq!(sites(&reader), sites(&whole), "{name}");
            assert_eq!(reader.header().entry_count, 0, "{name}");
            // A log that is accepted in strict mode is still accepted afterwards.
            let is_accepted = |source: Source| support::read_all(source, &Options::strict()).is_ok();
            assert!(is_accepted(Source::bytes(empty)) || !is_accepted(source.clone()), "{name}");
        }
    }
}

#[test]
fn merged_files_hold_the_entries_of_all() {
    let options = Options::default();
    let names =
        ["head_server.clog", "head_custom.clog", "old_8ba9c9f.clog", "seed_example_be.clog", "head_levels.clog"];
    let sources: Vec<Source> = names.iter().map(|name| support::source(name)).collect();
    let mut out = Vec::new();
    let edited = edit::merge(&sources, &mut out, &options).unwrap();
    assert!(edited.loss.is_empty(), "{:?}", edited.loss);
    assert_eq!(errors(&out), Vec::<String>::new());
    let mut expected: Vec<String> = sources.iter().flat_map(|source| lines(source.clone())).collect();
    let merged = lines(Source::bytes(out));
    let mut sorted = merged.clone();
    expected.sort();
    sorted.sort();
    assert_eq!(sorted, expected);
    // Each of these files is in time order, so the result is.
    assert!(merged.windows(2).all(|pair| pair[0][..31] <= pair[1][..31]));
}

#[test]
fn a_file_merged_with_itself_has_its_sites_once() {
    let options = Options::default();
    let sources = [support::source("head_server.clog"), support::source("head_server.clog")];
    let mut out = Vec::new();
    edit::merge(&sources, &mut out, &options).unwrap();
    let one = open(sources[0].clone(), &options).unwrap();
    let two = open(Source::bytes(out), &options).unwrap();
    assert_eq!(two.dictionary().unwrap().len(), one.dictionary().unwrap().len());
    assert_eq!(two.header().entry_count, 2 * one.header().entry_count);
    assert_eq!(two.header().timestamp_frequency, one.header().timestamp_frequency);
}
