//! Logs of 1.2 and 1.3, whose entries and dictionary are in blocks.

mod support;

use support::read_all;
use traceloom_cnanolog::{
    CNanoLog, Entry, Header, Record, Writer, create, edit, open,
    raw::{BLOCK_HEADER_BYTES, HEADER_BYTES, MAX_BLOCK_BYTES},
    sample,
};
use traceloom_core::{ByteOrder, Codec, ErrorKind, Limits, Options, Records, Slice, Source, TimeRange};

type Choice = fn(&mut Header);

fn choices() -> [(&'static str, Choice); 3] {
    [
        ("1.2", |header| header.set_compressed()),
        ("1.3", |header| header.set_checksums()),
        ("1.3", |header| {
            header.set_compressed();
            header.set_checksums();
        }),
    ]
}

/// The sample as a log with at most `records` records per block.
fn in_blocks(choice: Choice, records: usize) -> Vec<u8> {
    let mut reader = open(Source::bytes(sample::sample().unwrap().bytes), &Options::strict()).unwrap();
    let mut header = reader.header().clone();
    header.set_ids(7, 9);
    choice(&mut header);
    let mut writer: Writer<Vec<u8>> = create(Vec::new(), &header).unwrap();
    let mut number = 0;
    while let Some(located) = reader.next().unwrap() {
        writer.write(&located.record).unwrap();
        number += 1;
        if number % records == 0 {
            writer.flush().unwrap();
        }
    }
    writer.finish().unwrap()
}

/// The contents that a reader returns, without the blocks.
fn contents(bytes: Vec<u8>, options: &Options) -> Vec<String> {
    let (records, _) = read_all(Source::bytes(bytes), options).unwrap();
    records.into_iter().filter(|record| !record.contains("Block {")).collect()
}

#[test]
fn blocks_hold_what_the_plain_log_holds() {
    let plain = sample::sample().unwrap().bytes;
    let expected = contents(plain.clone(), &Options::strict());
    for (version, choice) in choices() {
        for records in [1, 7, usize::MAX] {
            let bytes = in_blocks(choice, records);
            assert_eq!(contents(bytes.clone(), &Options::strict().thorough()), expected);
            let (info, _) = CNanoLog::info(&Source::bytes(bytes.clone()), &Options::default()).unwrap();
            assert_eq!(info.version, version);
            let mut copy = Vec::new();
            CNanoLog::rewrite(&Source::bytes(bytes.clone()), &mut copy, &Options::default()).unwrap();
            assert!(copy == bytes, "a copy is the same byte for byte");
            let mut repaired = Vec::new();
            edit::repair(&Source::bytes(bytes), &mut repaired, &Options::default()).unwrap();
            let mut repaired_plain = Vec::new();
            edit::repair(&Source::bytes(plain.clone()), &mut repaired_plain, &Options::default()).unwrap();
            assert!(repaired == repaired_plain, "CNanoLog reads what repair writes");
        }
    }
    let [(_, compressed), ..] = choices();
    assert!(in_blocks(compressed, usize::MAX).len() < plain.len());
}

#[test]
fn a_slice_stays_compressed() {
    let (_, choice) = choices()[2];
    let mut all = Vec::new();
    let slice = Slice { range: TimeRange::ALL, ..Slice::default() };
    edit::slice(&Source::bytes(in_blocks(choice, 7)), &mut all, &slice, &Options::default()).unwrap();
    assert!(all == in_blocks(choice, usize::MAX), "the same records in blocks of another size");
}

#[test]
fn a_changed_byte_in_a_block_is_noticed() {
    let (_, choice) = choices()[2];
    let bytes = in_blocks(choice, 40);
    for at in (HEADER_BYTES..bytes.len()).step_by(bytes.len() / 40) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let found = |options| read_all(Source::bytes(damaged.clone()), &options).map(|(_, found)| found);
        let codes: Vec<_> = found(Options::default()).unwrap().iter().map(|one| one.rule.code).collect();
        assert!(codes.iter().any(|code| code.starts_with("cnanolog.block-")), "byte {at}: {codes:?}");
        assert!(found(Options::strict()).is_err(), "byte {at}");
        let mut copy = Vec::new();
        CNanoLog::rewrite(&Source::bytes(damaged.clone()), &mut copy, &Options::default()).unwrap();
        assert!(copy == damaged, "a copy keeps the damage");
    }
}

#[test]
fn a_cut_log_is_read_up_to_its_last_whole_block() {
    let (_, choice) = choices()[0];
    let bytes = in_blocks(choice, 10);
    let all = contents(bytes.clone(), &Options::default());
    let mut most = 0;
    for len in (HEADER_BYTES..bytes.len()).step_by(bytes.len() / 40) {
        let cut = bytes[..len].to_vec();
        // Without the dictionary the entries cannot be decoded, but they are found.
        let entries = contents(cut.clone(), &Options::default()).len();
        assert!(entries >= most && entries <= all.len(), "{len}: {entries}");
        most = entries;
        let mut copy = Vec::new();
        CNanoLog::rewrite(&Source::bytes(cut.clone()), &mut copy, &Options::default()).unwrap();
        assert!(copy == cut, "{len}");
    }
    assert!(most > 100);
}

#[test]
fn entries_may_lie_across_blocks() {
    // Blocks of five bytes, which our writer never makes.
    let plain = sample::sample().unwrap().bytes;
    let mut header = open(Source::bytes(plain.clone()), &Options::default()).unwrap().header().clone();
    header.set_compressed();
    let mut bytes = create(Vec::new(), &header).unwrap().finish().unwrap();
    for piece in plain[HEADER_BYTES..].chunks(5) {
        for number in [0x424C_434B, piece.len() as u32, piece.len() as u32, 0] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(piece);
    }
    assert_eq!(contents(bytes.clone(), &Options::strict()), contents(plain, &Options::strict()));
    let mut copy = Vec::new();
    CNanoLog::rewrite(&Source::bytes(bytes.clone()), &mut copy, &Options::default()).unwrap();
    assert!(copy == bytes);
}

#[test]
fn hostile_sizes_are_bounded() {
    let mut header = Header::new(ByteOrder::Little);
    header.set_compressed();
    let file = |heads: &[[u32; 4]]| {
        let mut bytes = create(Vec::new(), &header).unwrap().finish().unwrap();
        for head in heads {
            head.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            bytes.extend(vec![0; head[2].min(64) as usize]);
        }
        Source::bytes(bytes)
    };
    let magic = 0x424C_434B;
    for impossible in
        [[magic, u32::MAX, 9, 0], [magic, 0, 0, 0], [magic, 8, 9, 0], [magic, 9, u32::MAX, 0], [7, 9, 8, 0]]
    {
        let (_, found) = read_all(file(&[impossible]), &Options::default()).unwrap();
        assert!(found.iter().any(|one| one.rule.code == "cnanolog.block-lost"), "{impossible:?}");
    }
    let most = MAX_BLOCK_BYTES as u32;
    let limited = |change: fn(&mut Limits)| Options::default().with_limits(Limits::with(change));
    let refused = |heads: &[[u32; 4]], options: &Options| {
        let error = open(file(heads), options).map(|_| ()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    };
    refused(&[[magic, most, 8, 0]], &limited(|limits| limits.record_bytes = 1 << 19));
    refused(&[[magic, 8, 8, 0]; 3], &limited(|limits| limits.entries = 2));
    // Each claims to hold a megabyte: together they would expand without end.
    let (_, found) = read_all(file(&[[magic, most, 8, 0]; 100]), &limited(|limits| limits.ratio = 16)).unwrap();
    assert!(found.iter().any(|one| one.rule.code == "cnanolog.block-lost"), "{found:?}");
    let unpacked = found.iter().filter(|one| one.rule.code == "cnanolog.block-damaged").count();
    assert_eq!(unpacked as u64, Limits::RATIO_FREE_BYTES / u64::from(most) - 1);
}

#[test]
fn a_writer_makes_no_empty_block() {
    let mut header = Header::new(ByteOrder::Big);
    header.set_checksums();
    let mut writer = create(Vec::new(), &header).unwrap();
    writer.flush().unwrap();
    writer.write(&Record::Entry(Entry::new(0, Some(5), b"abc"))).unwrap();
    writer.flush().unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.finish().unwrap().len(), HEADER_BYTES + BLOCK_HEADER_BYTES + 14 + 3);
}
