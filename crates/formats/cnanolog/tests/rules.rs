//! One broken file per rule, and the sizes and offsets in the documentation's appendix.

mod support;

use std::collections::BTreeSet;

use traceloom_cnanolog::{
    Arg, Dictionary, Entry, Extra, Header, Level, Numbering, Record, Section, Site, Tally, create,
    findings::RULES,
    open, open_with, put_packed, put_raw,
    raw::{
        ArgType, CNANOLOG_DICT_MAGIC, CNANOLOG_ENDIANNESS, CNANOLOG_LEVEL_DICT_MAGIC, CNANOLOG_MAGIC,
        ENTRY_HEADER_BYTES, HEADER_BYTES, SECTION_HEADER_BYTES, SITE_FIXED, SLOTS_DOCUMENT, SLOTS_LIBRARY,
        header_offset,
    },
    text,
};
use traceloom_core::{ByteOrder, Options, Records, Severity, Source};

const DICTIONARY_AT: usize = HEADER_BYTES + 4 * (ENTRY_HEADER_BYTES + 3);

fn table(types: &[ArgType], slots: usize) -> Vec<u8> {
    let mut table: Vec<u8> = types.iter().map(|code| code.0).collect();
    table.resize(slots, 0);
    table
}

/// A log of four entries `n %d` of two sites, with 16 or 50 slots and optionally a custom level.
fn log(header: Header, slots: usize, levels: bool) -> Vec<u8> {
    let types = table(&[ArgType::INT32], slots);
    let site =
        |id| Site { id, level: id as u8, num_args: 1, line: 7, arg_types: &types, file: b"a.c", format: b"n %d" };
    let datas = [300, 301, 302, 303].map(|value| packed(Arg::Int32(value)));
    let mut records = Vec::new();
    for (index, data) in (0..).zip(&datas) {
        records.push(Record::Entry(Entry::new(index % 2, Some(index.into()), data)));
    }
    if levels {
        let section = Section { magic: CNANOLOG_LEVEL_DICT_MAGIC, count: 1, total_size: 16 + 4 + 5, reserved: 0 };
        records.push(Record::Levels(section));
        records.push(Record::Level(Level { level: 9, name: b"AUDIT", padding: [0; 2] }));
    }
    let total_size = 16 + 2 * (SITE_FIXED + slots + 3 + 4) as u32;
    let section = Section { magic: CNANOLOG_DICT_MAGIC, count: 2, total_size, reserved: 0 };
    records.extend([Record::Dictionary(section), Record::Site(site(0)), Record::Site(site(1))]);
    support::file(header, &records)
}

fn packed(arg: Arg<'_>) -> Vec<u8> {
    let mut data = Vec::new();
    put_packed([arg].into_iter(), &mut data);
    data
}

fn good() -> Vec<u8> {
    log(Header::new(ByteOrder::Little), SLOTS_LIBRARY, false)
}

fn codes_with(bytes: Vec<u8>, extra: Extra) -> BTreeSet<&'static str> {
    let mut reader = open_with(Source::bytes(bytes), &Options::default().thorough(), extra).unwrap();
    while reader.next().unwrap().is_some() {}
    let codes: BTreeSet<_> = reader.findings().counts().keys().copied().collect();
    codes
}

fn codes(bytes: Vec<u8>) -> BTreeSet<&'static str> {
    codes_with(bytes, Extra::default())
}

fn changed(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = good();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

fn raw_file(types: &[ArgType], datas: &[&[u8]]) -> Vec<u8> {
    let types_table = table(types, SLOTS_DOCUMENT);
    let num_args = if types.len() < 2 { types.len() } else { 2 } as u8;
    let site = Site { id: 0, level: 0, num_args, line: 1, arg_types: &types_table, file: b"", format: b"%d %s" };
    let mut records: Vec<_> = datas.iter().map(|data| Record::Entry(Entry::new(0, Some(0), data))).collect();
    let section = Section { magic: CNANOLOG_DICT_MAGIC, count: 1, total_size: 16 + 30 + 5, reserved: 0 };
    records.extend([Record::Dictionary(section), Record::Site(site)]);
    support::file(Header { flags: 0, ..Header::new(ByteOrder::Little) }, &records)
}

/// Every rule with a file that breaks it.
fn broken() -> Vec<(&'static str, BTreeSet<&'static str>)> {
    let with_levels = log(Header::new(ByteOrder::Little), SLOTS_LIBRARY, true);
    let levels_at = DICTIONARY_AT;
    let level = |at: usize, bytes: &[u8]| {
        let mut file = with_levels.clone();
        file[levels_at + at..levels_at + at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let mut unclosed = good();
    unclosed.truncate(DICTIONARY_AT);
    unclosed[40..52].fill(0);
    let supplied = |bytes: Vec<u8>| {
        Extra::default().with_dictionary(Dictionary::of(Source::bytes(bytes), &Options::default()).unwrap())
    };
    let started = |file: &[u8]| {
        let mut file = file.to_vec();
        file[header_offset::START_TIME_SEC] = 7;
        file
    };
    let in_blocks = |damage: fn(&mut Vec<u8>)| {
        let mut header = Header::new(ByteOrder::Little);
        header.set_checksums();
        let mut file = log(header, SLOTS_LIBRARY, false);
        damage(&mut file);
        file
    };
    let entry = |index: usize| HEADER_BYTES + index * (ENTRY_HEADER_BYTES + 3);
    let mut with_gap = with_levels.clone();
    with_gap.splice(levels_at + 25..levels_at + 25, [0; 5]);
    with_gap[levels_at + 8] += 5;
    let mut long_name = with_levels.clone();
    long_name.splice(levels_at + 20..levels_at + 20, [b'x'; 40]);
    long_name[levels_at + 17] += 40;
    long_name[levels_at + 8] += 40;
    let mut trailing = good();
    trailing.extend([0; 3]);
    let mut never_written = changed(header_offset::START_TIMESTAMP, &[1]);
    never_written[entry(1)..entry(2)].fill(0);
    let site = DICTIONARY_AT + SECTION_HEADER_BYTES;
    let second = site + SITE_FIXED + SLOTS_LIBRARY + 7;
    let big_i64 = packed(Arg::Int64(-(1 << 60)));
    let mut raw_pair = Vec::new();
    put_raw([Arg::Int32(5), Arg::String(b"text")].into_iter(), ByteOrder::Little, &mut raw_pair);
    vec![
        ("header-cut", codes(good()[..50].to_vec())),
        ("magic", codes(changed(0, b"BAD!"))),
        ("document-magic", codes(changed(0, b"NANO"))),
        ("endianness", codes(changed(header_offset::ENDIANNESS, &[9, 9, 9, 9]))),
        ("big-endian", codes(log(Header::new(ByteOrder::Big), SLOTS_LIBRARY, false))),
        ("major-version", codes(changed(header_offset::VERSION_MAJOR, &[2]))),
        ("minor-version", codes(changed(header_offset::VERSION_MINOR, &[4]))),
        ("block-flags", codes(in_blocks(|file| file[header_offset::FLAGS] = 1))),
        ("block-head", codes(in_blocks(|file| file[HEADER_BYTES] ^= 1))),
        ("block-damaged", codes(in_blocks(|file| *file.last_mut().unwrap() ^= 1))),
        ("block-lost", codes(in_blocks(|file| file.truncate(file.len() - 1)))),
        ("reserved", codes(changed(header_offset::RESERVED, &[1]))),
        ("flags", codes(changed(header_offset::FLAGS, &[3]))),
        ("start-nanoseconds", codes(changed(header_offset::START_TIME_NSEC, &[0xff; 4]))),
        ("frequency", codes(changed(header_offset::TIMESTAMP_FREQUENCY, &[0; 8]))),
        ("dictionary-offset", codes(changed(header_offset::DICTIONARY_OFFSET, &[0xff; 4]))),
        ("dictionary-offset-zero", codes(changed(header_offset::DICTIONARY_OFFSET, &[0; 8]))),
        ("dictionary-magic", codes(changed(DICTIONARY_AT, b"XXXX"))),
        ("dictionary-found", codes(changed(header_offset::DICTIONARY_OFFSET, &[70]))),
        ("no-dictionary", codes(unclosed.clone())),
        ("dictionary-supplied", codes_with(started(&unclosed), supplied(started(&good())))),
        ("dictionary-foreign", codes_with(unclosed.clone(), supplied(good()))),
        ("dictionary-unused", codes_with(good(), supplied(good()))),
        ("dictionary-misfit", codes_with(unclosed.clone(), supplied(raw_file(&[ArgType::DOUBLE], &[])))),
        ("dictionary-cut", codes(good()[..good().len() - 3].to_vec())),
        ("dictionary-size", codes(changed(DICTIONARY_AT + 8, &[1]))),
        ("levels-cut", codes(level(4, &[200]))),
        ("levels-size", codes(level(8, &[99]))),
        ("level-name", codes(long_name)),
        ("level-number", codes(level(16, &[2]))),
        ("too-many-arguments", codes(changed(site + 5, &[51]))),
        ("types-recovered", codes(raw_file(&[ArgType::INT32, ArgType::NONE], &[&raw_pair]))),
        ("types-unusable", codes(raw_file(&[ArgType::INT32, ArgType(77)], &[&[1, 2, 3]]))),
        ("duplicate-id", codes(changed(second, &[0]))),
        ("sparse-ids", codes(changed(second, &[5]))),
        ("unknown-id", codes(changed(entry(1), &[200]))),
        ("entry-overrun", codes(changed(entry(3) + 12, &[0xff, 0xff]))),
        ("entry-length", codes(changed(entry(0) + 12, &[40, 0]))),
        ("zeros", codes(never_written)),
        ("entry-cut", codes([unclosed.clone(), vec![0; 5]].concat())),
        ("resynced", codes(changed(entry(1) + 12, &[0xff, 0xff]))),
        ("arguments", codes(changed(entry(1) + 14, &[0xff]))),
        ("sign-lost", codes(raw_file(&[ArgType::INT64], &[&big_i64]))),
        ("count-mismatch", codes(changed(header_offset::ENTRY_COUNT, &[9]))),
        ("gap", codes(with_gap)),
        ("another-log", codes([good(), good()].concat())),
        ("trailing", codes(trailing)),
    ]
}

#[test]
fn every_rule_is_reported() {
    let mut seen = BTreeSet::new();
    for (code, found) in broken() {
        let code = format!("cnanolog.{code}");
        assert!(found.contains(code.as_str()), "{code} is not among {found:?}");
        seen.insert(code);
    }
    // Four billion entries are tested where the count is compared.
    seen.insert("cnanolog.count-wrapped".to_owned());
    let all: BTreeSet<String> = RULES.iter().map(|rule| rule.code.to_owned()).collect();
    assert_eq!(seen, all);
}

#[test]
fn good_files_have_nothing_to_report() {
    assert_eq!(codes(good()), BTreeSet::new());
    assert_eq!(codes(log(Header::new(ByteOrder::Little), SLOTS_LIBRARY, true)), BTreeSet::new());
    assert_eq!(codes(log(Header::new(ByteOrder::Little), SLOTS_DOCUMENT, false)), BTreeSet::new());
}

#[test]
fn strict_refuses_exactly_what_has_an_error() {
    let refused = |bytes: Vec<u8>| match open(Source::bytes(bytes), &Options::strict()) {
        Ok(mut reader) => loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        },
        Err(_) => true,
    };
    let cases: [(usize, &[u8]); 9] = [
        (0, b"BAD!"),
        (4, &[2]),
        (6, &[3]),
        (36, &[9, 9, 9, 9]),
        (56, &[1]),
        (DICTIONARY_AT, b"XXXX"),
        (HEADER_BYTES, &[200]),
        (HEADER_BYTES + 12, &[0xff, 0xff]),
        (48, &[9]),
    ];
    for (at, bytes) in cases {
        let file = changed(at, bytes);
        let has_error = codes(file.clone())
            .iter()
            .any(|code| RULES.iter().any(|rule| rule.code == *code && rule.severity == Severity::Error));
        assert_eq!(refused(file), has_error, "{at} {bytes:?}");
    }
}

#[test]
fn sizes_and_offsets_are_those_of_the_appendix() {
    assert_eq!((HEADER_BYTES, ENTRY_HEADER_BYTES, SECTION_HEADER_BYTES), (64, 14, 16));
    assert_eq!((SITE_FIXED + SLOTS_DOCUMENT, SITE_FIXED + SLOTS_LIBRARY), (30, 64));
    let header = Header {
        version_major: 0x0102,
        version_minor: 0x0304,
        timestamp_frequency: 0x1112_1314_1516_1718,
        start_timestamp: 0x2122_2324_2526_2728,
        start_time_sec: 0x3132_3334_3536_3738,
        start_time_nsec: 0x4142_4344,
        dictionary_offset: 0x5152_5354_5556_5758,
        entry_count: 0x6162_6364,
        flags: 0x7172_7374,
        reserved: *b"reserved",
        ..Header::new(ByteOrder::Big)
    };
    let types = table(&[ArgType::STRING, ArgType::CHAR], SLOTS_DOCUMENT);
    let site = Site {
        id: 0x0102_0304,
        level: 5,
        num_args: 6,
        line: 0x0b0c_0d0e,
        arg_types: &types,
        file: b"f",
        format: b"fmt",
    };
    let mut writer = create(Vec::new(), &header).unwrap();
    writer.write(&Record::Entry(Entry::new(0x0102_0304, Some(0x1112_1314_1516_1718), b"data"))).unwrap();
    writer
        .write(&Record::Dictionary(Section { magic: CNANOLOG_DICT_MAGIC, count: 1, total_size: 50, reserved: 2 }))
        .unwrap();
    writer.write(&Record::Site(site)).unwrap();
    let bytes = writer.finish().unwrap();
    let parts: [(usize, &[u8]); 24] = [
        (header_offset::MAGIC, &CNANOLOG_MAGIC.to_be_bytes()),
        (header_offset::VERSION_MAJOR, &[1, 2]),
        (header_offset::VERSION_MINOR, &[3, 4]),
        (header_offset::TIMESTAMP_FREQUENCY, &0x1112_1314_1516_1718u64.to_be_bytes()),
        (header_offset::START_TIMESTAMP, &0x2122_2324_2526_2728u64.to_be_bytes()),
        (header_offset::START_TIME_SEC, &0x3132_3334_3536_3738u64.to_be_bytes()),
        (header_offset::START_TIME_NSEC, &0x4142_4344u32.to_be_bytes()),
        (header_offset::ENDIANNESS, &CNANOLOG_ENDIANNESS.to_be_bytes()),
        (header_offset::DICTIONARY_OFFSET, &0x5152_5354_5556_5758u64.to_be_bytes()),
        (header_offset::ENTRY_COUNT, &0x6162_6364u32.to_be_bytes()),
        (header_offset::FLAGS, &0x7172_7374u32.to_be_bytes()),
        (header_offset::RESERVED, b"reserved"),
        // Entry: log_id, timestamp, data_length, data.
        (64, &[1, 2, 3, 4]),
        (68, &0x1112_1314_1516_1718u64.to_be_bytes()),
        (76, &[0, 4]),
        (78, b"data"),
        // Dictionary: magic, num_entries, total_size, reserved.
        (82, b"DICT"),
        (86, &[0, 0, 0, 1, 0, 0, 0, 50, 0, 0, 0, 2]),
        // Its entry: log_id, log_level, num_args, lengths, line, types, strings.
        (98, &[1, 2, 3, 4]),
        (102, &[5, 6]),
        (104, &[0, 1, 0, 3]),
        (108, &[0x0b, 0x0c, 0x0d, 0x0e]),
        (112, &[6, 8]),
        (128, b"ffmt"),
    ];
    for (at, expected) in parts {
        assert_eq!(&bytes[at..at + expected.len()], expected, "at {at}");
    }
    assert_eq!(bytes.len(), 132);
}

#[test]
fn the_writer_refuses_what_does_not_fit() {
    let header = Header::new(ByteOrder::Little);
    let mut writer = create(Vec::new(), &header).unwrap();
    let long = vec![0; 65_536];
    let refuse = |result: traceloom_core::Result<()>| result.unwrap_err().to_string();
    assert!(refuse(writer.write(&Record::Entry(Entry::new(0, Some(0), &long)))).contains("65536 argument bytes"));
    assert!(refuse(writer.write(&Record::Entry(Entry::new(0, None, &[])))).contains("no timestamp"));
    let site = Site { id: 0, level: 0, num_args: 0, line: 0, arg_types: &[0; 50], file: b"", format: &long };
    assert!(refuse(writer.write(&Record::Site(site))).contains("format of 65536 bytes"));
    let site = Site { arg_types: &[0; 17], format: b"", ..site };
    assert!(refuse(writer.write(&Record::Site(site))).contains("17 slots"));
    let level = Level { level: 4, name: &long[..256], padding: [0; 2] };
    assert!(refuse(writer.write(&Record::Level(level))).contains("level's name of 256 bytes"));
    let mut tally = Tally::new(&header);
    tally.entries = 1 << 32;
    assert!(refuse(tally.fill(&mut header.clone())).contains("32 bits"));
}

#[test]
fn the_numbering_of_levels_can_be_overridden() {
    for (numbering, expected) in
        [(None, "INFO"), (Some(Numbering::Document), "DEBUG"), (Some(Numbering::Library), "INFO")]
    {
        let extra = numbering.map_or_else(Extra::default, |it| Extra::default().with_numbering(it));
        let reader = open_with(Source::bytes(good()), &Options::default(), extra).unwrap();
        assert_eq!(reader.dictionary().unwrap().level_name(0), Some(expected.as_bytes()));
    }
}

#[test]
fn a_supplied_dictionary_replaces_one_that_is_cut() {
    let narrow = log(Header::new(ByteOrder::Little), SLOTS_DOCUMENT, false);
    let dictionary = Dictionary::of(Source::bytes(narrow), &Options::default()).unwrap();
    let extra = Extra::default().with_dictionary(dictionary);
    let cut = good()[..good().len() - 3].to_vec();
    let mut reader = open_with(Source::bytes(cut.clone()), &Options::default(), extra).unwrap();
    assert!(!reader.has_own_dictionary());
    let mut writer = create(Vec::new(), reader.header()).unwrap();
    let mut readable = 0;
    while let Some(located) = reader.next().unwrap() {
        writer.write(&located.record).unwrap();
        readable += u32::from(matches!(located.record, Record::Entry(entry) if entry.args().is_some()));
    }
    assert_eq!(readable, 4);
    assert_eq!(writer.finish().unwrap(), cut);
}

#[test]
fn a_supplied_dictionary_explains_a_log_that_was_never_closed() {
    let mut unclosed = good();
    unclosed.truncate(DICTIONARY_AT + 6);
    unclosed[40..52].fill(0);
    let dictionary = Dictionary::of(Source::bytes(good()), &Options::default()).unwrap();
    let extra = Extra::default().with_dictionary(dictionary.clone());
    let mut reader = open_with(Source::bytes(unclosed.clone()), &Options::default(), extra).unwrap();
    let mut values = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            values.extend(entry.args().unwrap().map(|arg| format!("{arg:?}")));
        }
    }
    assert_eq!(values, [300, 301, 302, 303].map(|value| format!("Int32({value})")));
    // The file grows: reading continues where the last whole entry ended.
    assert_eq!(reader.resume_at(), DICTIONARY_AT as u64);
    unclosed.truncate(DICTIONARY_AT);
    unclosed.extend_from_slice(&good()[HEADER_BYTES..HEADER_BYTES + ENTRY_HEADER_BYTES + 3]);
    let extra = Extra::default().with_dictionary(dictionary).resuming_at(reader.resume_at());
    let mut reader = open_with(Source::bytes(unclosed), &Options::default(), extra).unwrap();
    let located = reader.next().unwrap().unwrap();
    assert_eq!(located.offset, DICTIONARY_AT as u64);
    assert!(matches!(located.record, Record::Entry(entry) if entry.args().is_some()));
    assert!(reader.next().unwrap().is_none());
}

/// The lines of a log with the dictionary of another one, and the findings.
fn explained(log: Source, by: Source) -> (Vec<String>, BTreeSet<&'static str>, String) {
    let dictionary = Dictionary::of(by, &Options::default()).unwrap();
    let mut reader = open_with(log, &Options::default(), Extra::default().with_dictionary(dictionary)).unwrap();
    let mut messages = text::Messages::default();
    let mut lines = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Entry(entry) = located.record {
            let mut line = Vec::new();
            messages.put(&entry, &mut line);
            lines.push(String::from_utf8(line).unwrap());
        }
    }
    let texts: Vec<_> = reader.findings().kept().iter().map(ToString::to_string).collect();
    let codes = reader.findings().counts().keys().copied().collect();
    (lines, codes, texts.join("\n"))
}

#[test]
fn a_dictionary_of_another_run_is_never_used_silently() {
    // Both sites of both runs have one i32: only the warning shows that the messages are swapped.
    let (lines, codes, texts) = explained(support::source("d2.clog"), support::source("d1.clog"));
    assert_eq!(lines, ["disk free 20 MB", "payment of 10 EUR refused"]);
    assert!(codes.contains("cnanolog.dictionary-foreign"), "{codes:?}");
    assert!(!texts.contains("raw bytes"), "{texts}");
    let (_, findings) = support::read_all(support::source("d2.clog"), &Options::default()).unwrap();
    assert!(findings.iter().any(|finding| finding.to_string().contains("--dictionary FILE")), "{findings:?}");
    let cut = good()[..DICTIONARY_AT].to_vec();
    let (_, findings) = support::read_all(Source::bytes(cut), &Options::default()).unwrap();
    assert!(findings.iter().any(|finding| finding.to_string().contains("--dictionary FILE")), "{findings:?}");
}

#[test]
fn a_site_that_does_not_fit_somewhere_is_used_nowhere() {
    // The last of many entries of site 0 has the arguments of another call.
    let fits = packed(Arg::Int32(7));
    let other = packed(Arg::Double(0.5));
    let mut datas = vec![&fits; 70_000];
    datas.push(&other);
    let entry = |(at, data): (usize, &&Vec<u8>)| -> Vec<u8> {
        let head = [&(at as u32 % 2).to_le_bytes()[..], &(at as u64).to_le_bytes(), &(data.len() as u16).to_le_bytes()];
        [head.concat(), data.to_vec()].concat()
    };
    let mut unclosed = good()[..HEADER_BYTES].to_vec();
    unclosed[40..52].fill(0);
    unclosed.extend(datas.iter().enumerate().flat_map(entry));
    let (lines, codes, texts) = explained(Source::bytes(unclosed), Source::bytes(good()));
    assert_eq!(lines.len(), 70_001);
    assert_eq!(lines[..2], ["id 0 [2 argument bytes: 0107]", "n 7"]);
    assert!(lines.iter().step_by(2).all(|line| line.starts_with("id 0 [")), "no text of another call is shown");
    assert!(codes.contains("cnanolog.dictionary-misfit"), "{codes:?}");
    assert!(texts.contains("of 70001 entries, 0 have unknown ids and 1 "), "{texts}");
}
