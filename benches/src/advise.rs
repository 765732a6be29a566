//! Advice: planted problems, clean traces, and the cost of 5 million spans.

use traceloom_analysis::{
    advise::{self, Weight},
    stats,
};
use traceloom_core::Result;
use traceloom_mapping::{Options, Trace};
use traceloom_testkit::planted::{Blame, Score};

use crate::{
    easyprofiler,
    measure::{cpu_times, forget_peak, peak_bytes, row},
};

const SPANS: u64 = 5_000_000;
const SEEDS: std::ops::Range<u64> = 1000..1020;

pub(crate) fn run() -> Result<bool> {
    let score = Score::of(SEEDS, blames)?;
    println!("advise: {} kinds of problems, {} kinds of clean traces", score.problems.len(), score.clean.len());
    print!("{}", score.table());
    // Bars are upper limits, so misses are shown instead of recall.
    let mut met = row("problems that are not blamed first", 1.0 - score.recall_at_one(), "of all", 0.1);
    met &= row("problems that are not among the first three", 1.0 - score.recall_at_three(), "of all", 0.07);
    met &= row("false alarms", score.false_alarms(), "per clean trace", 0.1);
    let (_file, source) = easyprofiler::generated(SPANS)?;
    let trace = Trace::new("large.prof".as_ref(), source.clone(), None, &Options::default())?;
    forget_peak();
    let resting = peak_bytes();
    advise(&trace)?;
    let used = peak_bytes().saturating_sub(resting);
    let [counting, advising] = cpu_times([
        &mut || stats::of_traces(std::slice::from_ref(&trace), &stats::Options::default()).map(drop),
        &mut || advise(&trace).map(drop),
    ])?;
    met &= row("5 million spans", advising.div_duration_f64(counting), "x stats", 2.5);
    met &= row("5 million spans, memory", used as f64 / SPANS as f64, "bytes per span", 24.0);
    Ok(met)
}

fn advise(trace: &Trace) -> Result<Vec<advise::Advice>> {
    advise::of_trace(trace, &advise::Options::default())
}

fn blames(trace: &Trace) -> Result<Vec<Blame>> {
    let blames = advise(trace)?.into_iter().map(|advice| Blame {
        is_alarm: advice.weight <= Weight::Medium,
        name: advice.subject,
        place: advice.place,
        text: advice.message,
    });
    Ok(blames.collect())
}
