//! Edits: the output is what was requested, and everything missing is reported.

mod support;

use support::{DAMAGED, PYNYTPROF, REAL, profiles, read};
use traceloom_core::{Edited, ErrorKind, Options, Records, Result, Slice, Source, TimeRange};
use traceloom_nytprof::{Record, aggregate, edit, open, pynytprof, sample};

fn edited(edit: impl FnOnce(&mut Vec<u8>) -> Result<Edited>) -> (Vec<u8>, Edited) {
    let mut out = Vec::new();
    let edited = edit(&mut out).unwrap();
    (out, edited)
}

/// The records, without the compression around them and the comments about it.
fn records(bytes: &[u8]) -> Vec<String> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut records = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        let skipped = match located.record {
            Record::StartDeflate(_) | Record::EndDeflate | Record::Residue(_) => true,
            Record::Comment(text) => text.starts_with(b"Compressed at level"),
            _ => false,
        };
        if !skipped {
            records.push(format!("{:?}", located.record.canonical()));
        }
    }
    records
}

#[test]
fn canonical_changes_the_layout_only() {
    for (name, bytes) in profiles(REAL).into_iter().filter(|(name, _)| !name.starts_with("killed")) {
        let source = Source::bytes(bytes.clone());
        for variant in [None, Some("plain"), Some("zlib"), Some("zlib0"), Some("zlib9")] {
            let (out, edited) = edited(|out| edit::canonical(&source, out, variant, &Options::strict()));
            assert!(edited.loss.is_empty(), "{name}: {:?}", edited.loss);
            assert_eq!(records(&out), records(&bytes), "{name} as {variant:?}");
            if variant == Some("plain") {
                assert!(!out.windows(2).any(|pair| pair == b"zx"), "{name} is compressed");
            }
        }
        assert!(edit::canonical(&source, Vec::new(), Some("zlib10"), &Options::default()).is_err());
    }
}

#[test]
fn what_is_repaired_passes_the_original_s_verdict() {
    for (name, bytes) in profiles(DAMAGED) {
        let source = Source::bytes(bytes);
        if open(source.clone(), &Options::default()).is_err() {
            continue;
        }
        let (out, _) = edited(|out| edit::repair(&source, out, &Options::default()));
        let mut reader = open(Source::bytes(out), &Options::strict()).unwrap();
        while let Some(located) = reader.next().unwrap_or_else(|error| panic!("{name}: {error}")) {
            assert!(!matches!(located.record, Record::Residue(_)), "{name}");
        }
    }
}

#[test]
fn a_merge_is_what_nytprofmerge_makes() {
    let parts: Vec<_> = (0..4).map(|part| Source::bytes(read(&format!("fork0-part{part}")))).collect();
    let (out, edited) = edited(|out| edit::merge(&parts, out, &Options::strict()));
    let lost: Vec<_> = edited.loss.entries().collect();
    assert_eq!(lost, [("options that differ between the profiles", 3, "forkdepth: -1, not -2")]);
    let golden = read("fork0-merged");
    assert_eq!(records(&out), records(&golden));
    assert_eq!(out, golden);
}

#[test]
fn a_merge_of_one_file_with_itself_doubles_the_figures() {
    for name in ["inventory-c6", "recurse-calls2", "excep-c0"] {
        let source = Source::bytes(read(name));
        let (out, _) = edited(|out| edit::merge(&[source.clone(), source.clone()], out, &Options::default()));
        let once = aggregate::load(source, &Options::default()).unwrap();
        let twice = aggregate::load(Source::bytes(out), &Options::strict()).unwrap();
        assert_eq!(twice.files.len(), once.files.len(), "{name}");
        assert_eq!(twice.stmts_measured, 2 * once.stmts_measured);
        assert_eq!(twice.sub_calls, 2 * once.sub_calls);
        assert_eq!(twice.subs.len(), once.subs.len());
        for (sub, twice) in &twice.subs {
            assert_eq!(twice.incl_seconds, 2.0 * once.subs[sub].incl_seconds, "{name}");
        }
    }
}

/// The head of a handmade profile, with one process.
const HEAD: &[u8] = b"NYTProf 5 0\n:nv_size=8\n:ticks_per_sec=10000000\nP\x07\x01\x00\x00\x20\x40\xfc\x54\xd9\x41";
const TAIL: &[u8] = b":cumulative_overhead_ticks=10\np\x07\x00\x00\x60\x40\xfc\x54\xd9\x41";

#[test]
fn a_merge_leaves_entries_of_calls_in_their_eval() {
    let made = [
        HEAD,
        b"@\x01\0\0\x02\0\0'\x05/t.pl@\x02\x01\x03\x02\0\0'\x01e",
        b">\x02\x01+\x05\x02\x01s\x02'\x07main::f\x01\x01",
        TAIL,
    ];
    let source = Source::bytes(made.concat());
    let (out, _) = edited(|out| edit::merge(&[source.clone(), source], out, &Options::default()));
    let mut reader = open(Source::bytes(out), &Options::strict()).unwrap();
    let (mut entries, mut statements) = (Vec::new(), Vec::new());
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            Record::SubEntry(entry) => entries.push(entry.caller_fid),
            Record::TimeLine(time) => statements.push(time.fid),
            _ => {}
        }
    }
    // The sub belongs to the first eval, and so do its statements; nytprofmerge does not do this for the calls out of
    // it.
    assert_eq!((entries, statements), (vec![2, 3], vec![2, 2]));
}

#[test]
fn a_repair_drops_what_lies_on_huge_lines_with_its_discount() {
    let made = [
        HEAD,
        b"@\x01\0\0\x02\0\0'\x05/t.pl+\x05\x01\x02-+\x05\x01\xff\xff\xff\xff\xff+\x07\x01\x03",
        b"S\x01\x02'\x02a\nS\x01\xff\xff\xff\xff\xff'\x02b\n",
        TAIL,
    ];
    let (out, edited) = edited(|out| edit::repair(&Source::bytes(made.concat()), out, &Options::default()));
    let lost: Vec<_> = edited.loss.entries().map(|(what, count, _)| (what, count)).collect();
    assert_eq!(lost, [("source on lines above 16777216", 1), ("statements on lines above 16777216", 1)]);
    let profile = aggregate::load(Source::bytes(out), &Options::strict()).unwrap();
    assert_eq!((profile.stmts_measured, profile.stmts_discounted), (2, 0));
    let counts: Vec<_> = profile.files[&1].lines.iter().map(|(line, sum)| (*line, sum.count)).collect();
    assert_eq!(counts, [(2, 1), (3, 1)]);
}

#[test]
fn slices_add_up_to_the_whole() {
    let source = Source::bytes(sample::sample().unwrap().bytes);
    let whole = aggregate::load(source.clone(), &Options::default()).unwrap();
    let middle = Some((whole.stmts_seconds * 5e8) as i64);
    let halves = [(None, middle), (middle, None)]
        .map(|(from, to)| Slice { range: TimeRange::new(from, to), ..Slice::default() });
    let halves = halves.map(|slice| {
        let (out, edited) = edited(|out| edit::slice(&source, out, &slice, &Options::default()));
        assert_eq!(edited.loss.entries().count(), 1, "sums over calls cannot be divided");
        aggregate::load(Source::bytes(out), &Options::strict()).unwrap()
    });
    assert!(halves.iter().all(|half| half.stmts_measured > 0));
    assert_eq!(halves.iter().map(|half| half.stmts_measured).sum::<u64>(), whole.stmts_measured);
    let (out, edited) = edited(|out| edit::slice(&source, out, &Slice::default(), &Options::default()));
    assert!(edited.loss.is_empty());
    assert_eq!(records(&out), records(&sample::sample().unwrap().bytes));

    let merged = Source::bytes(read("fork0-merged"));
    let mut reader = open(merged.clone(), &Options::default()).unwrap();
    let mut pid = 0;
    while let Some(located) = reader.next().unwrap() {
        if let Record::PidStart(start) = located.record {
            pid = start.pid;
        }
    }
    let slice = Slice { threads: vec![pid.to_string()], ..Slice::default() };
    let (out, _) = self::edited(|out| edit::slice(&merged, out, &slice, &Options::default()));
    assert!(records(&out).iter().filter(|record| record.starts_with("PidStart")).count() == 1);
}

/// Every profile, cut at the start of each statement and at a few other times.
#[test]
fn adjacent_ranges_share_no_statement_and_miss_none() {
    // Returns are added for frames that are open at the end of a range.
    let events = |bytes: &[u8]| {
        let is_event =
            |record: &&String| ["TimeLine", "TimeBlock", "SubEntry"].iter().any(|kind| record.starts_with(kind));
        records(bytes).iter().filter(is_event).cloned().collect::<Vec<_>>()
    };
    for name in
        ["inventory-c0", "inventory-blocks1", "recurse-calls2", "fork0-merged", "longstmt-wrap", "synth-boundaries"]
    {
        let bytes = read(name);
        let source = Source::bytes(bytes.clone());
        let cut = |range: TimeRange| {
            let slice = Slice { range, ..Slice::default() };
            edited(|out| edit::slice(&source, out, &slice, &Options::default())).0
        };
        for at in [i64::MIN, -1, 0, 1, 700, 3_000, 12_300, 400_000, 1_000_000_000, i64::MAX] {
            let (before, after) = (TimeRange::new(None, Some(at)), TimeRange::new(Some(at), None));
            let mut both: Vec<_> = [before, after].into_iter().flat_map(|range| events(&cut(range))).collect();
            let mut whole = events(&bytes);
            both.sort();
            whole.sort();
            assert!(both == whole, "{name} at {at}: {} events of {}", both.len(), whole.len());
        }
    }
}

/// Number of callers that never return, as nytprofcalls counts them: it dies if there are any.
fn open_callers(bytes: &[u8]) -> u32 {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let mut open = 0;
    while let Some(located) = reader.next().unwrap() {
        if let Record::SubReturn(left) = located.record {
            open = left.depth.max(open).max(1) - 1;
        }
    }
    open
}

#[test]
fn every_frame_of_a_slice_and_of_a_repair_ends() {
    let mut cut_frames = 0;
    for (name, bytes) in profiles(REAL) {
        let source = Source::bytes(bytes.as_slice());
        for at in [0, 700, 3_000, 12_300, 400_000, 2_000_000] {
            for range in [TimeRange::new(None, Some(at)), TimeRange::new(Some(at), None)] {
                let slice = Slice { range, ..Slice::default() };
                let (out, _) = edited(|out| edit::slice(&source, out, &slice, &Options::default()));
                assert_eq!(open_callers(&out), 0, "{name} {range:?}");
            }
        }
        let half = Source::bytes(&bytes[..bytes.len() / 2]);
        if open(half.clone(), &Options::default()).is_ok() {
            let (out, edited) = edited(|out| edit::repair(&half, out, &Options::default()));
            assert_eq!(open_callers(&out), 0, "{name}");
            cut_frames += edited.loss.entries().filter(|(what, ..)| what.contains("without a return")).count();
        }
    }
    assert!(cut_frames > 0, "no profile is cut inside a call");
}

/// A frame that is open at the end of a range gets its name from its later return.
#[test]
fn a_frame_that_a_slice_ends_has_its_name() {
    let source = Source::bytes(read("recurse-calls2"));
    let slice = Slice { range: TimeRange::new(None, Some(12_300)), ..Slice::default() };
    let (out, edited) = edited(|out| edit::slice(&source, out, &slice, &Options::default()));
    assert!(!edited.loss.entries().any(|(what, ..)| what.contains("frames")), "{:?}", edited.loss);
    let entries = |bytes: &[u8], kind: &str| records(bytes).iter().filter(|record| record.starts_with(kind)).count();
    assert!(entries(&out, "SubEntry") > 0);
    assert_eq!(entries(&out, "SubEntry"), entries(&out, "SubReturn"));
}

/// Returns from ever-changing depths cost no more than the size of the file.
#[test]
fn frames_that_returns_imply_stay_in_proportion_to_the_file() {
    let start = b"NYTProf 5 0\n:ticks_per_sec=10000000\n:nv_size=8\nP\x01\x01\0\0\x10\x40\xfc\x54\xd9\x41".to_vec();
    let left = |depth: u32| [&b"<\xff"[..], &depth.to_be_bytes(), &[0; 16], b"'\x01f"].concat();
    for count in [1000, 2000] {
        let returns = [left(60_000), left(1)].concat().repeat(count);
        let bytes = [&start[..], &returns].concat();
        let (out, _) = edited(|out| edit::repair(&Source::bytes(bytes.as_slice()), out, &Options::default()));
        assert!(out.len() < 50 * bytes.len(), "{} bytes of {}", out.len(), bytes.len());
        assert_eq!(open_callers(&out), 0);
    }
}

#[test]
fn a_slice_of_a_process_starts_without_the_discount_of_another() {
    let time = b"\0\0\x10\x40\xfc\x54\xd9\x41";
    let bytes = [
        &b"NYTProf 5 0\n:ticks_per_sec=10000000\n:nv_size=8\n"[..],
        &[&b"P\x07\x01"[..], time, b"@\x01\0\0\0\0\0'\x02/a+\x05\x01\x01-p\x07", time].concat(),
        &[&b"P\x08\x01"[..], time, b"+\x05\x01\x02-+\x05\x01\x03p\x08", time].concat(),
    ];
    let source = Source::bytes(bytes.concat());
    for (pid, expected) in [("7", ["TimeLine", "Discount"].as_slice()), ("8", &["TimeLine", "Discount", "TimeLine"])] {
        let slice = Slice { threads: vec![pid.to_owned()], ..Slice::default() };
        let (out, _) = edited(|out| edit::slice(&source, out, &slice, &Options::default()));
        let records = records(&out);
        let kinds = records.iter().filter_map(|record| record.split('(').next());
        let kinds: Vec<_> = kinds.filter(|kind| ["TimeLine", "Discount"].contains(kind)).collect();
        assert_eq!(kinds, expected, "process {pid}");
    }
}

#[test]
fn a_compressed_part_that_grows_too_much_is_not_read_to_its_end() {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut encoder, &vec![b'-'; 32 << 20]).unwrap();
    let bytes = [b"NYTProf 5 0\n:ticks_per_sec=10000000\n:nv_size=8\nz", &encoder.finish().unwrap()[..]].concat();
    let mut reader = open(Source::bytes(bytes.as_slice()), &Options::default()).unwrap();
    let mut read = 0;
    reader
        .walk(|_| {
            read += 1;
            Ok::<_, traceloom_core::Error>(())
        })
        .unwrap();
    assert!(read < 600 * bytes.len(), "{read} records of {} bytes", bytes.len());
    assert!(reader.findings().counts().contains_key("nytprof.zlib-damaged"), "{:?}", reader.findings().counts());
}

#[test]
fn an_edited_profile_is_not_taken_for_one_of_pynytprof() {
    let (_, bytes) = profiles(&["found"]).into_iter().find(|(name, _)| name == "looks-like-pynytprof").unwrap();
    let (source, options) = (Source::bytes(bytes), Options::default());
    let (repaired, _) = edited(|out| edit::repair(&source, out, &options));
    let mut reader = open(Source::bytes(repaired), &Options::strict()).unwrap();
    while reader.next().unwrap().is_some() {}
    let (canonical, _) = edited(|out| edit::canonical(&source, out, None, &options));
    let (merged, _) = edited(|out| edit::merge(&[source.clone(), source.clone()], out, &options));
    for (what, out) in [("canonical", canonical), ("merged", merged)] {
        open(Source::bytes(out), &options).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

#[test]
fn an_empty_range_gives_an_empty_profile() {
    for (name, bytes) in profiles(REAL).into_iter().filter(|(name, _)| !name.starts_with("killed")) {
        let source = Source::bytes(bytes);
        let whole = aggregate::load(source.clone(), &Options::default()).unwrap();
        let past = TimeRange::between(i64::MAX - 1, i64::MAX);
        for range in [TimeRange::between(0, 0), TimeRange::between(5_000, 5_000), TimeRange::between(9, 3), past] {
            let slice = Slice { range, ..Slice::default() };
            let (out, _) = edited(|out| edit::slice(&source, out, &slice, &Options::default()));
            let empty = aggregate::load(Source::bytes(out), &Options::strict()).unwrap();
            assert_eq!((empty.stmts_measured, empty.sub_calls), (0, 0), "{name} {range:?}");
            assert_eq!(empty.files.len(), whole.files.len(), "{name}");
            assert_eq!(empty.attributes, whole.attributes, "{name}");
        }
    }
}

#[test]
fn pynytprof_figures_survive_the_way_to_nytprof_and_back() {
    for (name, bytes) in profiles(PYNYTPROF) {
        let source = Source::bytes(bytes);
        for variant in [None, Some("zlib6")] {
            let (out, edited) = edited(|out| pynytprof::edit::to_nytprof(&source, out, variant, &Options::default()));
            let profile = aggregate::load(Source::bytes(out.clone()), &Options::strict()).unwrap();
            let too_large = edited.loss.entries().any(|(what, ..)| what.contains("too large"));
            let mut reader = pynytprof::open(source.clone(), &Options::default()).unwrap();
            let (mut calls, mut ticks, mut edges) = (0, 0u64, 0u64);
            while let Some(located) = reader.next().unwrap() {
                match located.record {
                    pynytprof::Record::Line(line) if !too_large => {
                        calls += i64::from(line.calls);
                        ticks += line.exc_ticks;
                    }
                    pynytprof::Record::Edge(edge) => edges += u64::from(edge.calls),
                    pynytprof::Record::SiteCalls(_) => edges += 1,
                    _ => {}
                }
            }
            assert_eq!(profile.files.values().map(|file| file.total().count).sum::<i64>(), calls, "{name}");
            assert_eq!((profile.stmts_seconds * 1e7).round() as u64, ticks, "{name}");
            assert_eq!(profile.sub_calls, edges, "{name}");
            assert_eq!(too_large, name == "seed-large");
            let (back, _) =
                self::edited(|back| edit::to_pynytprof(&Source::bytes(out), back, None, &Options::default()));
            let again = |bytes: Vec<u8>| {
                let (out, _) = self::edited(|out| {
                    pynytprof::edit::to_nytprof(&Source::bytes(bytes), out, None, &Options::default())
                });
                aggregate::load(Source::bytes(out), &Options::strict()).unwrap()
            };
            let again = again(back);
            let mut called = profile.subs.iter().filter(|(_, sub)| sub.calls > 0);
            let has = |name, calls| again.subs.get(name).is_some_and(|sub| sub.calls == calls);
            assert!(called.all(|(name, sub)| has(name, sub.calls)), "{name}");
        }
    }
}

/// Process numbers of four bytes in both dialects, equally likely in both.
#[test]
fn what_was_converted_is_not_taken_for_what_it_was() {
    let seed = read("seed-small");
    let at = seed.windows(5).position(|bytes| bytes == b"P\xe1\x10\0\0").unwrap();
    for pids in [[0x00ef_efef_u32, 0x00fe_fefe], [0x0020_0000, 0x0020_0001]] {
        let mut bytes = seed.clone();
        for (index, pid) in pids.iter().enumerate() {
            bytes[at + 1 + 4 * index..][..4].copy_from_slice(&pid.to_le_bytes());
        }
        for variant in ["plain", "zlib"] {
            let source = Source::bytes(bytes.clone());
            let (out, _) = edited(|out| pynytprof::edit::to_nytprof(&source, out, Some(variant), &Options::default()));
            let profile = aggregate::load(Source::bytes(out), &Options::strict()).unwrap();
            assert_eq!(profile.sub_calls, 7, "{pids:x?} {variant}");
        }
    }
}

#[test]
fn a_profile_in_the_document_s_layout_breaks_none_of_its_rules() {
    for (name, bytes) in profiles(REAL).into_iter().filter(|(name, _)| !name.starts_with("killed")) {
        let source = Source::bytes(bytes);
        for variant in [None, Some("zlib")] {
            let (out, _) = edited(|out| edit::to_pynytprof(&source, out, variant, &Options::strict()));
            let mut reader = pynytprof::open(Source::bytes(out.clone()), &Options::strict()).unwrap();
            while let Some(located) = reader.next().unwrap_or_else(|error| panic!("{name}: {error}")) {
                assert!(!matches!(located.record, pynytprof::Record::Residue(_) | pynytprof::Record::Payload(_)));
            }
            let profile = aggregate::load(source.clone(), &Options::default()).unwrap();
            let (real, _) =
                self::edited(|real| pynytprof::edit::to_nytprof(&Source::bytes(out), real, None, &Options::strict()));
            let back = aggregate::load(Source::bytes(real), &Options::strict()).unwrap();
            assert_eq!(back.sub_calls, profile.sub_calls, "{name}");
            assert!((back.stmts_seconds - profile.stmts_seconds).abs() < 1e-6 || name == "longstmt-wrap", "{name}");
        }
    }
}

#[test]
fn pynytprof_edits_write_the_document_s_layout() {
    for (name, bytes) in profiles(PYNYTPROF) {
        let source = Source::bytes(bytes);
        for variant in [None, Some("zlib1")] {
            let (out, _) = edited(|out| pynytprof::edit::canonical(&source, out, variant, &Options::default()));
            let mut reader = pynytprof::open(Source::bytes(out), &Options::strict()).unwrap();
            while reader.next().unwrap_or_else(|error| panic!("{name}: {error}")).is_some() {}
        }
        let (out, _) =
            edited(|out| pynytprof::edit::merge(&[source.clone(), source.clone()], out, &Options::default()));
        let sum = |source: Source| {
            let mut reader = pynytprof::open(source, &Options::default()).unwrap();
            let mut sum = 0u64;
            while let Some(located) = reader.next().unwrap() {
                if let pynytprof::Record::Line(line) = located.record {
                    sum += u64::from(line.calls);
                }
            }
            sum
        };
        if name != "seed-large" {
            assert_eq!(sum(Source::bytes(out)), 2 * sum(source), "{name}");
        }
    }
}

#[test]
fn sums_without_times_are_kept_whole_or_not_at_all() {
    let source = Source::bytes(read("seed-small"));
    let cut = |range: TimeRange, threads: &[&str]| {
        let threads = threads.iter().map(|thread| (*thread).to_owned()).collect();
        let mut out = Vec::new();
        pynytprof::edit::slice(&source, &mut out, &Slice { range, threads }, &Options::default()).map(|_| out)
    };
    let figures = |bytes: Vec<u8>| {
        let mut reader = pynytprof::open(Source::bytes(bytes), &Options::strict()).unwrap();
        let (mut figures, mut subs) = (0, 0);
        while let Some(located) = reader.next().unwrap() {
            figures += u32::from(matches!(located.record, pynytprof::Record::Line(_) | pynytprof::Record::Edge(_)));
            subs += u32::from(matches!(located.record, pynytprof::Record::Sub(_)));
        }
        (figures, subs)
    };
    assert_eq!(figures(cut(TimeRange::ALL, &[]).unwrap()), (5, 3));
    assert_eq!(figures(cut(TimeRange::ALL, &["4321"]).unwrap()), (5, 3));
    assert_eq!(figures(cut(TimeRange::ALL, &["4322"]).unwrap()), (0, 3));
    assert_eq!(figures(cut(TimeRange::between(7, 7), &[]).unwrap()), (0, 3));
    assert_eq!(figures(cut(TimeRange::between(7, 3), &["4321"]).unwrap()), (0, 3));
    for range in [TimeRange::new(None, Some(1)), TimeRange::new(Some(0), None), TimeRange::between(0, i64::MAX)] {
        let error = cut(range, &[]).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Unsupported(message) if message.contains("cannot be sliced")),
            "{error}"
        );
    }
}

#[test]
fn seed_files_are_already_canonical_but_for_the_order_of_their_attributes() {
    let bytes = read("seed-small");
    let (out, edited) =
        edited(|out| pynytprof::edit::canonical(&Source::bytes(bytes.clone()), out, None, &Options::strict()));
    assert!(edited.loss.is_empty());
    let binary = |bytes: &[u8]| bytes[bytes.windows(10).position(|line| line == b"\n!evals=0\n").unwrap()..].to_vec();
    assert_eq!(binary(&out), binary(&bytes));
    let mut lines =
        [&out, &bytes].map(|bytes| bytes.split(|byte| *byte == b'\n').take(26).map(<[u8]>::to_vec).collect::<Vec<_>>());
    lines.iter_mut().for_each(|lines| lines.sort());
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn the_sample_is_a_clean_profile() {
    let profile = sample::sample().unwrap().bytes;
    let loaded = aggregate::load(Source::bytes(profile.clone()), &Options::strict()).unwrap();
    let mut merged = loaded.clone();
    merged.merge_evals();
    assert_eq!((loaded.files.len(), merged.files.len()), (6, 3));
    let mut reader = open(Source::bytes(profile), &Options::strict()).unwrap();
    while reader.next().unwrap().is_some() {}
    assert!(reader.findings().kept().is_empty(), "{:?}", reader.findings().kept());
    let (again, _) =
        edited(|out| edit::canonical(&Source::bytes(sample::sample().unwrap().bytes), out, None, &Options::strict()));
    assert_eq!(aggregate::load(Source::bytes(again), &Options::strict()).unwrap(), loaded);
}
