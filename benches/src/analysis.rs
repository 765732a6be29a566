//! Analysis: from the bytes of a file to a report.

use traceloom_analysis::{diff, stats};
use traceloom_core::Result;
use traceloom_mapping::{Options, Trace};

use crate::{
    easyprofiler,
    measure::{baseline, cpu_times, forget_peak, peak_bytes, row},
};

const SPANS: u64 = 5_000_000;

pub(crate) fn run() -> Result<bool> {
    let (_file, source) = easyprofiler::generated(SPANS)?;
    let open = |name: &str| Trace::new(name.as_ref(), source.clone(), None, &Options::default());
    let (before, after) = ([open("before.prof")?], [open("after.prof")?]);
    let spans: u64 = stats(&before)?.spans.iter().map(|row| row.calls).sum();
    println!("analysis: easyprofiler, {spans} spans, {} MB", source.len()? / 1_000_000);
    forget_peak();
    let resting = peak_bytes();
    stats(&before)?;
    let counted = peak_bytes();
    let [base, counting, comparing] =
        cpu_times([&mut || baseline(&source), &mut || stats(&before).map(drop), &mut || {
            diff::of_traces(&before, &after, &diff::Options::default()).map(drop)
        }])?;
    println!("  baseline: {:.1} ms", base.as_secs_f64() * 1e3);
    let mut met = row("stats", counting.div_duration_f64(base), "x baseline", 8.0);
    met &= row("diff of two such files", comparing.div_duration_f64(base), "x baseline", 20.0);
    met &= row("stats, memory", counted.saturating_sub(resting) as f64 / spans as f64, "bytes per span", 24.0);
    Ok(met)
}

fn stats(traces: &[Trace]) -> Result<stats::Report> {
    stats::of_traces(traces, &stats::Options::default())
}
