//! Spans that take much longer than the others of their series, and frames that miss their budget.

use super::Case;
use crate::advise::{
    Options,
    look::{Contents, Use, Windows},
    measure::{
        Measured,
        spans::{FRAMES, Instance, Series},
    },
    report::{Advice, EVIDENCE, Evidence, Rule, SlowSpan, Unit, Weight},
    robust::{Usual, period},
    words::{Role, counted, is_frame, percent, quoted, time, times},
};

/// Minimum number of spans to know the usual duration.
const ENOUGH: u64 = 20;
/// If a larger share is slow, slow is usual.
const MAX_SLOW_SHARE: f64 = 0.12;
/// Minimum share of the trace that the slow spans cost.
const MIN_COST: f64 = 0.0002;
const MAX_SUSPECTS: usize = 16;
const MAX_FINDINGS: usize = 3;

/// A series with slow spans, or one that is slow as a whole.
#[derive(Debug)]
pub(in crate::advise) struct Suspect {
    series: usize,
    usual: Usual,
    /// The slow spans that are kept, longest first; empty if the budget is always missed.
    slow: Vec<Instance>,
    /// Number of all slow spans.
    count: u64,
}

/// Series to examine. Slow spans inside slow spans are left to the outer series, whose contents explain them.
pub(in crate::advise) fn suspects(measured: &Measured, options: &Options) -> Vec<Suspect> {
    let all = &measured.spans.series;
    let mut order: Vec<usize> = (0..all.len()).filter(|index| all[*index].count >= ENOUGH).collect();
    order.sort_by_key(|index| {
        let series = &all[*index];
        (series.name != FRAMES, series.depth, std::cmp::Reverse(series.total_ns), *index)
    });
    let mut found: Vec<Suspect> = Vec::new();
    for index in order {
        let is_waiting = measured.spans.names.get(all[index].name as usize).is_some_and(|name| name.role.is_waiting());
        let is_small = (all[index].total_ns as f64) < measured.extent() * MIN_COST;
        // Calls of a function do different amounts of work, so there is no usual duration.
        if is_waiting || is_small || all[index].is_call || found.len() >= MAX_SUSPECTS {
            continue;
        }
        let suspect = slow_ones(index, measured, options);
        let suspect = suspect.filter(|suspect| !is_explained(suspect, &found, measured));
        found.extend(suspect.or_else(|| over_budget(index, measured, options, &found)));
    }
    found
}

fn slow_ones(index: usize, measured: &Measured, options: &Options) -> Option<Suspect> {
    let series = &measured.spans.series[index];
    let usual = Usual::of(&series.samples, options.spike)?;
    if usual.max <= usual.limit {
        return None;
    }
    let mut count = 0;
    series.samples.for_each(|sample, times| count += if sample > usual.limit { times } else { 0 });
    let mut slow: Vec<Instance> =
        series.longest.iter().copied().filter(|instance| instance.dur_ns as f64 > usual.limit).collect();
    let kept = slow.len();
    without_edges(&mut slow, series.count);
    count -= (kept - slow.len()) as u64;
    let cost = cost(&slow, usual.median);
    let is_rare = count as f64 <= series.count as f64 * MAX_SLOW_SHARE;
    let is_worth_it = cost >= measured.extent() * MIN_COST;
    (!slow.is_empty() && is_rare && is_worth_it).then_some(Suspect { series: index, usual, slow, count })
}

/// Removes slow spans at the start and end of a series: caches are cold at first, and files are written last.
fn without_edges(slow: &mut Vec<Instance>, count: u64) {
    let mut indexes: Vec<u64> = slow.iter().map(|instance| instance.index).collect();
    indexes.sort_unstable();
    let mut start = count / 50;
    for index in &indexes {
        start = if *index <= start + 2 { start.max(*index) } else { start };
    }
    let mut end = count.saturating_sub(1 + count / 100);
    for index in indexes.iter().rev() {
        end = if *index + 2 >= end { end.min(*index) } else { end };
    }
    slow.retain(|instance| instance.index > start && instance.index < end);
}

fn cost(slow: &[Instance], median: f64) -> f64 {
    slow.iter().map(|instance| instance.dur_ns as f64 - median).sum()
}

fn is_explained(suspect: &Suspect, found: &[Suspect], measured: &Measured) -> bool {
    let thread = measured.spans.series[suspect.series].thread;
    let outer: Vec<&Instance> = found
        .iter()
        .filter(|other| measured.spans.series[other.series].thread == thread)
        .flat_map(|other| &other.slow)
        .collect();
    let is_inside = |one: &&Instance| outer.iter().any(|other| other.ts_ns <= one.ts_ns && one.ts_ns < other.end_ns());
    suspect.slow.iter().filter(is_inside).count() * 2 >= suspect.slow.len()
}

/// A series of frames most of which exceed the budget; one series is enough.
fn over_budget(index: usize, measured: &Measured, options: &Options, found: &[Suspect]) -> Option<Suspect> {
    let series = &measured.spans.series[index];
    let is_known = found.iter().any(|other| other.slow.is_empty() || other.series == index);
    if is_known || !(series.name == FRAMES || is_frame(measured.name(series.name))) {
        return None;
    }
    let usual = Usual::of(&series.samples, options.spike)?;
    let mut count = 0;
    series.samples.for_each(|sample, times| count += if sample > options.budget_ns as f64 { times } else { 0 });
    let is_missed = count as f64 >= series.count as f64 * 0.6 && usual.median > options.budget_ns as f64 * 1.05;
    is_missed.then_some(Suspect { series: index, usual, slow: Vec::new(), count })
}

/// The windows that explain a suspect.
pub(in crate::advise) fn windows(suspect: &Suspect, measured: &Measured) -> Windows {
    let series = &measured.spans.series[suspect.series];
    let limit =
        if suspect.slow.is_empty() { f64::INFINITY } else { suspect.usual.limit.min(suspect.usual.median * 1.25) };
    let usual = series.examples.iter().filter(|instance| instance.dur_ns as f64 <= limit);
    let times = |one: &Instance| (one.ts_ns, one.end_ns());
    Windows::new((series.thread, series.depth), usual.map(times), suspect.slow.iter().map(times))
}

/// Why spans are slow.
struct Reason {
    /// The name that causes the slowness.
    name: u32,
    /// Its time above the usual time, in all slow spans.
    extra_ns: f64,
    /// Its time in the worst span.
    worst_ns: u64,
    cause: String,
    /// Other names that take longer than usual, with their extra time.
    others: Vec<(u32, f64)>,
    is_waiting: bool,
    is_off: bool,
}

pub(in crate::advise) fn advice(case: &Case<'_>, suspects: &[Suspect]) -> Vec<Advice> {
    let with_windows = suspects.iter().zip(&case.questions.windows);
    let mut all: Vec<Advice> = with_windows
        .filter_map(|(suspect, windows)| {
            if suspect.slow.is_empty() { missed(case, suspect, windows) } else { Some(spike(case, suspect, windows)) }
        })
        .collect();
    all.sort_by(|one, other| one.weight.cmp(&other.weight).then(other.saved.total_cmp(&one.saved)));
    all.truncate(MAX_FINDINGS);
    all
}

/// Max number of slow spans to list.
const MAX_LISTED: usize = 10;

/// The slow spans of all suspects, each with its cause, longest first per suspect.
pub(in crate::advise) fn listed(case: &Case<'_>, suspects: &[Suspect]) -> Vec<SlowSpan> {
    let with_windows = suspects.iter().zip(&case.questions.windows);
    let all = with_windows.flat_map(|(suspect, windows)| {
        let slow = suspect.slow.iter().zip(windows.each_slow());
        slow.filter(|(_, contents)| contents.windows > 0).map(|(one, contents)| {
            slow_span(case, suspect, one, &Compared { slow: contents, usual: windows.usual(), worst: contents })
        })
    });
    all.take(MAX_LISTED).collect()
}

fn slow_span(case: &Case<'_>, suspect: &Suspect, one: &Instance, compared: &Compared<'_>) -> SlowSpan {
    let series = &case.measured.spans.series[suspect.series];
    let reason = reason(case.measured, series, compared, suspect.usual.median);
    SlowSpan {
        name: case.measured.name(series.name).to_owned(),
        thread: case.thread(series.thread),
        ts_ns: one.ts_ns,
        dur_ns: one.dur_ns,
        median_ns: suspect.usual.median,
        is_slow: one.dur_ns as f64 > suspect.usual.limit,
        blamed: case.measured.name(reason.name).to_owned(),
        blamed_ns: reason.worst_ns.min(one.dur_ns),
        cause: reason.cause,
    }
}

/// The longest frames of a trace without slow frames; they are listed but are not advice.
pub(in crate::advise) fn longest_frames(measured: &Measured, options: &Options, found: &[Suspect]) -> Option<Suspect> {
    if found.iter().any(|suspect| !suspect.slow.is_empty()) {
        return None;
    }
    let is_of_frames = |series: &Series| series.name == FRAMES || is_frame(measured.name(series.name));
    let all = measured.spans.series.iter().enumerate();
    let frames = all.filter(|(_, series)| series.count >= ENOUGH && is_of_frames(series));
    let (index, series) =
        frames.max_by_key(|(index, series)| (series.name == FRAMES, series.total_ns, std::cmp::Reverse(*index)))?;
    let usual = Usual::of(&series.samples, options.spike)?;
    let slow = series.longest.iter().copied().take(EVIDENCE).collect();
    Some(Suspect { series: index, usual, slow, count: 0 })
}

fn spike(case: &Case<'_>, suspect: &Suspect, windows: &Windows) -> Advice {
    let Case { measured, options, .. } = case;
    let series = &measured.spans.series[suspect.series];
    let Usual { median, limit, .. } = suspect.usual;
    let worst = suspect.slow[0];
    let ratio = worst.dur_ns as f64 / median;
    let saved = (cost(&suspect.slow, median) / measured.extent()).min(1.0);
    let slow = windows.slow();
    let worst_contents = windows.each_slow().first().unwrap_or(&slow);
    let reason =
        reason(measured, series, &Compared { slow: &slow, usual: windows.usual(), worst: worst_contents }, median);
    let is_visible = worst.dur_ns >= options.budget_ns;
    // If the self time varies, there is often just more work.
    let is_unexplained = reason.name == series.name && !reason.is_off && (ratio < 3.0 || saved < 0.005);
    let weight = match ratio {
        _ if reason.is_waiting || is_unexplained => Weight::Low,
        3.0.. if is_visible || saved > 0.05 => Weight::High,
        1.5.. => Weight::Medium,
        _ => Weight::Low,
    };
    let blamed = measured.name(reason.name);
    let noun = noun(series, measured);
    let times_of: Vec<i64> = suspect.slow.iter().map(|instance| instance.ts_ns).collect();
    let rhythm = period(&times_of).map_or_else(String::new, |step| format!(", one every {}", time(step)));
    let why = if reason.name == series.name {
        format!("the time is in {blamed} itself")
    } else if 2.0 * reason.worst_ns as f64 >= worst.dur_ns as f64 - median {
        format!("{blamed} took {} of the worst", time(reason.worst_ns as f64))
    } else {
        // It explains most of the slow spans, but not the slowest.
        format!("{blamed} took {} more than usual in total", time(reason.extra_ns.max(0.0)))
    };
    let mut evidence: Vec<Evidence> = suspect
        .slow
        .iter()
        .take(EVIDENCE)
        .map(|one| Evidence::ns(format!("on {}", case.thread(series.thread)), one.dur_ns).at(one.ts_ns))
        .collect();
    evidence.push(Evidence::new("median", median, Unit::Nanoseconds));
    evidence.push(Evidence::new(
        format!("more than usual in {blamed}, total of all slow spans"),
        reason.extra_ns.max(0.0),
        Unit::Nanoseconds,
    ));
    evidence.extend(reason.others.iter().map(|(name, extra_ns)| {
        Evidence::new(format!("more than usual in {}", measured.name(*name)), *extra_ns, Unit::Nanoseconds)
    }));
    Advice {
        rule: Rule::FrameSpike,
        weight,
        subject: blamed.to_owned(),
        place: None,
        message: format!(
            "{}: up to {}, {} the median{rhythm}; {why}{}",
            counted(suspect.count, &format!("slow {noun}")),
            time(worst.dur_ns as f64),
            times(ratio),
            if reason.is_off { format!(" ({})", reason.cause) } else { String::new() }
        ),
        cause: reason.cause,
        saved,
        count: suspect.count,
        evidence,
        query: format!(
            "SELECT id, thread_id, ts_ns, dur_ns FROM spans WHERE {} AND dur_ns > {} ORDER BY dur_ns DESC",
            which(series, measured),
            limit as u64
        ),
    }
}

fn missed(case: &Case<'_>, suspect: &Suspect, windows: &Windows) -> Option<Advice> {
    let Case { measured, options, .. } = case;
    let series = &measured.spans.series[suspect.series];
    let usual = windows.usual();
    let role = |name: u32| measured.spans.names.get(name as usize).map_or(Role::Work, |name| name.role);
    let waited: u64 =
        usual.names.iter().filter(|(name, _)| role(**name).is_waiting()).map(|(_, one)| one.self_ns).sum();
    let frames = usual.windows.max(1) as f64;
    let busy_ns = (usual.dur_ns.saturating_sub(waited)) as f64 / frames;
    // A frame that waits for the display has time to spare.
    if busy_ns <= options.budget_ns as f64 {
        return None;
    }
    let is_work = |name: &u32| *name != series.name && !role(*name).is_waiting();
    let (name, one) =
        dominant(usual, |name, one| (is_work(&name)).then_some(one.total_ns as f64), busy_ns * frames, 0.5)
            .or_else(|| {
                usual
                    .names
                    .iter()
                    .filter(|(name, _)| is_work(name))
                    .max_by_key(|(name, one)| (one.self_ns, **name))
                    .map(|(name, one)| (*name, *one))
            })
            .unwrap_or((series.name, Use { total_ns: usual.dur_ns, ..Default::default() }));
    let blamed = measured.name(name);
    let (median, budget) = (suspect.usual.median, options.budget_ns as f64);
    let share = suspect.count as f64 / series.count as f64;
    let part_ns = one.total_ns as f64 / frames;
    Some(Advice {
        rule: Rule::MissedBudget,
        weight: if median > budget * 2.0 { Weight::High } else { Weight::Medium },
        subject: blamed.to_owned(),
        place: None,
        cause: format!("{blamed} takes {} of the frame time", percent(part_ns / (usual.dur_ns as f64 / frames))),
        message: format!(
            "{} of {} exceed the budget of {}: median {}; {blamed} takes {} per frame",
            percent(share),
            counted(series.count, &noun(series, measured)),
            time(budget),
            time(median),
            time(part_ns)
        ),
        saved: ((busy_ns - budget) / busy_ns).clamp(0.0, 1.0),
        count: suspect.count,
        evidence: vec![
            Evidence::new("median", median, Unit::Nanoseconds),
            Evidence::new("budget", budget, Unit::Nanoseconds),
            Evidence::new(format!("in {blamed} per frame"), part_ns, Unit::Nanoseconds),
        ],
        query: format!(
            "SELECT id, thread_id, ts_ns, dur_ns FROM spans WHERE {} AND dur_ns > {} ORDER BY dur_ns DESC",
            which(series, measured),
            options.budget_ns
        ),
    })
}

fn noun(series: &Series, measured: &Measured) -> String {
    let name = measured.name(series.name);
    if series.name == FRAMES || name.eq_ignore_ascii_case("frame") {
        "frame".to_owned()
    } else {
        format!("{name} span")
    }
}

fn which(series: &Series, measured: &Measured) -> String {
    if series.name == FRAMES {
        "category = 'frame'".to_owned()
    } else {
        format!("name = {}", quoted(measured.name(series.name)))
    }
}

/// The deepest name with at least the given share of the whole.
fn dominant(
    contents: &Contents,
    part: impl Fn(u32, &Use) -> Option<f64>,
    whole: f64,
    share: f64,
) -> Option<(u32, Use)> {
    let names = contents.names.iter().filter(|(name, one)| part(**name, one).is_some_and(|part| part >= whole * share));
    names.max_by_key(|(name, one)| (one.depth, one.self_ns, **name)).map(|(name, one)| (*name, *one))
}

/// The contents of slow and of usual spans.
struct Compared<'a> {
    slow: &'a Contents,
    usual: &'a Contents,
    /// The contents of the slowest span.
    worst: &'a Contents,
}

/// Compares the contents of slow and usual spans.
fn reason(measured: &Measured, series: &Series, compared: &Compared<'_>, median: f64) -> Reason {
    let Compared { slow, usual, worst } = *compared;
    let share = slow.windows as f64 / usual.windows.max(1) as f64;
    let usual_of = |name: u32| usual.names.get(&name).copied().unwrap_or_default();
    let extra_total = |name: u32, one: &Use| one.total_ns as f64 - usual_of(name).total_ns as f64 * share;
    let extra_self = |name: u32, one: &Use| one.self_ns as f64 - usual_of(name).self_ns as f64 * share;
    let cost = slow.dur_ns as f64 - median * slow.windows as f64;
    let inside = |name: u32, one: &Use| (name != series.name).then(|| extra_total(name, one));
    let mut by_self: Vec<(u32, f64)> = slow.names.iter().map(|(name, one)| (*name, extra_self(*name, one))).collect();
    by_self.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let main = dominant(slow, inside, cost, 0.6).map(|(name, _)| name);
    // Time that no span covers belongs to the series itself.
    let name = main
        .or_else(|| by_self.first().filter(|(_, extra)| *extra >= cost * 0.2).map(|(name, _)| *name))
        .unwrap_or(series.name);
    let one = slow.names.get(&name).copied().unwrap_or_default();
    let role = measured.spans.names.get(name as usize).map_or(Role::Work, |name| name.role);
    let off_ns = slow.off_ns as f64 - usual.off_ns as f64 * share;
    let is_off = off_ns >= cost * 0.5;
    let calls = usual_of(name).count as f64 * share;
    let cause = match () {
        () if is_off => {
            let ran = slow
                .off
                .iter()
                .max_by_key(|(name, off_ns)| (**off_ns, **name))
                .map_or("", |(name, _)| measured.name(*name));
            format!("off CPU for {} in total, while {ran} ran", time(off_ns))
        }
        () if role == Role::Gc => "garbage collection".to_owned(),
        () if role == Role::Lock => "waiting for a lock".to_owned(),
        () if role == Role::Wait => "waiting".to_owned(),
        () if name == series.name => "self time".to_owned(),
        () if one.count as f64 > calls * 1.5 + 0.5 => format!("{} instead of {calls:.0}", counted(one.count, "call")),
        () => "the calls take longer".to_owned(),
    };
    let others = by_self.iter().filter(|(other, extra)| *other != name && *extra >= cost * 0.2);
    Reason {
        name,
        extra_ns: if name == series.name { extra_self(name, &one) } else { extra_total(name, &one) },
        worst_ns: worst.names.get(&name).map_or(0, |one| if name == series.name { one.self_ns } else { one.total_ns }),
        cause,
        others: others.take(2).copied().collect(),
        is_waiting: role == Role::Wait && !is_off,
        is_off,
    }
}
