//! Every file is written back unchanged: fixtures and arbitrary records.

mod support;

use proptest::prelude::*;
use traceloom_cnanolog::{
    Arg, CNanoLog, Entry, Header, Record, Section, Site, create, open, put_packed, put_raw,
    raw::{ArgType, CNANOLOG_DICT_MAGIC, SITE_FIXED},
};
use traceloom_core::{ByteOrder, Codec, ErrorKind, Options, Records, Source};

#[derive(Clone, Debug)]
enum Value {
    Char(u8),
    Double(u64),
    Int32(i32),
    Int64(i64),
    Pointer(u64),
    Text(Vec<u8>),
    Uint32(u32),
    Uint64(u64),
}

impl Value {
    fn arg(&self) -> Arg<'_> {
        match self {
            Self::Char(value) => Arg::Char(*value),
            Self::Double(bits) => Arg::Double(f64::from_bits(*bits)),
            Self::Int32(value) => Arg::Int32(*value),
            Self::Int64(value) => Arg::Int64(*value),
            Self::Pointer(value) => Arg::Pointer(*value),
            Self::Text(text) => Arg::String(text),
            Self::Uint32(value) => Arg::Uint32(*value),
            Self::Uint64(value) => Arg::Uint64(*value),
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<u8>().prop_map(Value::Char),
        any::<u64>().prop_map(Value::Double),
        (any::<i32>(), 0..32u32).prop_map(|(value, shift)| Value::Int32(value >> shift)),
        // Numbers that need eight bytes lose their sign when packed.
        (any::<i64>(), 9..64u32).prop_map(|(value, shift)| Value::Int64(value >> shift)),
        (any::<u64>(), 0..64u32).prop_map(|(value, shift)| Value::Pointer(value >> shift)),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Text),
        (any::<u32>(), 0..32u32).prop_map(|(value, shift)| Value::Uint32(value >> shift)),
        (any::<u64>(), 0..64u32).prop_map(|(value, shift)| Value::Uint64(value >> shift)),
    ]
}

fn log(header: Header, slots: usize, calls: &[Vec<Value>], packed: bool) -> Vec<u8> {
    let laid_out = |call: &Vec<Value>| {
        let mut data = Vec::new();
        let args = call.iter().map(Value::arg);
        if packed {
            put_packed(args, &mut data);
        } else {
            put_raw(args, header.order, &mut data);
        }
        data
    };
    let type_table = |call: &Vec<Value>| {
        let mut types: Vec<u8> = call.iter().map(|value| value.arg().arg_type().0).collect();
        types.resize(slots, 0);
        types
    };
    let datas: Vec<_> = calls.iter().map(laid_out).collect();
    let tables: Vec<_> = calls.iter().map(type_table).collect();
    let mut records = Vec::new();
    for (id, data) in (0..).zip(&datas) {
        let timestamp = header.has_timestamps.then_some(u64::from(id) * 1000);
        records.push(Record::Entry(Entry::new(id, timestamp, data)));
    }
    let total_size = (16 + calls.len() * (SITE_FIXED + slots + 4)) as u32;
    let count = calls.len() as u32;
    records.push(Record::Dictionary(Section { magic: CNANOLOG_DICT_MAGIC, count, total_size, reserved: 0 }));
    for (id, (call, arg_types)) in (0..).zip(calls.iter().zip(&tables)) {
        let num_args = call.len() as u8;
        records.push(Record::Site(Site { id, level: 1, num_args, line: 9, arg_types, file: b"f.c", format: b"?" }));
    }
    support::file(header, &records)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn records_come_back(
        calls in prop::collection::vec(prop::collection::vec(value(), 0..10), 0..12),
        wide in any::<bool>(),
        big in any::<bool>(),
        timed in any::<bool>(),
    ) {
        let slots = if wide { 50 } else { 16 };
        let order = if big { ByteOrder::Big } else { ByteOrder::Little };
        let mut header = Header::new(order);
        if !timed {
            header = Header { timestamp_frequency: 0, flags: 0, has_timestamps: false, ..header };
        }
        let packed = wide && !big;
        let bytes = log(header, slots, &calls, packed);
        let mut reader = open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
        prop_assert_eq!(reader.header().entry_count as usize, calls.len());
        let mut writer = create(Vec::new(), reader.header()).unwrap();
        let mut entries = 0;
        while let Some(located) = reader.next().unwrap() {
            writer.write(&located.record).unwrap();
            let Record::Entry(entry) = located.record else { continue };
            let call = &calls[entries];
            entries += 1;
            let args: Vec<Arg<'_>> = entry.args().expect("they fit").collect();
            let types: Vec<ArgType> = args.iter().map(Arg::arg_type).collect();
            let expected: Vec<Arg<'_>> = call.iter().map(Value::arg).collect();
            prop_assert_eq!(types, expected.iter().map(Arg::arg_type).collect::<Vec<_>>());
            // A few short entries are valid in both forms; the others decide, and there may be none.
            if !entry.is_ambiguous() {
                let bits = |args: &[Arg<'_>]| args.iter().map(|arg| match arg {
                    Arg::Double(value) => format!("{:x}", value.to_bits()),
                    arg => format!("{arg:?}"),
                }).collect::<Vec<_>>();
                prop_assert_eq!(bits(&args), bits(&expected));
            }
        }
        prop_assert_eq!(entries, calls.len());
        prop_assert_eq!(writer.finish().unwrap(), bytes);
    }
}

#[test]
fn every_fixture_comes_back() {
    for name in support::logs() {
        let bytes = support::bytes(&name);
        let mut again = Vec::new();
        match CNanoLog::rewrite(&Source::bytes(bytes.clone()), &mut again, &Options::default()) {
            Ok(_) => assert!(again == bytes, "{name}"),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Unrecognized(_)), "{name}: {error}"),
        }
    }
}
