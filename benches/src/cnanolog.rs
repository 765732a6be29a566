//! CNanoLog: framing, typed arguments, and text to a pipe.

use std::{
    fs::File,
    io::{BufWriter, Write},
    process::{Child, Command, Stdio},
};

use traceloom_cnanolog::{Arg, Reader, Record, sample, text};
use traceloom_core::{Limits, Options, Records, Result, Source};

use crate::measure::{baseline, cpu_times, forget_peak, peak_bytes, row};

const ENTRIES: u64 = 5_000_000;
/// Approximate number of entries per request of the sample.
const ENTRIES_PER_REQUEST: u64 = 3;
/// Number of bytes that a program writes at once.
const WRITTEN_AT_ONCE: usize = 64 << 10;

pub(crate) fn make(out: BufWriter<File>, records: u64) -> Result<()> {
    sample::write(out, records / ENTRIES_PER_REQUEST).map(drop)
}

pub(crate) fn run() -> Result<bool> {
    let mut met = memory_is_constant()?;
    let (_file, source) = generated(ENTRIES)?;
    let entries = frame(&source)?;
    println!("cnanolog: {entries} entries, {} MB", source.len()? / 1_000_000);
    let [base, framing, decoding, printing] =
        cpu_times([&mut || baseline(&source), &mut || frame(&source).map(drop), &mut || decode(&source), &mut || {
            print(&source)
        }])?;
    let seconds = base.as_secs_f64();
    println!("  baseline: {:.1} ms, {:.2} ns per entry", seconds * 1e3, seconds * 1e9 / entries as f64);
    met &= row("framing", framing.div_duration_f64(base), "x baseline", 2.5);
    met &= row("typed arguments", decoding.div_duration_f64(base), "x baseline", 8.0);
    met &= row("text to a pipe", printing.div_duration_f64(base), "x baseline", 25.0);
    Ok(met)
}

pub(crate) fn generated(entries: u64) -> Result<(tempfile::NamedTempFile, Source)> {
    let file = tempfile::NamedTempFile::new()?;
    make(BufWriter::new(file.reopen()?), entries)?;
    let source = Source::open(file.path(), &Limits::default())?;
    Ok((file, source))
}

/// Prints 30 MB and 1 GB; the peak must not change.
fn memory_is_constant() -> Result<bool> {
    let mut peaks = Vec::new();
    for entries in [1_000_000, 30_000_000] {
        let (_file, source) = generated(entries)?;
        forget_peak();
        print(&source)?;
        peaks.push((source.len()?, peak_bytes()));
    }
    let ((small, before), (large, after)) = (peaks[0], peaks[1]);
    println!("cnanolog: {} MB and {} MB side by side", small / 1_000_000, large / 1_000_000);
    Ok(row("growth of the peak memory", after.saturating_sub(before) as f64 / 1e6, "MB", 1.0))
}

fn open(source: &Source) -> Result<Reader> {
    traceloom_cnanolog::open(source.clone(), &Options::default())
}

fn frame(source: &Source) -> Result<u64> {
    let mut reader = open(source)?;
    let (mut entries, mut sum) = (0, 0u64);
    while let Some(located) = reader.next()? {
        if let Record::Entry(entry) = located.record {
            sum = sum.wrapping_add(entry.timestamp.unwrap_or(0) ^ entry.data.len() as u64);
            entries += 1;
        }
    }
    std::hint::black_box(sum);
    Ok(entries)
}

fn decode(source: &Source) -> Result<()> {
    let mut reader = open(source)?;
    let mut sum = 0u64;
    while let Some(located) = reader.next()? {
        if let Record::Entry(entry) = located.record {
            for arg in entry.args().into_iter().flatten() {
                sum = sum.wrapping_add(match arg {
                    Arg::Char(value) => value.into(),
                    Arg::Double(value) => value.to_bits(),
                    Arg::Int32(value) => value as u64,
                    Arg::Int64(value) => value as u64,
                    Arg::String(text) => text.len() as u64,
                    Arg::Uint32(value) => value.into(),
                    Arg::Pointer(value) | Arg::Uint64(value) => value,
                });
            }
        }
    }
    std::hint::black_box(sum);
    Ok(())
}

/// Prints as `traceloom log` does, with a reader at the other end of the pipe; measures the CPU time of this end.
fn print(source: &Source) -> Result<()> {
    let mut reader = open(source)?;
    let mut lines = text::Lines::new(text::Pattern::default(), reader.clock(), text::utc);
    let mut sink: Child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let mut out = Vec::with_capacity(2 * WRITTEN_AT_ONCE);
    if let Some(mut pipe) = sink.stdin.take() {
        while let Some(located) = reader.next()? {
            if let Record::Entry(entry) = located.record {
                lines.put(&entry, &mut out);
                if out.len() >= WRITTEN_AT_ONCE {
                    pipe.write_all(&out)?;
                    out.clear();
                }
            }
        }
        pipe.write_all(&out)?;
    }
    sink.wait()?;
    Ok(())
}
