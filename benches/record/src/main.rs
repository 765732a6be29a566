//! Prints what a record costs: bursts into rings that are in memory already, with the writer running, the median of many.

mod peers;

use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

use traceloom_core::Result;
use traceloom_record::{Flight, Recorder, flush, info, span, stats, tick, value};

/// Records of a burst; the ring holds all of them.
pub(crate) const BURST: u32 = 100_000;
const BURSTS: usize = 41;
const RING_BYTES: usize = 16 << 20;
/// Records of each thread in the sustained run.
const SUSTAINED: u32 = 5_000_000;

/// Nanoseconds for one call, the median of bursts; `rest` lets the writer catch up between them.
pub(crate) fn median(mut work: impl FnMut(u32), mut rest: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..BURSTS)
        .map(|_| {
            let start = Instant::now();
            (0..BURST).for_each(&mut work);
            let time = start.elapsed().as_secs_f64() * 1e9 / f64::from(BURST);
            rest();
            time
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[BURSTS / 2]
}

fn row(what: &str, ns: f64, clock: f64, bar: Option<f64>) -> bool {
    let ratio = ns / clock;
    let verdict = match bar {
        Some(bar) if ratio <= bar => format!("bar {bar:.1}  met"),
        Some(bar) => format!("bar {bar:.1}  MISSED"),
        None => String::new(),
    };
    println!("  {what:<44} {ns:>8.2} ns {ratio:>7.2} ×  {verdict}");
    bar.is_none_or(|bar| ratio <= bar)
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
    let clock = median(
        |_| {
            black_box(tick());
        },
        || (),
    );
    println!("Bursts of {BURST} records, {} MiB rings, median of {BURSTS}", RING_BYTES >> 20);
    row("clock read", clock, clock, None);
    let mut met = true;

    let guard = Recorder::new().clog(path("a.clog")).ring_bytes(RING_BYTES).start()?;
    let text = "a text of thirty-nine bytes, like a pat";
    met &= row("log without arguments", median(|_| info!("nothing"), settle), clock, Some(1.3));
    let numbers = median(|at| info!("%d %d %f", black_box(at as i32), black_box(7), black_box(0.5)), settle);
    met &= row("log of two ints and a double", numbers, clock, Some(1.6));
    met &= row("log of a 39-byte string", median(|_| info!("%s", black_box(text)), settle), clock, Some(2.0));
    let (records, dropped) = (stats().records, stats().dropped);
    guard.close()?;
    met &= records == 3 * BURSTS as u64 * u64::from(BURST) && dropped == 0;

    let flight = Flight { bytes: 1 << 20, age: None };
    let guard = Recorder::new().prof(path("a.prof")).flight(flight).ring_bytes(RING_BYTES).start()?;
    met &= row("span, begin and end", median(|_| drop(span!("span")), settle), clock, Some(2.4));
    row("value of 4 bytes", median(|at| value!("value", black_box(at)), settle), clock, None);
    guard.close()?;

    let off = median(|_| info!("nothing"), || ());
    println!("  {:<44} {off:>8.2} ns            bar 1.0 ns  {}", "log, nothing records", verdict(off <= 1.0));
    let off_span = median(|_| drop(span!("span")), || ());
    println!(
        "  {:<44} {off_span:>8.2} ns            bar 1.0 ns  {}",
        "span, nothing records",
        verdict(off_span <= 1.0)
    );
    met &= off <= 1.0 && off_span <= 1.0;

    met &= peers::tracing(&path("t.prof"), clock)?;
    peers::others(folder.path(), clock);
    sustained(&path("s.clog"))?;
    Ok(met)
}

pub(crate) fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// As fast as the writer can, with nothing lost.
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
