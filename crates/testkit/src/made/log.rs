//! Logs that match the sample capture.

use traceloom_cnanolog::{Arg, Entry, Header, Record, Section, Site, Tally, create, put_packed, raw};

/// Ticks per second of the sample that `traceloom_easyprofiler::sample` writes.
pub const SAMPLE_HZ: u64 = 10_000_000;
/// The tick at which that sample starts.
pub const SAMPLE_BEGIN: u64 = 5 * SAMPLE_HZ;

/// A log from the same processor as the sample capture: each of `messages` is a time in ticks after its start, and a
/// number.
pub fn log(start_ticks: u64, hz: u64, messages: &[(u64, i32)]) -> Vec<u8> {
    log_at(LOG_SECOND, start_ticks, hz, messages)
}

/// The time of day at which a log starts.
pub const LOG_SECOND: i64 = 1_767_607_200;

/// The same, at another time of day.
pub fn log_at(second: i64, start_ticks: u64, hz: u64, messages: &[(u64, i32)]) -> Vec<u8> {
    log_of(b"packet %d is late", second, [start_ticks, hz], messages)
}

/// The same, with another format of its messages.
pub fn log_of(format: &[u8], second: i64, [start_ticks, hz]: [u64; 2], messages: &[(u64, i32)]) -> Vec<u8> {
    let mut header = Header {
        timestamp_frequency: hz,
        start_timestamp: start_ticks,
        start_time_sec: second,
        ..Header::new(traceloom_core::ByteOrder::Little)
    };
    let records = |each: &mut dyn FnMut(&Record<'_>)| {
        for (ticks, number) in messages {
            let mut data = Vec::new();
            put_packed([Arg::Int32(*number)].into_iter(), &mut data);
            each(&Record::Entry(Entry::new(0, Some(start_ticks + ticks), &data)));
        }
        let file = &b"src/net.c"[..];
        let mut arg_types = [0; raw::SLOTS_LIBRARY];
        arg_types[0] = raw::ArgType::INT32.0;
        let total_size = (16 + 14 + raw::SLOTS_LIBRARY + file.len() + format.len()) as u32;
        each(&Record::Dictionary(Section { magic: raw::CNANOLOG_DICT_MAGIC, count: 1, total_size, reserved: 0 }));
        each(&Record::Site(Site { id: 0, level: 1, num_args: 1, line: 7, arg_types: &arg_types, file, format }));
    };
    let mut tally = Tally::new(&header);
    records(&mut |record| tally.count(record));
    tally.fill(&mut header).expect("it fits");
    let mut writer = create(Vec::new(), &header).expect("memory takes it");
    records(&mut |record| writer.write(record).expect("memory takes it"));
    writer.finish().expect("memory takes it")
}
