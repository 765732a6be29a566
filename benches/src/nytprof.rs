//! NYTProf: decoding with sums per line, against Devel::NYTProf's loader, and against inflating alone.

use std::{
    fs::File,
    io::{self, BufWriter, Read},
    path::Path,
    process::Command,
    time::Duration,
};

use flate2::read::ZlibDecoder;
use traceloom_core::{Error, Limits, Options, Records, Result, Source};
use traceloom_nytprof::{Record, aggregate, edit, open, sample};

use crate::measure::{baseline, cpu_times, forget_peak, peak_bytes, row};

const RECORDS: u64 = 12_000_000;
/// Max time relative to Devel::NYTProf: a seventh.
const MAX_OF_ORIGINAL: f64 = 1.0 / 7.0;
const PEER_ROUNDS: usize = 5;

pub(crate) fn make(out: BufWriter<File>, records: u64) -> Result<()> {
    sample::write(out, records)?;
    Ok(())
}

pub(crate) fn run() -> Result<bool> {
    let mut met = memory_is_constant()?;
    let (file, source) = generated(RECORDS)?;
    let (ours, peak) = sums(&source)?;
    println!("nytprof: {} statements, {} MB", ours.statements, source.len()? / 1_000_000);
    let [base, decoding, summing] =
        cpu_times([&mut || baseline(&source), &mut || decode(&source), &mut || sums(&source).map(drop)])?;
    // The bar of this format is Devel::NYTProf; the distance to the baseline is only printed.
    for (what, time) in [("decode", decoding), ("decode and sums per line", summing)] {
        println!("  {what:<44} {:>8.2} x baseline", time.div_duration_f64(base));
    }
    met &= memory("peak memory", peak, source.len()?);
    met &= compressed(&source)?;
    match against(file.path(), &ours, summing)? {
        Ok(faster) => met &= faster,
        Err(reason) => println!("  not compared with Devel::NYTProf: {reason}"),
    }
    Ok(met)
}

/// The result of reading a file.
#[derive(Debug, PartialEq)]
struct Sums {
    statements: u64,
    seconds: f64,
    calls: u64,
}

fn sums(source: &Source) -> Result<(Sums, u64)> {
    forget_peak();
    let profile = aggregate::load(source.clone(), &Options::default())?;
    let sums = Sums { statements: profile.stmts_measured, seconds: profile.stmts_seconds, calls: profile.sub_calls };
    Ok((sums, peak_bytes()))
}

/// Reads every record, one at a time.
fn decode(source: &Source) -> Result<()> {
    let mut reader = open(source.clone(), &Options::default())?;
    let mut sum = 0u64;
    // With `walk`, as every consumer does; calling `next` per record takes two to three times as long.
    reader.walk(|located| {
        if let Record::TimeLine(time) = located.record {
            sum = sum.wrapping_add(u64::from(time.ticks.cast_unsigned() ^ time.fid ^ time.line));
        }
        Ok::<_, Error>(())
    })?;
    std::hint::black_box(sum);
    Ok(())
}

fn memory(what: &str, peak: u64, file_bytes: u64) -> bool {
    row(what, peak as f64 / ((64 << 20) + 4 * file_bytes) as f64, "x allowed", 1.0)
}

/// Sums up 60 MB and 2 GB; the peak must not change, because the lines are the same.
fn memory_is_constant() -> Result<bool> {
    let mut peaks = Vec::new();
    for records in [RECORDS, 30 * RECORDS] {
        let (_file, source) = generated(records)?;
        let (_, peak) = sums(&source)?;
        peaks.push((source.len()?, peak));
    }
    let ((small, before), (large, after)) = (peaks[0], peaks[1]);
    println!("nytprof: {} MB and {} MB side by side", small / 1_000_000, large / 1_000_000);
    Ok(row("growth of the peak memory", after.saturating_sub(before) as f64 / 1e6, "MB", 1.0))
}

/// The same profile as the profiler compresses it.
fn compressed(plain: &Source) -> Result<bool> {
    let file = tempfile::NamedTempFile::new()?;
    edit::canonical(plain, BufWriter::new(file.reopen()?), Some("zlib6"), &Options::default())?;
    let source = Source::open(file.path(), &Limits::default())?;
    let start = zlib_start(&source)?;
    let (_, peak) = sums(&source)?;
    let [inflating, summing] = cpu_times([&mut || inflate(&source, start), &mut || sums(&source).map(drop)])?;
    println!("nytprof: {} MB compressed", source.len()? / 1_000_000);
    let met = row("decode and sums per line", summing.div_duration_f64(inflating), "x inflating", 2.0);
    Ok(memory("peak memory", peak, source.len()?) && met)
}

/// Offset of the compressed part.
fn zlib_start(source: &Source) -> Result<u64> {
    let mut reader = open(source.clone(), &Options::default())?;
    while let Some(located) = reader.next()? {
        if let Record::StartDeflate(_) = located.record {
            return Ok(located.offset + located.len);
        }
    }
    Err(io::Error::other("the compressed profile is not compressed").into())
}

/// The minimum work of a reader of a compressed profile.
fn inflate(source: &Source, start: u64) -> Result<()> {
    struct Stream<'a>(&'a Source, u64);
    impl Read for Stream<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read_at(self.1, buffer).map_err(|error| io::Error::other(error.to_string()))?;
            self.1 += read as u64;
            Ok(read)
        }
    }
    let input = io::BufReader::with_capacity(Limits::default().window_bytes, Stream(source, start));
    let mut decoder = ZlibDecoder::new(input);
    let mut buffer = vec![0; Limits::default().window_bytes];
    while decoder.read(&mut buffer)? > 0 {
        std::hint::black_box(&buffer);
    }
    Ok(())
}

/// Prints the number of statements, their time in seconds, calls, and the CPU time of loading.
const PEER: &str = r#"
    my $before = (times)[0] + (times)[1];
    my $data = Devel::NYTProf::Data->new({ filename => $ARGV[0], quiet => 1 });
    my $after = (times)[0] + (times)[1];
    my $run = $data->attributes;
    printf "%d %.17g %d %g\n",
        $run->{total_stmts_measured}, $run->{total_stmts_duration}, $run->{total_sub_calls}, $after - $before;
"#;

fn against(file: &Path, ours: &Sums, time: Duration) -> Result<Result<bool, &'static str>> {
    let mut best = f64::INFINITY;
    for _ in 0..PEER_ROUNDS {
        let perl = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e", PEER]).arg(file).output();
        let Some(output) = perl.ok().filter(|output| output.status.success()) else {
            return Ok(Err("perl with Devel::NYTProf is not installed (Debian package libdevel-nytprof-perl)"));
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let &[statements, seconds, calls, cpu] = numbers.as_slice() else {
            println!("  Devel::NYTProf failed: {text}");
            return Ok(Ok(false));
        };
        let theirs = Sums { statements: statements as u64, seconds, calls: calls as u64 };
        if theirs != *ours {
            println!("  Devel::NYTProf reads different values: {theirs:?} instead of {ours:?}");
            return Ok(Ok(false));
        }
        best = best.min(cpu);
    }
    println!("  Devel::NYTProf: {best:.2} s; ours: {time:.2?}, {:.2} times less", best / time.as_secs_f64());
    Ok(Ok(row("decode and sums per line", time.as_secs_f64() / best, "x Devel::NYTProf", MAX_OF_ORIGINAL)))
}

pub(crate) fn generated(records: u64) -> Result<(tempfile::NamedTempFile, Source)> {
    let file = tempfile::NamedTempFile::new()?;
    make(BufWriter::new(file.reopen()?), records)?;
    let source = Source::open(file.path(), &Limits::default())?;
    Ok((file, source))
}
