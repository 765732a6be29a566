//! Damaged logs of 1.2 and 1.3: the blocks after the damage are found, and the loss is reported.

mod support;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use traceloom_cnanolog::{
    Arg, CNanoLog, Entry, Header, Record, Section, Site, create, edit, open, put_packed,
    raw::{
        ArgType, BLOCK_HEADER_BYTES, CNANOLOG_BLOCK_MAGIC, CNANOLOG_DICT_MAGIC, HEADER_BYTES, MAX_BLOCK_BYTES,
        SITE_FIXED, SLOTS_LIBRARY, header_offset,
    },
    sample,
};
use traceloom_core::{ByteOrder, Codec, Edited, Finding, Options, Records, Severity, Source};

const START: u64 = 1_000_000;
const BLOCKS: u64 = 4;
const ENTRIES_PER_BLOCK: u64 = 5;

fn headers() -> [Header; 3] {
    let new = |change: fn(&mut Header)| {
        let mut header =
            Header { start_timestamp: START, start_time_sec: 1_700_000_000, ..Header::new(ByteOrder::Little) };
        change(&mut header);
        header
    };
    [
        new(Header::set_compressed),
        new(Header::set_checksums),
        new(|header| {
            header.set_compressed();
            header.set_checksums();
        }),
    ]
}

/// A log of a few blocks of entries and one with the dictionary; entries count up from [`START`].
fn log(header: &Header, text: &[u8]) -> Vec<u8> {
    let mut types = [0; SLOTS_LIBRARY];
    types[..2].copy_from_slice(&[ArgType::INT32.0, ArgType::STRING.0]);
    let site =
        Site { id: 0, level: 0, num_args: 2, line: 7, arg_types: &types, file: b"a.c", format: b"number %d is %s" };
    let total_size = (16 + SITE_FIXED + SLOTS_LIBRARY + site.file.len() + site.format.len()) as u32;
    let section = Section { magic: CNANOLOG_DICT_MAGIC, count: 1, total_size, reserved: 0 };
    let mut data = Vec::new();
    put_packed([Arg::Int32(12_345), Arg::String(text)].into_iter(), &mut data);
    let mut header = header.clone();
    header.entry_count = (BLOCKS * ENTRIES_PER_BLOCK) as u32;
    header.dictionary_offset = HEADER_BYTES as u64 + BLOCKS * ENTRIES_PER_BLOCK * (14 + data.len() as u64);
    let mut writer = create(Vec::new(), &header).unwrap();
    for number in 0..BLOCKS * ENTRIES_PER_BLOCK {
        writer.write(&Record::Entry(Entry::new(0, Some(START + number), &data))).unwrap();
        if number % ENTRIES_PER_BLOCK == ENTRIES_PER_BLOCK - 1 {
            writer.flush().unwrap();
        }
    }
    writer.write(&Record::Dictionary(section)).unwrap();
    writer.write(&Record::Site(site)).unwrap();
    writer.finish().unwrap()
}

/// The byte range of every block in the file.
fn blocks(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut at = HEADER_BYTES;
    let mut blocks = Vec::new();
    while at < bytes.len() {
        let stored = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        blocks.push((at, at + BLOCK_HEADER_BYTES + stored));
        at += BLOCK_HEADER_BYTES + stored;
    }
    blocks
}

/// The result of reading a file.
struct Read {
    /// Numbers of the entries, and whether their arguments are known.
    all: BTreeSet<u64>,
    known: BTreeSet<u64>,
    findings: Vec<Finding>,
}

impl Read {
    fn of(bytes: &[u8]) -> Self {
        let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
        let (mut all, mut known) = (BTreeSet::new(), BTreeSet::new());
        while let Some(located) = reader.next().unwrap() {
            if let Record::Entry(entry) = located.record
                && let Some(number) = entry.timestamp.and_then(|ticks| ticks.checked_sub(START))
            {
                all.insert(number);
                known.extend(entry.args().map(|_| number));
            }
        }
        Self { all, known, findings: reader.findings().kept().to_vec() }
    }

    fn findings_of(&self, code: &str) -> Vec<&Finding> {
        self.findings.iter().filter(|finding| finding.rule.code == code).collect()
    }
}

fn entries_of(block: usize) -> std::ops::Range<u64> {
    let block = block as u64;
    if block < BLOCKS { block * ENTRIES_PER_BLOCK..(block + 1) * ENTRIES_PER_BLOCK } else { 0..0 }
}

/// Copying keeps every byte, and a repaired log has no problems.
fn edits_are_fine(bytes: &[u8]) -> Edited {
    let source = Source::bytes(bytes);
    let mut copy = Vec::new();
    CNanoLog::rewrite(&source, &mut copy, &Options::default()).unwrap();
    assert!(copy == bytes, "a copy keeps the damage");
    let mut repaired = Vec::new();
    let edited = edit::repair(&source, &mut repaired, &Options::default()).unwrap();
    let (_, findings) = support::read_all(Source::bytes(repaired), &Options::default()).unwrap();
    assert!(findings.iter().all(|finding| finding.rule.severity < Severity::Error), "{findings:?}");
    edited
}

fn lost(edited: &Edited) -> u64 {
    edited.loss.entries().filter(|(what, ..)| *what == "bytes of damaged blocks").map(|(_, bytes, _)| bytes).sum()
}

#[test]
fn a_changed_byte_costs_no_other_block() {
    for header in headers() {
        let good = log(&header, b"what it is, what it is, what it is");
        let all: BTreeSet<u64> = (0..BLOCKS * ENTRIES_PER_BLOCK).collect();
        assert_eq!(Read::of(&good).known, all);
        for at in 0..good.len() {
            for mask in [0x01, 0x80] {
                let mut bad = good.clone();
                bad[at] ^= mask;
                let read = Read::of(&bad);
                let place = format!("byte {at} of {:?}, mask {mask:#x}: {:?}", header.flags, read.findings);
                let Some((index, (start, _))) =
                    blocks(&good).into_iter().enumerate().find(|(_, (start, end))| (start..end).contains(&&at))
                else {
                    assert!(read.all.is_superset(&all), "{place}");
                    continue;
                };
                let is_dictionary = index as u64 == BLOCKS;
                if is_dictionary && !header.has_checksums() {
                    continue;
                }
                let kept = if is_dictionary { &read.all } else { &read.known };
                let others = all.iter().filter(|number| !entries_of(index).contains(number));
                assert!(others.into_iter().all(|number| kept.contains(number)), "{place}");
                let has_position = |finding: &Finding| finding.position.offset == start as u64;
                let is_reported =
                    read.findings.iter().any(|one| one.rule.code.starts_with("cnanolog.block-") && has_position(one));
                // Without checksums, LZ4 may decode to something else; some of its bytes change nothing.
                assert!(is_reported || !header.has_checksums() || read.known == all, "{place}");
                // Magic and stored_size follow from the rest.
                if matches!(at - start, 0..4 | 8..12) {
                    assert_eq!(read.known, all, "{place}");
                    assert_eq!(read.findings_of("cnanolog.block-head").len(), 1, "{place}");
                    assert_eq!(lost(&edits_are_fine(&bad)), 0);
                }
            }
            let mut bad = good.clone();
            bad[at] ^= 0x20;
            if at >= HEADER_BYTES && at % 3 == 0 {
                edits_are_fine(&bad);
            }
        }
    }
}

#[test]
fn every_prefix_keeps_its_whole_blocks() {
    for header in headers() {
        let good = log(&header, b"prefix prefix prefix");
        for len in HEADER_BYTES..good.len() {
            let cut = &good[..len];
            let whole = blocks(&good).iter().filter(|(_, end)| *end <= len).count();
            let read = Read::of(cut);
            let expected: BTreeSet<u64> = (0..whole).flat_map(entries_of).collect();
            assert_eq!(read.all, expected, "{len}");
            let left = (len - blocks(&good)[..whole].last().map_or(HEADER_BYTES, |(_, end)| *end)) as u64;
            assert_eq!(lost(&edits_are_fine(cut)), left, "{len}");
            let skipped: Vec<String> =
                read.findings_of("cnanolog.block-lost").iter().map(ToString::to_string).collect();
            assert_eq!(skipped.len(), usize::from(left > 0), "{len}");
            assert!(skipped.iter().all(|one| one.contains(&format!("{left} bytes are skipped"))), "{skipped:?}");
        }
    }
}

#[test]
fn two_damaged_blocks_are_both_passed() {
    for header in headers() {
        let good = log(&header, b"some text of some length, some text");
        let places = blocks(&good);
        for first in 0..places.len() {
            for second in first + 1..places.len() {
                let mut bad = good.clone();
                for (start, _) in [places[first], places[second]] {
                    bad[start..start + BLOCK_HEADER_BYTES].fill(0xee);
                }
                let read = Read::of(&bad);
                let left = (0..places.len()).filter(|index| ![first, second].contains(index));
                let expected: BTreeSet<u64> = left.flat_map(entries_of).collect();
                assert_eq!(read.all, expected, "{first} {second}");
                if second < BLOCKS as usize {
                    assert_eq!(read.known, expected, "the dictionary is found all the same");
                }
                let found = read.findings_of("cnanolog.block-lost");
                let is_one = second == first + 1;
                assert_eq!(found.len(), if is_one { 1 } else { 2 }, "{found:?}");
                assert_eq!(found[0].position.offset, places[first].0 as u64);
                let bytes = |(start, end): (usize, usize)| end - start;
                assert_eq!(lost(&edits_are_fine(&bad)), (bytes(places[first]) + bytes(places[second])) as u64);
                let end = if is_one { places[second].1 } else { places[first].1 };
                let rest = if end == bad.len() {
                    "the end of the file".to_owned()
                } else {
                    format!("the next block at {end}")
                };
                let sentence = format!("{} bytes are skipped, up to {rest}", end - places[first].0);
                assert!(found[0].to_string().contains(&sentence), "{}", found[0]);
            }
        }
    }
}

/// Damage to the contents and to the next head at once.
#[test]
fn a_damaged_block_before_a_damaged_head_is_still_read() {
    let [_, checked, _] = headers();
    let good = log(&checked, b"text");
    let places = blocks(&good);
    let mut bad = good.clone();
    // A letter of the text, and the whole head after it.
    bad[places[1].1 - 1] ^= 1;
    bad[places[2].0..places[2].0 + BLOCK_HEADER_BYTES].fill(0);
    let read = Read::of(&bad);
    assert_eq!(read.known, [0, 1, 3].into_iter().flat_map(entries_of).collect());
    assert_eq!(read.findings_of("cnanolog.block-damaged").len(), 1);
    assert_eq!(read.findings_of("cnanolog.block-lost").len(), 1);
}

#[test]
fn heads_inside_of_data_are_data() {
    let [_, checked, both] = headers();
    let head = |plain: u32, stored: u32| -> Vec<u8> {
        [CNANOLOG_BLOCK_MAGIC, plain, stored, 77].iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let embedded = log(&checked, b"inner")[HEADER_BYTES..].to_vec();
    for text in [head(5, 5), head(9, 5), head(1 << 20, 1 << 20), head(40, 20).repeat(6), embedded] {
        for header in [&checked, &both] {
            let good = log(header, &text);
            let all: BTreeSet<u64> = (0..BLOCKS * ENTRIES_PER_BLOCK).collect();
            let read = Read::of(&good);
            assert!(read.findings.is_empty(), "{:?}", read.findings);
            assert_eq!(read.known, all);
            for (index, (start, _)) in blocks(&good).into_iter().enumerate().take(BLOCKS as usize) {
                let mut bad = good.clone();
                bad[start..start + 4].fill(0);
                assert_eq!(Read::of(&bad).known, all, "the contents prove that block {index} is one");
                bad[start..start + BLOCK_HEADER_BYTES].fill(0);
                let known = Read::of(&bad).known;
                let mut others = all.iter().filter(|number| !entries_of(index).contains(number));
                assert!(others.all(|number| known.contains(number)), "block {index}");
                edits_are_fine(&bad);
            }
        }
    }
}

#[test]
fn hostile_heads_are_read_in_linear_time_and_little_memory() {
    const MIB: u32 = 1 << 20;
    for header in headers() {
        let start = create(Vec::new(), &header).unwrap().finish().unwrap();
        // Endless magics, heads that claim a mebibyte each, heads that lead to each other, and heads that lead nowhere.
        for heads in [
            vec![[CNANOLOG_BLOCK_MAGIC; 4]],
            vec![[CNANOLOG_BLOCK_MAGIC, MIB, MIB, 1]],
            vec![[CNANOLOG_BLOCK_MAGIC, MIB, MIB - 16, 1]],
            vec![[CNANOLOG_BLOCK_MAGIC, MIB, MIB - 3, 1]],
            vec![[CNANOLOG_BLOCK_MAGIC, 16, 16, 1], [0; 4], [CNANOLOG_BLOCK_MAGIC, MIB, MIB - 5, 1]],
            vec![[CNANOLOG_BLOCK_MAGIC, 19, 19, 1], [1; 4], [CNANOLOG_BLOCK_MAGIC, MIB, 40, 1]],
        ] {
            let mut bytes = start.clone();
            while bytes.len() < 3 << 20 {
                heads.iter().flatten().for_each(|number| bytes.extend(number.to_le_bytes()));
            }
            let (len, read) = (bytes.len() as u64, Arc::new(AtomicU64::new(0)));
            let options = Options::default();
            let Ok(mut reader) = open(Source::bytes(bytes).counted(&read), &options) else { continue };
            while let Ok(Some(located)) = reader.next() {
                if let Record::Block(block) = located.record {
                    assert!(block.stored.len() <= BLOCK_HEADER_BYTES + MAX_BLOCK_BYTES);
                }
            }
            let read = read.load(Ordering::Relaxed);
            assert!(read < 60 * len + (64 << 20), "{heads:?}: {read} bytes of {len}");
        }
    }
}

#[test]
fn flags_without_blocks_are_not_believed() {
    let plain = sample::sample().unwrap().bytes;
    let dictionary_at = u64::from_le_bytes(plain[40..48].try_into().unwrap()) as usize;
    let mut unfinished = plain[..dictionary_at].to_vec();
    unfinished[40..52].fill(0);
    for good in [plain, unfinished] {
        for (minor, flags) in [(2, 3), (3, 5), (3, 7)] {
            let mut bad = good.clone();
            bad[header_offset::VERSION_MINOR] = minor;
            bad[header_offset::FLAGS] = flags;
            let entries = |bytes: &[u8]| -> Vec<String> {
                let (records, _) = support::read_all(Source::bytes(bytes), &Options::default()).unwrap();
                records.into_iter().filter(|record| !record.contains("Block {")).collect()
            };
            assert!(entries(&bad) == entries(&good));
            let read = Read::of(&bad);
            let [finding] = read.findings_of("cnanolog.block-flags")[..] else { panic!("{:?}", read.findings) };
            assert!(finding.to_string().contains("has no blocks and is read accordingly"), "{finding}");
            assert_eq!(lost(&edits_are_fine(&bad)), 0);
        }
    }
}

#[test]
fn bytes_that_are_neither_blocks_nor_entries_are_lost() {
    let [_, _, header] = headers();
    let mut bytes = create(Vec::new(), &header).unwrap().finish().unwrap();
    bytes.extend((0..100_000u32).flat_map(|number| (number.wrapping_mul(0x9e37_79b9) | 1).to_be_bytes()));
    let read = Read::of(&bytes);
    assert!(read.all.is_empty());
    assert_eq!(read.findings_of("cnanolog.block-lost").len(), 1);
    assert_eq!(lost(&edits_are_fine(&bytes)), 400_000);
}

#[test]
fn blocks_without_flags_are_found() {
    for header in headers() {
        let mut bytes = log(&header, b"some text, some text, some text, some text");
        bytes[header_offset::FLAGS] = 1;
        let read = Read::of(&bytes);
        assert_eq!(read.known, (0..BLOCKS * ENTRIES_PER_BLOCK).collect());
        let found = read.findings_of("cnanolog.block-flags");
        assert!(found[0].to_string().contains("has blocks and is read accordingly"), "{found:?}");
        edits_are_fine(&bytes);
    }
}
