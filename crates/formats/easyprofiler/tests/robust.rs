//! For any bytes: readers and edits do not panic, and damage costs no more than it touches.

mod support;

use support::{Made, accepted, fixtures, rewritten, write};
use traceloom_core::{ByteOrder, Codec, Options, Random, Records, Result, Slice, Source, TimeRange};
use traceloom_easyprofiler::{
    EasyProfiler, Header, Record, edit, findings, open,
    raw::{Layout, SizeRule},
    sample,
};

/// Everything that a user can do with a file; errors are fine, panics are not.
fn exercise(bytes: &[u8]) {
    let source = Source::bytes(bytes);
    let options = Options::default();
    if let Ok(again) = rewritten(bytes) {
        assert!(again == bytes);
    }
    let _ = EasyProfiler::check(&source, &Options::strict());
    let _ = EasyProfiler::info(&source, &options);
    let _ = edit::canonical(&source, Vec::new(), Some("1.2.0"), &options);
    let range = TimeRange::between(0, 1_000_000);
    let _ = edit::slice(&source, Vec::new(), &Slice { range, ..Slice::default() }, &options);
    let _ = edit::merge(&[source.clone(), source.clone()], Vec::new(), &options);
    let mut repaired = Vec::new();
    if edit::repair(&source, &mut repaired, &options).is_ok() {
        EasyProfiler::check(&Source::bytes(repaired), &Options::strict()).unwrap();
    }
}

#[test]
fn readers_and_edits_survive_every_prefix() {
    for (_, bytes) in fixtures() {
        for len in (0..bytes.len().min(2_048)).step_by(41) {
            exercise(&bytes[..len]);
        }
    }
}

#[test]
fn readers_and_edits_survive_changed_bytes() {
    for (_, mut bytes) in fixtures().into_iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let mut noise = Random(bytes.len() as u64);
        for round in 0..15 {
            // Damage to headers and descriptors has the worst effects.
            let near = [72, 400, bytes.len()][round % 3].min(bytes.len());
            let at = noise.index(near);
            let before = bytes[at];
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, noise.number() as u8][noise.index(6)];
            exercise(&bytes);
            bytes[at] = before;
        }
    }
}

#[test]
fn a_damaged_real_file_never_passes_for_one_of_the_document() {
    for (name, bytes) in accepted() {
        let mut noise = Random(bytes.len() as u64);
        for step in 0..400 {
            let mut damaged = bytes.clone();
            if step % 2 == 0 {
                damaged.truncate(8 + noise.index(bytes.len() - 8));
            } else {
                // The first eight bytes decide on the layouts to try.
                let at = 8 + noise.index(bytes.len() - 8);
                damaged[at] = noise.number() as u8;
            }
            let reader = open(Source::bytes(damaged), &Options::default()).unwrap();
            let header = reader.header();
            let mut real = Layout::real(header.version, ByteOrder::Little);
            if step % 2 == 1 {
                // One wrong SIZE is fixed by the NULs, and one wrong time can suggest the other order.
                real.switch = header.layout.switch;
                real.size = if header.layout.size == SizeRule::Unreliable { SizeRule::Unreliable } else { real.size };
            }
            assert_eq!(header.layout, real, "{name}: step {step}");
        }
    }
}

/// Offsets of all blocks and values, and the codes of the findings.
fn blocks(bytes: &[u8]) -> Result<(Vec<u64>, Vec<&'static str>)> {
    let mut reader = open(Source::bytes(bytes), &Options::default())?;
    let mut offsets = Vec::new();
    while let Some(located) = reader.next()? {
        if let Record::Block(_) | Record::Value(_) = located.record {
            offsets.push(located.offset);
        }
    }
    Ok((offsets, reader.findings().counts().keys().copied().collect()))
}

#[test]
fn a_damaged_range_costs_only_the_records_that_it_touches() -> Result<()> {
    let good = sample::sample()?.bytes;
    let (all, _) = blocks(&good)?;
    for damaged in [10..11, 10..12, 500..501, 1_000..1_400, 2_000..2_003, all.len() - 70..all.len() - 65] {
        let (from, to) = (all[damaged.start] as usize, all[damaged.end] as usize);
        for junk in [0x00, 0xff, 0x5a] {
            let mut bytes = good.clone();
            bytes[from..to].fill(junk);
            let (left, codes) = blocks(&bytes)?;
            assert!(codes.contains(&findings::RESYNCED.code), "{damaged:?} {junk:#x}: {codes:?}");
            let survivors = all.iter().filter(|offset| !(from..to).contains(&(**offset as usize)));
            assert!(survivors.eq(&left), "{damaged:?} {junk:#x}");

            let mut repaired = Vec::new();
            edit::repair(&Source::bytes(bytes), &mut repaired, &Options::default())?;
            let mut strict = open(Source::bytes(repaired), &Options::strict())?;
            while strict.next()?.is_some() {}
        }
    }
    Ok(())
}

#[test]
fn a_wrong_size_costs_at_most_its_neighbors() -> Result<()> {
    let good = sample::sample()?.bytes;
    let (all, _) = blocks(&good)?;
    for index in (5..all.len() - 5).step_by(97) {
        for size in [0u16, 1, 19, 29, 300, 65_535] {
            let mut bytes = good.clone();
            let at = all[index] as usize;
            if bytes[at..at + 2] == size.to_le_bytes() {
                continue;
            }
            bytes[at..at + 2].copy_from_slice(&size.to_le_bytes());
            let (left, codes) = blocks(&bytes)?;
            let lost = all.iter().filter(|offset| !left.contains(offset)).count();
            let swallowed = usize::from(size) / 23 + 3;
            assert!(lost <= if size == 65_535 { 3 } else { swallowed }, "{index} {size}: {lost} lost, {codes:?}");
        }
    }
    Ok(())
}

/// A capture of five threads and one with context switches, both recorded by the real library.
fn captures() -> [Vec<u8>; 2] {
    ["found/ez-zeroed-block.prof", "easy_profiler-2.1.0/v210_context_switches.prof"].map(|name| {
        let (_, bytes) = fixtures().into_iter().find(|(found, _)| found == name).unwrap();
        let mut whole = Vec::new();
        edit::repair(&Source::bytes(bytes), &mut whole, &Options::default()).unwrap();
        whole
    })
}

/// The start and end of each record of a thread.
type Times = Vec<(u64, u64)>;

/// The times of the switches, blocks and values of each thread; the offsets of all bytes of other records and of
/// switches, and whether they are before the threads.
fn parts(bytes: &[u8]) -> (Vec<Times>, Vec<(usize, bool)>) {
    let (mut threads, mut others) = (Vec::<Times>::new(), Vec::new());
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    while let Some(located) = reader.next().unwrap() {
        match (located.record, threads.last_mut()) {
            (Record::Thread(_), _) => threads.push(Vec::new()),
            (record, Some(thread)) => thread.extend(record.times()),
            _ => {}
        }
        if !matches!(located.record, Record::Block(_) | Record::Value(_)) {
            let offsets = (located.offset as usize..).take(located.len as usize);
            others.extend(offsets.map(|at| (at, threads.is_empty())));
        }
    }
    (threads, others)
}

/// Copies of a file in which ten bytes are missing, zeros or ones.
fn damaged_at(good: &[u8], at: usize) -> [Vec<u8>; 3] {
    let [mut missing, mut zeros, mut ones] = [(); 3].map(|()| good.to_vec());
    missing.drain(at..at + 10);
    zeros[at..at + 10].fill(0);
    ones[at..at + 10].fill(0xff);
    [missing, zeros, ones]
}

/// Damage to descriptors, thread heads and switches costs what it touches, and at most the thread whose head is gone.
#[test]
fn reading_goes_on_after_damage_anywhere() {
    for good in captures() {
        let (threads, others) = parts(&good);
        let longest = threads.iter().map(Vec::len).max().unwrap();
        let (mut tried, mut costly) = (0, 0);
        for (at, is_descriptor) in others.into_iter().step_by(3).filter(|(at, _)| at + 10 < good.len()) {
            for bad in damaged_at(&good, at) {
                let (left, _) = parts(&bad);
                let kept =
                    |thread: &Times| left.iter().map(|one| thread.iter().filter(|it| one.contains(it)).count()).max();
                let lost: usize = threads.iter().map(|thread| thread.len() - kept(thread).unwrap_or(0)).sum();
                assert!(lost <= longest, "{lost} are lost by damage at {at}");
                if is_descriptor {
                    tried += 1;
                    costly += usize::from(lost > 0);
                }
            }
        }
        assert!(tried > 100 && costly * 50 <= tried, "{costly} of {tried}");
    }
}

/// The number of descriptors is not believed if they are damaged.
#[test]
fn descriptors_that_nobody_wrote_do_not_make_a_small_file_large() {
    let mut made = Made::new(1_000);
    made.thread(3, &[], &[(1_010, 1_020); 20]);
    let good = made.bytes();
    made.header.descriptors_count = u32::MAX;
    let mut bytes =
        write(&Header { descriptors_memory_size: 100, memory_size: 1_000, ..made.header.clone() }, &made.all());
    let (all, _) = blocks(&good).unwrap();
    bytes[all[0] as usize - 40..all[0] as usize - 30].fill(0xff);
    let mut canonical = Vec::new();
    edit::canonical(&Source::bytes(bytes.clone()), &mut canonical, None, &Options::default()).unwrap();
    assert!(canonical.len() < 10_000, "{} bytes of {}", canonical.len(), bytes.len());
}
