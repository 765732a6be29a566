//! CPU time and memory of this process.

use std::{fs, time::Duration};

use rustix::time::{ClockId, clock_gettime};
use traceloom_core::{Limits, Result, Source, Window};

/// Number of repetitions; the best one counts, because other programs only ever add time.
const ROUNDS: usize = 9;

/// CPU time of each task, the best of several runs. The tasks alternate, so that changes in the speed of the machine
/// affect all of them.
pub(crate) fn cpu_times<const N: usize>(mut works: [&mut dyn FnMut() -> Result<()>; N]) -> Result<[Duration; N]> {
    let mut best = [Duration::MAX; N];
    for _ in 0..ROUNDS {
        for (work, best) in works.iter_mut().zip(&mut best) {
            let before = process_time();
            work()?;
            *best = (*best).min(process_time() - before);
        }
    }
    Ok(best)
}

/// CPU time of this process so far.
pub(crate) fn process_time() -> Duration {
    time_of(ClockId::ProcessCPUTime)
}

/// CPU time of this thread so far.
pub(crate) fn thread_time() -> Duration {
    time_of(ClockId::ThreadCPUTime)
}

fn time_of(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// The minimum work of a reader: the same source, the same window, a sum of the bytes.
pub(crate) fn baseline(source: &Source) -> Result<()> {
    let mut window = Window::new(source.clone(), &Limits::default());
    let mut sum = 0u64;
    loop {
        let bytes = window.fill(1)?;
        if bytes.is_empty() {
            break;
        }
        sum = bytes.iter().fold(sum, |sum, byte| sum.wrapping_add(u64::from(*byte)));
        let len = bytes.len();
        window.consume(len);
    }
    std::hint::black_box(sum);
    Ok(())
}

/// Peak memory of this process so far, in bytes.
pub(crate) fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()).and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Resets [`peak_bytes`].
pub(crate) fn forget_peak() {
    // If the system does not allow it, the peak includes everything before, so it is never too small.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Prints a row; returns whether the bar is met, which is a maximum.
pub(crate) fn row(what: &str, value: f64, unit: &str, bar: f64) -> bool {
    print(what, value, unit, bar, value <= bar)
}

/// The same for a bar that is a minimum.
#[cfg(feature = "sql")]
pub(crate) fn at_least(what: &str, value: f64, unit: &str, bar: f64) -> bool {
    print(what, value, unit, bar, value >= bar)
}

fn print(what: &str, value: f64, unit: &str, bar: f64, met: bool) -> bool {
    let verdict = if met { "met" } else { "MISSED" };
    println!("  {what:<44} {value:>8.2} {unit:<14} bar {bar:>6.2}  {verdict}");
    met
}
