//! Scrambled type tables: slot j holds the type of argument 4j, the rest is garbage.

mod support;

use traceloom_cnanolog::{
    Arg, Entry, Header, Record, Section, Site, findings, open, put_packed, put_raw,
    raw::{ArgType, CNANOLOG_DICT_MAGIC, SITE_FIXED, SLOTS_DOCUMENT},
};
use traceloom_core::{ByteOrder, Options, Records, Source};

/// A log of one site as the library wrote it at 8ba9c9f (raw) or 9fe49d1 (packed).
fn log(format: &str, calls: &[Vec<Arg<'_>>], packed: bool, garbage: u8) -> Vec<u8> {
    let types: Vec<ArgType> = calls[0].iter().map(Arg::arg_type).collect();
    let mut table = [garbage; SLOTS_DOCUMENT];
    for (slot, code) in types.iter().step_by(4).enumerate() {
        table[slot] = code.0;
    }
    let num_args = types.len() as u8;
    let site =
        Site { id: 0, level: 0, num_args, line: 1, arg_types: &table, file: b"old.c", format: format.as_bytes() };
    let datas: Vec<Vec<u8>> = calls.iter().map(|call| laid_out(call, packed)).collect();
    let mut records: Vec<_> = datas.iter().map(|data| Record::Entry(Entry::new(0, Some(5), data))).collect();
    let total_size = (16 + SITE_FIXED + SLOTS_DOCUMENT + 5 + format.len()) as u32;
    let section = Section { magic: CNANOLOG_DICT_MAGIC, count: 1, total_size, reserved: 0 };
    records.extend([Record::Dictionary(section), Record::Site(site)]);
    support::file(Header { flags: 0, ..Header::new(ByteOrder::Little) }, &records)
}

fn laid_out(call: &[Arg<'_>], packed: bool) -> Vec<u8> {
    let mut data = Vec::new();
    if packed {
        put_packed(call.iter().copied(), &mut data);
    } else {
        put_raw(call.iter().copied(), ByteOrder::Little, &mut data);
    }
    data
}

fn check(format: &str, calls: &[Vec<Arg<'_>>]) {
    for (packed, garbage) in [(false, 0), (true, 0), (false, 200), (true, 200)] {
        let bytes = log(format, calls, packed, garbage);
        let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
        assert!(reader.findings().counts().contains_key(findings::TYPES_RECOVERED.code), "{format}");
        let mut calls = calls.iter();
        while let Some(located) = reader.next().unwrap() {
            if let Record::Entry(entry) = located.record {
                let found: Vec<Arg<'_>> = entry.args().expect("types were found").collect();
                assert_eq!(Some(&found), calls.next(), "{format}, packed {packed}, garbage {garbage}");
            }
        }
        assert!(calls.next().is_none());
    }
}

#[test]
fn types_come_back_from_formats_and_entries() {
    check("%d of %d", &[vec![Arg::Int32(1), Arg::Int32(-300)], vec![Arg::Int32(70_000), Arg::Int32(1 << 30)]]);
    check("%s %ld", &[vec![Arg::String(b"abc"), Arg::Int64(5)], vec![Arg::String(b""), Arg::Int64(-(1 << 40))]]);
    check("%u %p %f %c", &[vec![Arg::Uint32(9), Arg::Pointer(1 << 47), Arg::Double(0.5), Arg::Int32(65)]]);
    check("%*d|%s", &[vec![Arg::Int32(6), Arg::Int32(42), Arg::String(b"x")]]);
}

#[test]
fn widths_that_the_format_does_not_tell_come_from_the_entries() {
    // `%d` of a 64-bit number, as in the library's examples.
    let call = |value: i64| vec![Arg::String(b"id"), Arg::Int64(value), Arg::String(b"end")];
    check("%s %d %s", &[call(1 << 40), call(-(1 << 41)), call(1 << 50)]);
    let args = |first| {
        let mut call: Vec<Arg<'static>> = (0..16).map(|index| Arg::Int32(first + index)).collect();
        call[3] = Arg::String(b"four");
        call
    };
    check("%d %d %d %s %d %d %d %d %d %d %d %d %d %d %d %d", &[args(0), args(1000), args(-9)]);
}
