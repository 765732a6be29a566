//! Edits keep what can be kept: whole blocks, distinct threads, and every point in time in exactly one of two adjacent
//! ranges.

mod support;

use std::collections::BTreeMap;

use support::{BLOCK, EVENT, Made, VALUE, accepted, codes, fixtures, is_accepted, shown};
use traceloom_core::{Amount, ByteOrder, Codec, Edited, Options, Records, Result, Slice, Source, TimeRange};
use traceloom_easyprofiler::{
    Block, Descriptor, EasyProfiler, Record, Value, edit, open,
    raw::{BlockType, DataType, Layout, Version, Width},
    sample,
};

/// The output of an edit that succeeds.
fn edited(edit: impl FnOnce(&mut Vec<u8>) -> Result<Edited>) -> (Vec<u8>, Edited) {
    let mut out = Vec::new();
    let edited = edit(&mut out).unwrap();
    (out, edited)
}

fn slice_of(source: &Source, range: TimeRange) -> Vec<u8> {
    edited(|out| edit::slice(source, out, &Slice { range, ..Slice::default() }, &Options::default())).0
}

/// Start and end.
type Times = (u64, u64);

/// Start and end of every block and switch as in the tables, and the ids of all threads and targets.
fn told(bytes: Vec<u8>) -> Result<(Vec<Times>, Vec<u64>)> {
    let mut reader = open(Source::bytes(bytes), &Options::strict())?;
    let clock = reader.clock();
    let (mut times, mut ids) = (Vec::new(), Vec::new());
    while let Some(located) = reader.next()? {
        match located.record {
            Record::Thread(thread) => ids.push(thread.id),
            Record::Switch(switch) => {
                ids.push(switch.target);
                times.push(clock.span(switch.begin, switch.end));
            }
            Record::Block(block) => times.push(clock.span(block.begin, block.end)),
            _ => {}
        }
    }
    Ok((times, ids))
}

/// If the start is after the records, easy_profiler drops them; if it is only slightly late, it cuts them.
#[test]
fn a_late_begin_costs_nothing() -> Result<()> {
    let mut made = Made::new(5_000);
    made.thread(3, &[(1_010, 1_050, 4)], &[(1_010, 1_040), (1_005, 1_100), (1_200, 1_300)]);
    let mut out = Vec::new();
    let edited = edit::repair(&made.source(), &mut out, &Options::default())?;
    assert!(edited.loss.is_empty(), "{:?}", edited.loss);
    let (times, _) = told(out)?;
    assert_eq!(times, [(1_010, 1_050), (1_010, 1_040), (1_005, 1_100), (1_200, 1_300)]);
    Ok(())
}

/// Captures over the network do not store their start; their records show it.
#[test]
fn live_captures_are_merged_by_time() -> Result<()> {
    let capture = |blocks: &[(u64, u64)]| {
        let mut made = Made::new(0);
        made.thread(3, &[], blocks);
        made.source()
    };
    let (early, late) = (capture(&[(100, 150), (90, 200)]), capture(&[(1_000, 1_100)]));
    for files in [[early.clone(), late.clone()], [late, early]] {
        let mut out = Vec::new();
        edit::merge(&files, &mut out, &Options::default())?;
        let (times, _) = told(out)?;
        assert_eq!(times, [(100, 150), (90, 200), (1_000, 1_100)], "else the later would be a child of the earlier");
    }
    Ok(())
}

/// Ids are narrower in older versions; a generated one must not be that of another thread.
#[test]
fn narrow_ids_keep_threads_apart() -> Result<()> {
    let wide = 1 << 40;
    let mut made = Made::new(10);
    made.thread(u32::MAX.into(), &[(11, 12, wide), (13, 14, u64::from(u32::MAX) - 1)], &[(20, 30)]);
    made.thread(wide, &[], &[(25, 40)]);
    let mut out = Vec::new();
    edit::canonical(&made.source(), &mut out, Some("1.2.0"), &Options::default())?;
    let (_, ids) = told(out)?;
    let [first, target, other, second] = ids[..] else { panic!("{ids:?}") };
    assert_eq!((first, other), (u32::MAX.into(), u64::from(u32::MAX) - 1), "what fits stays");
    assert_eq!(target, second, "a switch still leads to its thread");
    assert!(![first, other].contains(&second), "{ids:?}");
    Ok(())
}

/// The points in time of a file, each with its count: events, values and bookmarks.
fn moments(bytes: &[u8]) -> BTreeMap<String, u32> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut moments = BTreeMap::new();
    while let Some(located) = reader.next().unwrap() {
        let is_moment = match located.record {
            Record::Block(block) => block.begin == block.end,
            Record::Value(_) | Record::Bookmark(_) => true,
            _ => false,
        };
        if is_moment {
            *moments.entry(format!("{:?}", located.record)).or_default() += 1;
        }
    }
    moments
}

/// The blocks of a file with a duration, in file order.
fn spans(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut spans = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Block(block) = located.record
            && block.begin != block.end
        {
            spans.push((block.begin, block.end));
        }
    }
    spans
}

/// Where to cut a file: its points in time, their neighbors, and its ends, from the origin.
fn cuts(bytes: &[u8]) -> Vec<i64> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let clock = reader.clock();
    let mut times = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        times.extend(located.record.times().map(|(begin, end)| [clock.ns(begin), clock.ns(end)]).into_iter().flatten());
        if let Record::Bookmark(bookmark) = located.record {
            times.push(bookmark.position_ns);
        }
    }
    let origin = if reader.header().begin_time == 0 { times.first().copied().unwrap_or(0) } else { clock.begin_ns() };
    let step = times.len().div_ceil(8).max(1);
    let cuts = times.iter().step_by(step).flat_map(|ns| [-1, 0, 1].map(|by| (ns.wrapping_sub(origin) as i64) + by));
    cuts.collect()
}

#[test]
fn adjacent_ranges_partition_the_moments_and_share_the_spans() {
    let files = fixtures().into_iter().chain([("sample".to_owned(), sample::sample().unwrap().bytes)]);
    let mut tried = 0;
    for (name, bytes) in files {
        let source = Source::bytes(bytes.clone());
        if open(source.clone(), &Options::default()).is_err() {
            continue;
        }
        // Edits clean the records, so the comparison is with the whole range.
        let whole = slice_of(&source, TimeRange::ALL);
        for cut in cuts(&bytes) {
            let left = slice_of(&source, TimeRange::new(None, Some(cut)));
            let right = slice_of(&source, TimeRange::new(Some(cut), None));
            let mut both = moments(&left);
            moments(&right).into_iter().for_each(|(moment, count)| *both.entry(moment).or_default() += count);
            assert_eq!(both, moments(&whole), "{name} at {cut}");
            let (left, right) = (spans(&left), spans(&right));
            for span in spans(&whole) {
                assert!(left.contains(&span) || right.contains(&span), "{name} at {cut}: {span:?} is lost");
            }
            tried += 1;
        }
    }
    assert!(tried > 1_000, "{tried}");
}

/// easy_profiler refuses every empty profile, and so does strict reading; everything else about it is right.
#[test]
fn an_empty_range_gives_an_empty_file() {
    for (name, bytes) in accepted() {
        let source = Source::bytes(bytes.clone());
        for range in [TimeRange::between(5, 5), TimeRange::between(i64::MAX - 1, i64::MAX), TimeRange::between(9, 3)] {
            let empty = slice_of(&source, range);
            let records = shown(&empty, &Options::default()).unwrap();
            let descriptors = records.iter().filter(|record| record.contains("Descriptor") || record.ends_with("Hole"));
            assert_eq!(records.len() - descriptors.count(), records.iter().filter(|it| it.contains("Mark(")).count());
            let mut expected = vec!["easyprofiler.empty-profile"];
            let has_threads = open(Source::bytes(empty.clone()), &Options::default()).unwrap().header().threads_count;
            expected.extend(has_threads.map(|_| "easyprofiler.no-threads"));
            let found: Vec<_> = codes(&empty).into_iter().filter(|code| !code.contains("descriptor")).collect();
            assert_eq!(found, expected, "{name}");
            assert!(support::rewritten(&empty).unwrap() == empty, "{name}");
        }
    }
}

#[test]
fn a_slice_keeps_what_overlaps_it() {
    let mut made = Made::new(1_000);
    let event = |at| Record::Block(Block { block_type: BlockType::EVENT, ..Block::new(EVENT, at, at) });
    let value = |at| Record::Value(Value::new(VALUE, at, DataType::UINT8, &[7]));
    let block = |begin, end| Record::Block(Block::new(BLOCK, begin, end));
    let records = [block(1_010, 1_020), event(1_020), value(1_030), block(1_025, 1_040), block(1_000, 1_050)];
    made.thread_of(3, &[(1_005, 1_020, 4), (1_019, 1_030, 4), (1_030, 1_035, 4)], &records);
    made.thread(4, &[], &[(1_060, 1_070)]);
    made.bookmark(1_020);
    made.bookmark(1_030);
    let out = slice_of(&made.source(), TimeRange::between(20, 30));
    assert!(is_accepted(&out));
    let (times, ids) = told(out.clone()).unwrap();
    // The second switch, the event, and the blocks that extend into the range; nothing starts before it.
    assert_eq!(times, [(1_020, 1_030), (1_020, 1_020), (1_025, 1_040), (1_020, 1_050)]);
    assert_eq!(ids, [3, 4]);
    assert_eq!(moments(&out).len(), 2, "the event and one bookmark");
    let reader = open(Source::bytes(out), &Options::default()).unwrap();
    assert_eq!((reader.header().begin_time, reader.header().end_time), (1_020, 1_030));
}

#[test]
fn a_slice_by_threads_keeps_their_sections() {
    let source = Source::bytes(sample::sample().unwrap().bytes);
    for threads in [vec!["Loader".to_owned()], vec!["4243".to_owned()]] {
        let slice = Slice { threads, ..Slice::default() };
        let (out, _) = edited(|out| edit::slice(&source, out, &slice, &Options::default()));
        assert!(is_accepted(&out));
        let sections = shown(&out, &Options::default()).unwrap();
        assert_eq!(sections.iter().filter(|record| record.contains("Thread(")).count(), 1);
    }
}

/// Blocks that end before they start come from processors whose clocks disagree.
#[test]
fn a_block_that_ends_before_it_begins_is_in_a_slice() {
    let mut made = Made::new(1_000);
    made.thread(3, &[], &[(1_050, 1_030), (1_010, 1_100)]);
    let (left, right) = (TimeRange::new(None, Some(40)), TimeRange::new(Some(40), None));
    let found = [left, right].map(|range| spans(&slice_of(&made.source(), range)).contains(&(1_050, 1_030)));
    assert_eq!(found, [false, true]);
}

#[test]
fn repaired_files_are_ones_that_easy_profiler_opens() {
    let mut repaired = 0;
    for (name, bytes) in fixtures() {
        let mut out = Vec::new();
        if edit::repair(&Source::bytes(bytes.clone()), &mut out, &Options::default()).is_err() {
            continue;
        }
        assert!(is_accepted(&out), "{name}");
        repaired += usize::from(!is_accepted(&bytes));
    }
    assert!(repaired > 20, "{repaired}");
}

#[test]
fn canonical_files_of_every_version_are_accepted() {
    for (name, bytes) in accepted() {
        let source = Source::bytes(bytes);
        for variant in EasyProfiler::FORMAT.variants {
            let (out, _) = edited(|out| edit::canonical(&source, out, Some(variant.id), &Options::default()));
            let header = open(Source::bytes(out.clone()), &Options::default()).unwrap().header().clone();
            assert_eq!(header.version, Version::parse(variant.id).unwrap(), "{name}");
            assert!(is_accepted(&out), "{name} as {}: {:?}", variant.id, codes(&out));
            let (again, second) =
                edited(|again| edit::canonical(&Source::bytes(out.clone()), again, None, &Options::default()));
            assert!(again == out && second.loss.is_empty(), "{name}: once is enough");
        }
    }
    let unknown = edit::canonical(&Made::new(1).source(), Vec::new(), Some("banana"), &Options::default());
    assert!(unknown.unwrap_err().to_string().contains("2.1.0, 2.0.0, 1.3.0"));
}

#[test]
fn merged_files_hold_the_blocks_of_all() {
    let mut one = Made::new(1_000);
    one.thread(3, &[], &[(1_010, 1_020)]);
    one.bookmark(1_015);
    let mut two = Made::new(2_000);
    two.records.insert(0, Record::Descriptor(Descriptor::new(9, BlockType::BLOCK, b"other")));
    two.thread_of(3, &[], &[Record::Block(Block::new(0, 2_010, 2_020)), Record::Block(Block::new(1, 2_000, 2_030))]);
    let sources = [two.source(), one.source()];
    let (out, merged) = edited(|out| edit::merge(&sources, out, &Options::default()));
    assert!(merged.loss.is_empty() && is_accepted(&out), "{:?}", merged.loss);
    let (times, ids) = told(out.clone()).unwrap();
    assert_eq!(times, [(1_010, 1_020), (2_010, 2_020), (2_000, 2_030)]);
    assert_eq!(ids, [3, 3]);
    let records = shown(&out, &Options::default()).unwrap();
    assert_eq!(records.iter().filter(|record| record.contains("Descriptor(")).count(), 4, "equal ones become one");
    assert_eq!(moments(&out).len(), 1);
    assert!(edit::merge(&[], Vec::new(), &Options::default()).unwrap_err().to_string().contains("nothing to merge"));
}

fn found(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/easyprofiler/found");
    std::fs::read(folder.join(name)).unwrap()
}

fn repaired(bytes: Vec<u8>) -> (Vec<u8>, Edited) {
    edited(|out| edit::repair(&Source::bytes(bytes), out, &Options::default()))
}

/// Numbers of switches, blocks and values, and of threads, of a file that easy_profiler accepts.
fn contents(bytes: Vec<u8>) -> (usize, usize) {
    let (mut timed, mut threads) = (0, 0);
    let mut reader = open(Source::bytes(bytes), &Options::strict()).unwrap();
    while let Some(located) = reader.next().unwrap() {
        timed += usize::from(located.record.times().is_some());
        threads += usize::from(matches!(located.record, Record::Thread(_)));
    }
    (timed, threads)
}

#[test]
fn a_value_too_short_for_its_data_is_not_kept() {
    let (out, edited) = repaired(found("ez-value-short.prof"));
    assert_eq!(contents(out), (2, 1));
    assert!(edited.loss.entries().any(|(what, count, _)| what.contains("values too short") && count == 1));
    // The same for a value that itself says that it has too few bytes.
    let mut made = Made::new(1_000);
    let records = [(DataType::INT64, &[7u8; 2][..]), (DataType::INT64, &[7; 8]), (DataType::STRING, b"text\0")];
    made.thread_of(3, &[], &records.map(|(kind, data)| Record::Value(Value::new(VALUE, 1_010, kind, data))));
    assert!(codes(&made.bytes()).contains(&"easyprofiler.value-width"), "{:?}", codes(&made.bytes()));
    assert_eq!(contents(repaired(made.bytes()).0), (2, 1));
}

/// The data of the values of a file that easy_profiler accepts.
fn values(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let mut values = Vec::new();
    let mut reader = open(Source::bytes(bytes), &Options::strict()).unwrap();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Value(value) = located.record {
            assert!(value.surplus.is_empty() && value.odd_data_size.is_none());
            values.push(value.data.to_vec());
        }
    }
    values
}

/// easy_profiler shows a text up to its NUL, even if that is not in its record.
#[test]
fn a_text_without_a_nul_gets_one() {
    static LONGEST: [u8; 65_535 - 34] = [b'x'; 65_535 - 34];
    let string = |data: &'static [u8], is_array| Value { is_array, ..Value::new(VALUE, 1_010, DataType::STRING, data) };
    let others = [(DataType::CHAR, &b"text"[..]), (DataType::INT32, b"")]
        .map(|(data_type, data)| Value { data_type, ..string(data, 1) });
    let strings = [
        string(b"text", 1),
        string(b"text\0", 1),
        string(b"te\0xt", 1),
        string(b"", 1),
        string(b"", 0),
        string(&LONGEST, 1),
    ];
    let records: Vec<_> = strings.into_iter().chain(others).map(Record::Value).collect();
    let mut made = Made::new(1_000);
    made.thread_of(3, &[], &records);
    let (out, edited) = repaired(made.bytes());
    let cut = [&LONGEST[1..], b"\0"].concat();
    let expected: [&[u8]; 8] = [b"text\0", b"text\0", b"te\0xt", b"\0", b"\0", &cut, b"text", b""];
    assert_eq!(values(out.clone()), expected);
    let lost: Vec<_> = edited.loss.entries().map(|(what, count, _)| (what, count)).collect();
    assert_eq!(lost, [("ends of strings that fill their record without a NUL", 1)]);
    let (again, edited) = repaired(out.clone());
    assert!(again == out && edited.loss.is_empty(), "once is enough");
}

#[test]
fn bytes_missing_in_the_descriptors_cost_one_descriptor() {
    let (out, edited) = repaired(found("ez-hole-in-descriptors.prof"));
    assert_eq!(contents(out), (1386, 5));
    assert!(edited.findings.counts().contains_key("easyprofiler.resynced"), "{:?}", edited.findings.counts());
}

/// A lost byte is also noticed if the zeros after the descriptors can be read as a thread.
#[test]
fn a_byte_missing_in_a_small_file_costs_one_descriptor() {
    let name = "document/real_210.prof";
    let (_, whole) = fixtures().into_iter().find(|(found, _)| found == name).unwrap();
    let all = contents(whole.clone());
    for at in 74..100 {
        let mut bytes = whole.clone();
        bytes.remove(at);
        assert_eq!(contents(repaired(bytes).0), all, "byte {at}");
    }
}

#[test]
fn a_block_that_was_never_written_does_not_stretch_the_capture() {
    let (out, edited) = repaired(found("ez-zeroed-block.prof"));
    assert!(edited.loss.entries().any(|(what, count, _)| what.contains("plausible") && count == 1));
    let header = open(Source::bytes(out.clone()), &Options::strict()).unwrap().header().clone();
    assert_eq!(header.begin_time, 6_314_971_265_058);
    assert_eq!(contents(out), (1385, 5));
    // Not 40 minutes: the start of the computer is not that of the capture, whether or not the file is repaired.
    let (info, _) = EasyProfiler::info(&Source::bytes(found("ez-zeroed-block.prof")), &Options::default()).unwrap();
    let recorded = info.facts.iter().find(|fact| fact.name == "recorded").unwrap();
    assert!(matches!(recorded.amount, Amount::Nanoseconds(20_000_000..30_000_000)), "{recorded:?}");
}

#[test]
fn a_wrong_start_of_the_capture_is_repaired_once() {
    // The start is far behind all records, so most of them are implausible, and so is one record in any case.
    let mut made = Made::new(1 << 60);
    made.header.end_time = 2_000;
    made.thread(3, &[(1_001, 1_004, 9), (3_000_000_000_000, 3_000_000_000_001, 9)], &[(1_010, 1_020), (1_030, 1_040)]);
    let (once, _) = repaired(made.bytes());
    let (again, edited) = repaired(once.clone());
    assert_eq!(edited.loss.entries().count(), 0);
    assert!(again == once, "repairing it again changes it");
}

#[test]
fn ids_too_wide_for_the_version_are_replaced_by_a_repair() {
    let version = Version::new(1, 2, 0);
    let layout = Layout { thread_id: Width::U64, ..Layout::real(version, ByteOrder::Little) };
    let mut made = Made::of(layout, version, 1_000);
    made.thread(7, &[(1_001, 1_004, 1 << 40)], &[(1_010, 1_020)]);
    made.thread(1 << 40, &[], &[(1_030, 1_040)]);
    let (out, edited) = repaired(made.bytes());
    assert!(edited.loss.entries().any(|(what, count, _)| what.contains("64 bits") && count == 1));
    assert_eq!(contents(out), (3, 2));
}
