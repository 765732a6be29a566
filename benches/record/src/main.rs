//! Prints the cost of a record: the median of many bursts into rings that are already in memory, while the writer runs.

mod peers;

use std::{hint::black_box, process::ExitCode, time::Duration, time::Instant};

use traceloom_core::{
    Result,
    live::{Address, Connection, Frame},
};
use traceloom_record::{Flight, Recorder, flow, flush, info, range, span, stats, tick, value};

/// Number of records per burst; the ring holds all of them.
const BURST: u32 = 100_000;
const BURSTS: usize = 41;
const RING_BYTES: usize = 8 << 20;
/// Number of records per thread in the sustained run.
const SUSTAINED: u32 = 5_000_000;
/// Max time of a record while nothing is being recorded.
const MAX_OFF_NS: f64 = 1.0;
/// Max factor by which a viewer may increase the cost of a record.
const MAX_WATCHED: f64 = 1.2;

/// Nanoseconds per call, and how many times a clock read that is.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) ns: f64,
    pub(crate) ratio: f64,
}

/// Medians of bursts, each next to a burst of clock reads; `rest` lets the writer catch up.
///
/// Processors change their speed, so a burst is only compared with its neighbor.
pub(crate) fn cost(mut work: impl FnMut(u32), mut rest: impl FnMut()) -> Cost {
    let read = || {
        burst(|_| {
            black_box(tick());
        })
    };
    let work = || {
        let ns = burst(&mut work);
        rest();
        ns
    };
    let pairs = pairs(read, work);
    Cost { ns: median_of(&pairs, |[_, ns]| ns), ratio: median_of(&pairs, |[read, ns]| ns / read) }
}

/// What a call adds to a loop that does nothing, in nanoseconds: so little that the loop itself counts.
fn off(mut work: impl FnMut(u32)) -> f64 {
    let empty = || {
        burst(|at| {
            black_box(at);
        })
    };
    median_of(&pairs(empty, || burst(&mut work)), |[empty, ns]| ns - empty)
}

/// Times of two kinds of bursts that alternate.
pub(crate) fn pairs(mut one: impl FnMut() -> f64, mut other: impl FnMut() -> f64) -> Vec<[f64; 2]> {
    (0..BURSTS).map(|_| [one(), other()]).collect()
}

pub(crate) fn median_of(pairs: &[[f64; 2]], of: impl Fn([f64; 2]) -> f64) -> f64 {
    let mut values: Vec<f64> = pairs.iter().copied().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// CPU time of this thread per call in nanoseconds, so other programs do not count.
pub(crate) fn burst(mut work: impl FnMut(u32)) -> f64 {
    let start = thread_time();
    (0..BURST).for_each(&mut work);
    (thread_time() - start).as_secs_f64() * 1e9 / f64::from(BURST)
}

#[cfg(target_os = "linux")]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(target_os = "linux"))]
fn thread_time() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}

/// Prints a cost; returns false if it is above the bar.
pub(crate) fn row(what: &str, cost: Cost, bar: Option<f64>) -> bool {
    let met = bar.is_none_or(|bar| cost.ratio <= bar);
    let verdict = bar.map(|bar| format!("bar {bar:.1}  {}", verdict(met))).unwrap_or_default();
    println!("  {what:<44} {:>8.2} ns {:>7.2} ×  {verdict}", cost.ns, cost.ratio);
    met
}

/// Prints nanoseconds with a separate bar.
pub(crate) fn row_ns(what: &str, ns: f64, bar: f64) -> bool {
    println!("  {what:<44} {ns:>8.2} ns            bar {bar} ns  {}", verdict(ns <= bar));
    ns <= bar
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    let settle = || {
        // Errors would show as missing records below.
        let _ = flush();
    };
    println!("Bursts of {BURST} records, {} MiB rings, median of {BURSTS}, processor time", RING_BYTES >> 20);
    let read = |_| {
        black_box(tick());
    };
    row("clock read", cost(read, || ()), None);
    let mut met = true;

    let guard = Recorder::new().clog(path("a.clog")).ring_bytes(RING_BYTES).preallocate(1).start()?;
    let text = "a text of thirty-nine bytes, like a pat";
    met &= row("log without arguments", cost(|_| info!("nothing"), settle), Some(1.3));
    let numbers = cost(|at| info!("%d %d %f", black_box(at as i32), black_box(7), black_box(0.5)), settle);
    met &= row("log of two ints and a double", numbers, Some(1.6));
    met &= row("log of a 39-byte string", cost(|_| info!("%s", black_box(text)), settle), Some(2.0));
    let (records, dropped) = (stats().records, stats().dropped);
    guard.close()?;
    met &= records == 3 * BURSTS as u64 * u64::from(BURST) && dropped == 0;

    let flight = Flight { bytes: 1 << 20, age: None };
    let guard = Recorder::new().prof(path("a.prof")).flight(flight).ring_bytes(RING_BYTES).start()?;
    met &= row("span, begin and end", cost(|_| drop(span!("span")), settle), Some(2.4));
    row("value of 4 bytes", cost(|at| value!("value", black_box(at)), settle), None);
    guard.close()?;

    let guard = Recorder::new().prof(path("b.prof")).ring_bytes(RING_BYTES).preallocate(1).start()?;
    met &= row("span, begin and end, into a .prof file", cost(|_| drop(span!("span")), settle), Some(2.4));
    guard.close()?;
    met &= stats().dropped == 0;

    met &= watched(&path("live.sock"))?;
    // The first burst after a recording still counts late calls; the median leaves it out.
    met &= row_ns("log, nothing records", off(|_| info!("nothing")), MAX_OFF_NS);
    met &= row_ns("span, nothing records", off(|_| drop(span!("span"))), MAX_OFF_NS);
    met &= row_ns("value, nothing records", off(|at| value!("value", at)), MAX_OFF_NS);
    met &= row_ns("range, nothing records", off(|_| drop(range!("range"))), MAX_OFF_NS);
    let flow = |_| {
        let _flow = flow!("flow");
    };
    met &= row_ns("flow, nothing records", off(flow), MAX_OFF_NS);

    met &= peers::tracing(&path("t.prof"))?;
    peers::others(folder.path());
    sustained(&path("s.clog"))?;
    Ok(met)
}

/// The cost of a viewer for the program: the same bursts before and after it connects.
#[cfg(unix)]
fn watched(socket: &std::path::Path) -> Result<bool> {
    let guard = Recorder::new().serve(&socket.to_string_lossy()).ring_bytes(RING_BYTES).preallocate(1).start()?;
    let spans = || {
        cost(
            |_| drop(span!("watched")),
            || {
                let _ = flush();
            },
        )
    };
    let alone = spans();
    let address = Address::Unix(socket.to_owned());
    let mut connection = Connection::open(&address, &address.token()?)?;
    let viewer = std::thread::spawn(move || -> Result<u64> {
        let mut seen = 0;
        loop {
            match connection.frame()? {
                Some(Frame::End) => return Ok(seen),
                Some(frame) => seen += frame.data().len() as u64,
                None => drop(connection.read(seen, Duration::from_secs(10))?),
            }
        }
    });
    let watched = spans();
    guard.close()?;
    let seen = viewer.join().unwrap_or(Ok(0))?;
    row("span, with a place for viewers", alone, None);
    row("span, with a viewer", watched, None);
    let (ratio, unseen) = (watched.ns / alone.ns, stats().unseen);
    let is_met = ratio <= MAX_WATCHED && seen > 0;
    println!("  {:<44} {ratio:>19.2} ×  bar {MAX_WATCHED:.1}  {}", "with a viewer / without", verdict(is_met));
    println!("  {:<44} {} MB, {unseen} records missed", "the viewer got", seen / 1_000_000);
    Ok(is_met)
}

#[cfg(not(unix))]
fn watched(_: &std::path::Path) -> Result<bool> {
    Ok(true)
}

/// At the speed of the writer, without losses.
fn sustained(path: &std::path::Path) -> Result<()> {
    println!("Sustained, blocking policy, 1 MiB rings, two ints per entry");
    for threads in [1u32, 4] {
        let guard = Recorder::new().clog(path).start()?;
        let start = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                scope.spawn(move || (0..SUSTAINED).for_each(|number| info!("%u %u", thread, number)));
            }
        });
        guard.close()?;
        let (time, seen) = (start.elapsed(), stats());
        let rate = seen.records as f64 / time.as_secs_f64() / 1e6;
        let (records, lost) = (seen.records, u64::from(threads * SUSTAINED) - seen.records);
        println!("  {threads} threads: {records} entries, {lost} lost, {rate:.1} M/s, {} MB", seen.bytes / 1_000_000);
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
