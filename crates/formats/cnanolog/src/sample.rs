//! A sample log, always the same: a small service during two busy minutes.

use std::io::Write;

use traceloom_core::{ByteOrder, Random, Result, Sample};

use crate::{
    Arg, Entry, Header, Level, Record, Section, Site, Tally, create, put_packed,
    raw::{ArgType, CNANOLOG_DICT_MAGIC, CNANOLOG_LEVEL_DICT_MAGIC, SLOTS_LIBRARY},
};

const SITES: [(u8, &str, u32, &str, &[ArgType]); 8] = [
    (0, "src/main.c", 41, "service %s starting, %d workers", &[ArgType::STRING, ArgType::INT32]),
    (
        0,
        "src/http.c",
        118,
        "%s %s -> %d in %.2f ms",
        &[ArgType::STRING, ArgType::STRING, ArgType::INT32, ArgType::DOUBLE],
    ),
    (3, "src/cache.c", 77, "cache %s key=%016llx", &[ArgType::STRING, ArgType::UINT64]),
    (1, "src/pool.c", 203, "pool %3u%% full, waiting %lu us", &[ArgType::UINT32, ArgType::UINT64]),
    (2, "src/db.c", 310, "query failed: %s (code %d)", &[ArgType::STRING, ArgType::INT32]),
    (0, "src/http.c", 131, "sent %zu bytes to %p", &[ArgType::UINT64, ArgType::POINTER]),
    (10, "src/metrics.c", 19, "rss=%lld delta=%+d grade %c", &[ArgType::INT64, ArgType::INT32, ArgType::CHAR]),
    (0, "src/main.c", 96, "shutting down", &[]),
];

const TICKS_PER_SECOND: u64 = 2_400_000_000;
const START_TICKS: u64 = 7_200_000_000_000;

/// Number of requests in the sample.
const REQUESTS: u64 = 2400;

/// The sample: a 1.0.7 file.
pub fn sample() -> Result<Sample> {
    let bytes = write(Vec::new(), REQUESTS)?;
    Ok(Sample::new("service.clog", bytes, "the log of a small service")
        .tries(&["log {file}", "log --level warn+ --json {file}"]))
}

/// Writes a log of `size` requests, each with about three entries; memory use does not grow with it.
pub fn write<W: Write>(out: W, size: u64) -> Result<W> {
    let mut header = Header {
        timestamp_frequency: TICKS_PER_SECOND,
        start_timestamp: START_TICKS,
        start_time_sec: 1_767_607_200,
        start_time_nsec: 250_000_000,
        ..Header::new(ByteOrder::Little)
    };
    let mut tally = Tally::new(&header);
    records(size, &mut |record| {
        tally.count(record);
        Ok(())
    })?;
    tally.fill(&mut header)?;
    let mut writer = create(out, &header)?;
    records(size, &mut |record| writer.write(record))?;
    writer.finish()
}

fn records(requests: u64, each: &mut dyn FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
    let mut log = Log { each, ticks: START_TICKS, random: Random(0x2545_f491_4f6c_dd1d), data: Vec::new() };
    log.entry(0, &[Arg::String(b"orders"), Arg::Int32(8)])?;
    for request in 0..requests {
        log.request(request)?;
    }
    log.entry(7, &[])?;
    let name: &[u8] = b"METRIC";
    each(&Record::Levels(section(CNANOLOG_LEVEL_DICT_MAGIC, 1, 4 + name.len())))?;
    each(&Record::Level(Level { level: 10, name, padding: [0; 2] }))?;
    let sizes = SITES.iter().map(|(_, file, _, format, _)| 14 + SLOTS_LIBRARY + file.len() + format.len());
    each(&Record::Dictionary(section(CNANOLOG_DICT_MAGIC, SITES.len(), sizes.sum())))?;
    for (id, (level, file, line, format, types)) in SITES.into_iter().enumerate() {
        let mut table = [0; SLOTS_LIBRARY];
        for (slot, code) in table.iter_mut().zip(types) {
            *slot = code.0;
        }
        let (file, format) = (file.as_bytes(), format.as_bytes());
        let num_args = types.len() as u8;
        each(&Record::Site(Site { id: id as u32, level, num_args, line, arg_types: &table, file, format }))?;
    }
    Ok(())
}

fn section(magic: u32, count: usize, items: usize) -> Section {
    Section { magic, count: count as u32, total_size: items as u32 + 16, reserved: 0 }
}

struct Log<'a> {
    each: &'a mut dyn FnMut(&Record<'_>) -> Result<()>,
    ticks: u64,
    random: Random,
    data: Vec<u8>,
}

impl Log<'_> {
    fn request(&mut self, request: u64) -> Result<()> {
        let is_hit = self.random.below(3) > 0;
        let key = self.random.below(u64::MAX);
        self.entry(2, &[Arg::String(if is_hit { b"hit" } else { b"miss" }), Arg::Uint64(key)])?;
        // In the middle of the sample, the database is overloaded.
        let is_busy = (1000..1200).contains(&request);
        let fails = is_busy && self.trouble()?;
        self.answer(is_busy, fails)?;
        if request.is_multiple_of(100) {
            let delta = self.random.below(4096) as i32 - 2048;
            let rss = Arg::Int64(180_000_000 + i64::from(delta) * 64);
            self.entry(6, &[rss, Arg::Int32(delta), Arg::Char(b'A' + (request % 3) as u8)])?;
        }
        self.ticks += TICKS_PER_SECOND / 20;
        Ok(())
    }

    /// Whether the request fails.
    fn trouble(&mut self) -> Result<bool> {
        if self.random.below(4) == 0 {
            let (load, waited) = (80 + self.random.below(20) as u32, self.random.below(90_000));
            self.entry(3, &[Arg::Uint32(load), Arg::Uint64(waited)])?;
        }
        let fails = self.random.below(10) == 0;
        if fails {
            self.entry(4, &[Arg::String(b"connection reset by peer"), Arg::Int32(-104)])?;
        }
        Ok(fails)
    }

    fn answer(&mut self, is_busy: bool, fails: bool) -> Result<()> {
        let path: &[u8] = match self.random.below(4) {
            0 => b"/orders",
            1 => b"/orders/42/items",
            2 => b"/health",
            _ => b"/search?q=caf\xc3\xa9",
        };
        let method: &[u8] = if self.random.below(5) == 0 { b"POST" } else { b"GET" };
        let status = if fails { 503 } else { 200 };
        let micros = 300 + self.random.below(if is_busy { 80_000 } else { 4_000 });
        let millis = Arg::Double(micros as f64 / 1000.0);
        self.entry(1, &[Arg::String(method), Arg::String(path), Arg::Int32(status), millis])?;
        let (bytes, address) = (200 + self.random.below(60_000), 0x7f3a_0000_0000 + self.random.below(1 << 20) * 16);
        self.entry(5, &[Arg::Uint64(bytes), Arg::Pointer(address)])
    }

    fn entry(&mut self, id: u32, args: &[Arg<'_>]) -> Result<()> {
        self.ticks += 2_000 + self.random.below(200_000);
        self.data.clear();
        put_packed(args.iter().copied(), &mut self.data);
        (self.each)(&Record::Entry(Entry::new(id, Some(self.ticks), &self.data)))
    }
}
