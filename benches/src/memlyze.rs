//! Memlyze: decoding events as producers write them, and events in random order.

use std::{
    fs::File,
    io::{BufWriter, Write},
};

use traceloom_core::{Limits, Options, Records, Result, Source};
use traceloom_memlyze::{
    Alloc, Free, Gc, Header, Marker, MetadataBuilder, Padding, Record, create_with_metadata, edit, raw::Dialect, sample,
};

use crate::measure::{baseline, cpu_times, peak_bytes, row};

const EVENTS: u64 = 10_000_000;

pub(crate) fn make(out: BufWriter<File>, records: u64) -> Result<()> {
    sample::write(out, records).map(drop)
}

pub(crate) fn run() -> Result<bool> {
    let mut met = memory_is_constant()?;
    let (_shop, shop) = generated(|out| make(out, EVENTS))?;
    let (_growth, growth) = generated(|out| snapshots(out, EVENTS))?;
    let (_any, any) = generated(|out| any_order(out, EVENTS))?;
    let (_packed, packed) = generated(|out| edit::canonical(&shop, out, Some("lz4"), &Options::default()).map(drop))?;
    println!("memlyze: {} events, {} MB", decode(&shop)?, shop.len()? / 1_000_000);
    met &= row("decode, allocations and frees", ratio(&shop, &shop)?, "x baseline", 4.0);
    met &= row("decode, snapshots of the upstream tracer", ratio(&growth, &growth)?, "x baseline", 4.0);
    // No real program is unpredictable, so there is no bar; the cost is only printed.
    println!("  {:<44} {:>8.2} x baseline", "decode, event types at random", ratio(&any, &any)?);
    println!("  {:<44} {:>8.2} x baseline of the plain file", "decode, LZ4 blocks", ratio(&packed, &shop)?);
    Ok(met)
}

pub(crate) fn generated(
    write: impl FnOnce(BufWriter<File>) -> Result<()>,
) -> Result<(tempfile::NamedTempFile, Source)> {
    let file = tempfile::NamedTempFile::new()?;
    write(BufWriter::new(file.reopen()?))?;
    let source = Source::open(file.path(), &Limits::default())?;
    Ok((file, source))
}

/// Decodes 50 MB and 2 GB; the peak must not change.
fn memory_is_constant() -> Result<bool> {
    let mut peaks = Vec::new();
    for events in [4_000_000, 160_000_000] {
        let (_file, source) = generated(|out| make(out, events))?;
        decode(&source)?;
        peaks.push((source.len()?, peak_bytes()));
    }
    let ((small, before), (large, after)) = (peaks[0], peaks[1]);
    println!("memlyze: {} MB and {} MB side by side", small / 1_000_000, large / 1_000_000);
    Ok(row("growth of the peak memory", (after - before) as f64 / 1e6, "MB", 1.0))
}

/// The time of decoding `source` relative to reading `plain`.
fn ratio(source: &Source, plain: &Source) -> Result<f64> {
    let [base, decoding] = cpu_times([&mut || baseline(plain), &mut || decode(source).map(drop)])?;
    Ok(decoding.div_duration_f64(base))
}

/// Reads every event and uses its fields; returns the number of events.
fn decode(source: &Source) -> Result<u64> {
    let mut reader = traceloom_memlyze::open(source.clone(), &Options::default())?;
    let (mut events, mut sum) = (0, 0u64);
    while let Some(located) = reader.next()? {
        let mix = match located.record {
            Record::Alloc(alloc) => alloc.address ^ alloc.size_bytes ^ alloc.stack ^ u64::from(alloc.thread),
            Record::Free(free) => free.address,
            Record::Gc(gc) => gc.objects ^ gc.size_bytes,
            Record::Marker(marker) => marker.name,
            _ => continue,
        };
        sum = sum.wrapping_add(mix ^ located.record.time_us().unwrap_or(0));
        events += 1;
    }
    std::hint::black_box(sum);
    Ok(events)
}

/// A file as the upstream tracer writes it: empty metadata, no addresses, unsorted lines that all repeat one delta.
fn snapshots(out: BufWriter<File>, events: u64) -> Result<()> {
    const LINES: u64 = 500;
    let metadata = MetadataBuilder::new(&Limits::default()).finish()?;
    let mut writer = create_with_metadata(out, &Header { dialect: Dialect::Growth, ..Header::new(1) }, &metadata)?;
    let (mut random, padding) = (Random(1), Padding::default());
    let (mut delta_us, time_us, address) = (0, 0, 0);
    for number in 0..events {
        if number % LINES == 0 {
            delta_us = 20_000 + random.below(100_000);
            let gc_delta_us = random.below(20_000);
            let gc = Gc { delta_us: gc_delta_us, time_us, objects: random.below(50), size_bytes: 0, padding };
            writer.write(&Record::Gc(gc))?;
        }
        writer.write(&if random.below(10) < 6 {
            let (size_bytes, stack) = (random.skewed(), random.below(600));
            Record::Alloc(Alloc { delta_us, time_us, address, size_bytes, stack, thread: 35_712, padding })
        } else {
            Record::Free(Free { delta_us, time_us, address, padding })
        })?;
    }
    finish(writer.finish()?)
}

/// Events of all types with equal probability.
fn any_order(out: BufWriter<File>, events: u64) -> Result<()> {
    let mut metadata = MetadataBuilder::new(&Limits::default());
    for number in 0..600 {
        let function = metadata.function(format!("function_{number}").as_bytes())?;
        metadata.stack(&[traceloom_memlyze::Frame { file: None, line: Some(number), function: Some(function) }])?;
    }
    let mut writer = create_with_metadata(out, &Header::new(1), &metadata.finish()?)?;
    let (mut random, padding, time_us) = (Random(2), Padding::default(), 0);
    for _ in 0..events {
        let (delta_us, address) = (random.skewed(), 0x7f00_0000_0000 + 16 * random.below(1 << 30));
        writer.write(&match random.below(4) {
            0 => {
                let (size_bytes, stack, thread) = (random.skewed(), random.below(600), random.below(8) as u16);
                Record::Alloc(Alloc { delta_us, time_us, address, size_bytes, stack, thread, padding })
            }
            1 => Record::Free(Free { delta_us, time_us, address, padding }),
            2 => Record::Gc(Gc { delta_us, time_us, objects: random.skewed(), size_bytes: random.skewed(), padding }),
            _ => Record::Marker(Marker { delta_us, time_us, name: random.below(600), padding }),
        })?;
    }
    finish(writer.finish()?)
}

fn finish(mut out: BufWriter<File>) -> Result<()> {
    Ok(out.flush()?)
}

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Small numbers more often than large ones: one to three bytes as a varint.
    fn skewed(&mut self) -> u64 {
        let bits = self.below(21);
        self.below(2 << bits)
    }
}
