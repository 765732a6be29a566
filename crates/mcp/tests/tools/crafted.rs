//! Traces with any names, made with the writers of their formats.

use traceloom::{
    core::{ByteOrder, Limits},
    easyprofiler::{
        Block, Descriptor, Header, Name, Record, Tally, Thread, create,
        raw::{BlockType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
    },
    memlyze::{Allocated, Call, Composer, raw::Packing},
    nytprof::{self, NewFid, Nv, Pair, PidEnd, PidStart, Str, SubCallers, SubInfo, TimeLine, raw::FidFlags},
    wtf::{
        self, Builtins, FileInfo, Form, Text, Value,
        raw::{EventClass, EventFlags},
        recorded,
    },
};

fn descriptor<'a>((id, name): (usize, &&'a [u8])) -> Record<'a> {
    let (block_type, status, file) = (BlockType::BLOCK, Status::ON, Name::new(b"own.cpp"));
    let (name, id) = (Name::new(name), id as u32);
    Record::Descriptor(Descriptor {
        id,
        line: 1,
        color: 0,
        block_type,
        status,
        name,
        file,
        odd_size: None,
        odd_name_size: None,
    })
}

/// A trace with one block per name, one after the other.
pub(crate) fn trace_of(names: &[&[u8]]) -> Vec<u8> {
    let mut records: Vec<Record<'_>> = names.iter().enumerate().map(descriptor).collect();
    records.push(Record::Thread(Thread { id: 1, name: Name::new(names[0]), switches: 0 }));
    records.push(Record::Blocks(names.len() as u32));
    let time = |id: usize| 1_000_000 * (id as u64 + 1);
    records.extend((0..names.len()).map(|id| Record::Block(Block::new(id as u32, time(id), time(id) + 500_000))));
    records.extend([Record::Mark(EASY_PROFILER_SIGNATURE), Record::Mark(EASY_PROFILER_SIGNATURE)]);
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut header = Header { begin_time: 0, end_time: time(names.len()), ..Header::new(layout, Version::V2_1_0) };
    let mut tally = Tally::default();
    records.iter().for_each(|record| tally.count(record, &layout));
    tally.fill(&mut header);
    let mut bytes = Vec::new();
    let mut writer = create(&mut bytes, &header).expect("a header");
    records.iter().for_each(|record| writer.write(record).expect("a record"));
    writer.finish().expect("an end");
    bytes
}

/// A line profile with one file, sub and call per name.
pub(crate) fn profile_of(names: &[&[u8]]) -> Vec<u8> {
    use nytprof::Record;
    let clock = [("basetime", "1700000000"), ("nv_size", "8"), ("ticks_per_sec", "10000000")];
    let mut records: Vec<Record<'_>> =
        clock.iter().map(|(key, value)| Record::Attribute(Pair::new(key.as_bytes(), value.as_bytes()))).collect();
    let (time, odd_bytes) = (Nv::from(1_700_000_000.0), None);
    records.push(Record::PidStart(PidStart { pid: 1, ppid: 0, time, odd_bytes }));
    for (fid, bytes) in (1..).zip(names) {
        let name = Str::new(bytes);
        let seconds = Nv::from(0.001);
        records.extend([
            Record::NewFid(NewFid::file(fid, FidFlags::VIA_STMT, bytes)),
            Record::TimeLine(TimeLine { ticks: 10_000, fid, line: 1, odd_bytes }),
            Record::SubInfo(SubInfo { fid, name, first_line: 1, last_line: 9, odd_bytes }),
            Record::SubCallers(SubCallers {
                fid,
                line: 1,
                caller: name,
                count: 1,
                incl_seconds: seconds,
                excl_seconds: seconds,
                reci_seconds: 0.0.into(),
                depth: 0,
                called: name,
                odd_bytes,
            }),
        ]);
    }
    records.push(Record::PidEnd(PidEnd { pid: 1, time, odd_bytes }));
    let mut writer = nytprof::create(Vec::new(), &nytprof::Header::default()).expect("a header");
    records.iter().for_each(|record| writer.write(record).expect("a record"));
    writer.finish().expect("an end")
}

/// A memory trace with one allocation and marker per name, and no frees.
pub(crate) fn heap_of(names: &[&[u8]]) -> Vec<u8> {
    let mut composer = Composer::new(&Limits::default());
    for (number, name) in (1..).zip(names) {
        let stack = composer.stack(&[Call { file: name, line: 7, function: name }]).expect("a stack");
        let allocated = Allocated { address: 0x1_0000 * number, size_bytes: 100 * number, stack, thread: 1 };
        composer.alloc(1_000 * number, allocated).expect("an allocation");
        composer.marker(1_000 * number + 1, name).expect("a marker");
    }
    composer.finish(Vec::new(), 1_700_000_000_000_000, Packing::Plain).expect("an end")
}

/// A WTF trace with one zone per name, which has a scope with an argument, a mark and a log entry of that name.
pub(crate) fn wtf_of(names: &[&[u8]]) -> Vec<u8> {
    let mut composer = wtf::Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).expect("a header");
    let builtins = Builtins::define(&mut composer).expect("types");
    let (instance, plain) = (EventClass::INSTANCE, EventFlags(0));
    let log = composer.define(recorded::LOG, instance, plain, recorded::LOG_ARGS).expect("a type");
    for (name, time_us) in names.iter().zip((1000..).step_by(1000)) {
        let value = Value::Text(Some(Text::utf8(name)));
        let json = format!("{:?}", String::from_utf8_lossy(name));
        let json = Value::Any(Some(Text::utf8(json.as_bytes())));
        let name = str::from_utf8(name).expect("WTF has text");
        let zone = composer.zone(Some(name), Some(name), Some(name)).expect("a zone");
        let scope = composer.define(name, EventClass::SCOPE, plain, "").expect("a type");
        let mut put = |kind, time_us, values: &[Value<'_>]| {
            composer.event(zone, kind, time_us, values.iter().copied()).expect("an event");
        };
        put(scope, time_us, &[]);
        put(builtins.append, time_us + 1, &[value, json]);
        put(builtins.mark, time_us + 2, &[value, json]);
        put(log, time_us + 3, &[value, value, value, value, Value::Uint(1)]);
        put(builtins.leave, time_us + 4, &[]);
    }
    composer.finish().expect("an end")
}
