//! `advise`: problems, each with its cause, evidence and query.
//!
//! One pass measures (`measure`); a second, short pass examines only what the first found suspicious (`look`);
//! detectors turn the results into advice (`detect`), which is ranked by severity and by the savings of a fix.

mod detect;
mod json;
mod look;
mod measure;
mod report;
mod robust;
mod words;

use traceloom_core::Result;
use traceloom_model::{Filter, TableSource};

pub(crate) use self::measure::Measured;
use self::{
    detect::{Case, hot, logs, memory, names, slow, slow::Suspect, threads, values},
    look::Questions,
};
pub use self::{
    json::to_json,
    measure::logs::Level as LogLevel,
    report::{Advice, Evidence, Rule, SlowSpan, Unit, Weight},
};

/// Thresholds that depend on the program; all others are derived from the trace.
#[derive(Clone, Debug)]
pub struct Options {
    /// The time budget of a frame.
    pub budget_ns: u64,
    /// A name with a larger share of the busy time is hot.
    pub hot: f64,
    /// A slow span takes at least this many times the median of its series.
    pub spike: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { budget_ns: 16_666_667, hot: 0.1, spike: 1.3 }
    }
}

/// The problems of one trace, most serious first.
pub fn of_trace(trace: &(impl TableSource + ?Sized), options: &Options) -> Result<Vec<Advice>> {
    let _kept = trace.keep();
    let mut measured = Measured::default();
    trace.pour(&Filter::default(), &mut measured)?;
    Ok(study(trace, measured, options, false)?.advice)
}

/// The results for a measured trace.
#[derive(Debug, Default)]
pub(crate) struct Study {
    /// The problems, most serious first.
    pub(crate) advice: Vec<Advice>,
    /// Slow spans, or else the longest frames, each with its cause.
    pub(crate) slow: Vec<SlowSpan>,
}

/// Examines what the first pass found suspicious, and the longest frames if they are to be listed anyway.
pub(crate) fn study(
    trace: &(impl TableSource + ?Sized),
    mut measured: Measured,
    options: &Options,
    lists_frames: bool,
) -> Result<Study> {
    let suspects = slow::suspects(&measured, options);
    let longest = if lists_frames { slow::longest_frames(&measured, options, &suspects) } else { None };
    let of_interest = suspects.iter().chain(&longest);
    let mut questions = Questions {
        windows: of_interest.map(|suspect| slow::windows(suspect, &measured)).collect(),
        intervals: threads::candidates(&measured),
        lost_frees: std::mem::take(&mut measured.memory.lost_frees),
    };
    let twice = questions.ask(trace, &mut measured)?;
    let burst = logs::error_burst(&measured.logs);
    let first_line = match &burst {
        Some(burst) => look::first_line(trace, &mut measured, burst.site, burst.first_ns)?,
        None => None,
    };
    let case = Case { measured: &measured, questions: &questions, first_line, options };
    let mut all = slow::advice(&case, &suspects);
    all.extend(burst.as_ref().map(|burst| logs::errors(&case, burst)));
    all.extend(logs::storm(&case));
    all.extend(memory::double_frees(&case, &twice));
    all.extend(memory::leaks_and_churn(&case));
    all.extend(threads::convoys(&case).or_else(|| threads::contention(&case)));
    all.extend(threads::pools(&case));
    all.extend(names::slowdowns(&case));
    all.extend(names::tiny(&case));
    all.extend(names::recursion(&case));
    all.extend(values::growing(&case));
    all.extend(hot::names(&case));
    all.extend(hot::lines(&case));
    let suspects: Vec<Suspect> = suspects.into_iter().chain(longest).collect();
    Ok(Study { advice: ranked(all), slow: slow::listed(&case, &suspects) })
}

/// Sorts by severity, then problems before hot spots, then by the savings of a fix. A name is blamed once per kind of
/// problem.
fn ranked(mut all: Vec<Advice>) -> Vec<Advice> {
    all.sort_by(|one, other| {
        let rank = |advice: &Advice| (advice.weight, advice.rule.is_profile());
        rank(one)
            .cmp(&rank(other))
            .then_with(|| other.saved.total_cmp(&one.saved))
            .then_with(|| (one.rule, &one.subject).cmp(&(other.rule, &other.subject)))
    });
    all
}
