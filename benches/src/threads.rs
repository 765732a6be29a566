//! Threads: wall and CPU time of typical work with one thread and with two, and the wall time that follows for more.

use std::{
    fs::File,
    io::{self, BufWriter},
    path::Path,
    time::{Duration, Instant},
};

use traceloom_analysis::{flame, memory, stats};
use traceloom_core::{Limits, Result, Source};
use traceloom_export::{by_id, write};
use traceloom_mapping::{Options, Trace};
use traceloom_model::{Filter, Wanted};
use traceloom_passes::pour;

use crate::{
    cnanolog, easyprofiler,
    measure::{process_time, thread_time},
    memlyze, nytprof, wtf,
};

const RECORDS: u64 = 5_000_000;
const ROUNDS: usize = 5;

/// One kind of work on one kind of file.
struct Work {
    name: &'static str,
    make: fn(BufWriter<File>, u64) -> Result<()>,
    run: fn(&Trace) -> Result<()>,
    readers: Readers,
}

/// How many threads can read a file of the format at the same time.
#[derive(Clone, Copy)]
enum Readers {
    One,
    Any,
}

static WORKS: &[Work] = &[
    Work { name: "easyprofiler: all tables", make: easyprofiler::make, run: tables, readers: Readers::Any },
    Work { name: "easyprofiler: stats", make: easyprofiler::make, run: statistics, readers: Readers::Any },
    Work { name: "easyprofiler: flame", make: easyprofiler::make, run: flames, readers: Readers::Any },
    Work {
        name: "easyprofiler: perfetto",
        make: easyprofiler::make,
        run: |trace| export(trace, "perfetto"),
        readers: Readers::Any,
    },
    Work {
        name: "easyprofiler: chrome",
        make: easyprofiler::make,
        run: |trace| export(trace, "chrome"),
        readers: Readers::Any,
    },
    #[cfg(feature = "sql")]
    Work { name: "easyprofiler: group by", make: easyprofiler::make, run: group_by, readers: Readers::Any },
    #[cfg(feature = "sql")]
    Work { name: "easyprofiler: store", make: easyprofiler::make, run: store, readers: Readers::Any },
    Work { name: "cnanolog: all tables", make: cnanolog::make, run: tables, readers: Readers::Any },
    Work { name: "memlyze: memory", make: memlyze::make, run: memory_report, readers: Readers::One },
    Work { name: "nytprof: all tables", make: nytprof::make, run: tables, readers: Readers::One },
    Work { name: "wtf: all tables", make: wtf::make, run: tables, readers: Readers::One },
];

/// The times of one run.
#[derive(Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
    /// CPU time of the calling thread; the rest belongs to reader threads.
    caller: Duration,
}

impl Cost {
    const MAX: Self = Self { wall: Duration::MAX, cpu: Duration::MAX, caller: Duration::MAX };

    fn min(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu), caller: self.caller.min(other.caller) }
    }
}

/// Wall time for `threads` threads. The share that does not get quicker with the second thread is taken to be serial, and the
/// calling thread has at least its own work to do.
fn predicted(one: &Cost, two: &Cost, readers: Readers, threads: u32) -> Duration {
    let serial = (two.wall * 2).saturating_sub(one.wall).min(two.wall);
    match readers {
        Readers::One => two.wall,
        Readers::Any => (serial + (one.wall - serial.min(one.wall)) / threads).max(two.caller),
    }
}

pub(crate) fn run() -> Result<bool> {
    println!("threads: {RECORDS} records each; best of {ROUNDS}, in ms");
    println!("  {:<28} {:>16} {:>28} {:>18}", "", "1 thread", "2 threads", "predicted wall for");
    println!(
        "  {:<28} {:>8} {:>7} {:>8} {:>7} {:>11} {:>9} {:>8} {:>10} {:>9}",
        "", "wall", "CPU", "wall", "CPU", "caller's", "8", "16", "wall 2/1", "CPU 2/1"
    );
    for Work { name, make, run, readers } in WORKS {
        let file = tempfile::NamedTempFile::new()?;
        make(BufWriter::new(file.reopen()?), RECORDS)?;
        let mut best = [Cost::MAX; 2];
        for _ in 0..ROUNDS {
            for (threads, best) in (1..).zip(&mut best) {
                *best = best.min(cost(&open(file.path(), threads)?, *run)?);
            }
        }
        let [one, two] = best;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (wall, cpu) = (two.wall.div_duration_f64(one.wall), two.cpu.div_duration_f64(one.cpu));
        print!("  {name:<28} {:>8.0} {:>7.0} {:>8.0} {:>7.0}", ms(one.wall), ms(one.cpu), ms(two.wall), ms(two.cpu));
        let [eight, sixteen] = [8, 16].map(|threads| ms(predicted(&one, &two, *readers, threads)));
        println!(" {:>11.0} {eight:>9.0} {sixteen:>8.0} {wall:>10.2} {cpu:>9.2}", ms(two.caller));
    }
    Ok(true)
}

fn open(path: &Path, threads: usize) -> Result<Trace> {
    let mut options = Options::default();
    options.read.limits = Limits::with(|limits| limits.threads = threads);
    Trace::new(path, Source::open(path, &options.read.limits)?, None, &options)
}

fn cost(trace: &Trace, run: fn(&Trace) -> Result<()>) -> Result<Cost> {
    let (wall, cpu, caller) = (Instant::now(), process_time(), thread_time());
    run(trace)?;
    Ok(Cost { wall: wall.elapsed(), cpu: process_time() - cpu, caller: thread_time() - caller })
}

/// Builds every table and drops it.
fn tables(trace: &Trace) -> Result<()> {
    pour(trace, &Filter::default(), Wanted::everything(), |_, _| Ok(()))
}

fn statistics(trace: &Trace) -> Result<()> {
    stats::of_traces([trace], &stats::Options::default()).map(drop)
}

fn flames(trace: &Trace) -> Result<()> {
    flame::stacks(trace, flame::Options::default()).map(drop)
}

fn memory_report(trace: &Trace) -> Result<()> {
    memory::memory(trace, &Filter::default(), &memory::Options::default()).map(drop)
}

fn export(trace: &Trace, target: &str) -> Result<()> {
    write(by_id(target)?, trace, &traceloom_export::Options::default(), &mut io::sink()).map(drop)
}

#[cfg(feature = "sql")]
fn group_by(trace: &Trace) -> Result<()> {
    let options = traceloom_query::Options { threads: Some(trace.options.read.limits.threads), ..Default::default() };
    let session = traceloom_query::Session::new(vec![trace.clone()], Vec::new(), &options)?;
    crate::query::answered(&session, crate::query::BY_NAME).map(drop)
}

#[cfg(feature = "sql")]
fn store(trace: &Trace) -> Result<()> {
    use traceloom_query::store;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store");
    store::write(std::slice::from_ref(trace), &path, &store::Options::default(), &mut |_| ()).map(drop)
}
