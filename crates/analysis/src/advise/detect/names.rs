//! Names that become slower, are called very often, or call themselves.

use super::Case;
use crate::advise::{
    measure::spans::{Cell, NameUse},
    report::{Advice, Evidence, Rule, Unit, Weight},
    robust::change,
    words::{counted, percent, quoted, time, times},
};

/// Minimum slowdown factor after the change.
const SLOWER: f64 = 1.2;
/// Minimum size of the change, in deviations.
const STRENGTH: f64 = 5.0;
/// Minimum number of time cells with calls.
const MIN_CELLS: usize = 16;
const MIN_CALLS: u64 = 40;

/// Names whose calls become slower at some time; a name is also blamed for the slowdown of its callers.
pub(in crate::advise) fn slowdowns(case: &Case<'_>) -> Vec<Advice> {
    let names = (0..).zip(&case.measured.spans.names);
    let mut all: Vec<Advice> = names.filter_map(|(number, one)| slowdown(case, number, one)).collect();
    all.sort_by(|one, other| {
        (&one.subject, one.weight).cmp(&(&other.subject, other.weight)).then(other.saved.total_cmp(&one.saved))
    });
    all.dedup_by(|one, other| one.subject == other.subject);
    all.sort_by(|one, other| one.weight.cmp(&other.weight).then(other.saved.total_cmp(&one.saved)));
    all.truncate(3);
    all
}

fn slowdown(case: &Case<'_>, number: u32, one: &NameUse) -> Option<Advice> {
    let measured = case.measured;
    let is_small = (one.total_ns as f64) < measured.busy_ns() * 0.01;
    if one.role.is_waiting() || is_small || one.count < MIN_CALLS {
        return None;
    }
    let cells = one.cells.as_deref()?;
    let used: Vec<usize> = (0..cells.len()).filter(|cell| cells[*cell].count > 0).collect();
    let means: Vec<f64> =
        used.iter().map(|cell| cells[*cell].total_ns as f64 / f64::from(cells[*cell].count)).collect();
    let change = change(&means).filter(|_| means.len() >= MIN_CELLS)?;
    let ratio = change.after / change.before.max(1.0);
    if ratio < SLOWER || change.strength < STRENGTH {
        return None;
    }
    let at = used[change.at];
    let later: u64 = used[change.at..].iter().map(|cell| u64::from(cells[*cell].count)).sum();
    let (blamed, extra_ns) = grown(case, number, at)?;
    // A slowdown that no name inside explains is waiting, or more of the same work.
    if measured.spans.names[blamed as usize].role.is_waiting() || extra_ns < (change.after - change.before) * 0.2 {
        return None;
    }
    let saved = extra_ns * later as f64 / measured.extent();
    let (name, outer) = (measured.name(blamed), measured.name(number));
    let at_ns = measured.spans.clock.start_ns(at);
    let inside =
        if blamed == number { String::new() } else { format!("; {name} takes {} more per {outer}", time(extra_ns)) };
    Some(Advice {
        rule: Rule::Slowdown,
        weight: match saved {
            0.1.. if ratio >= 1.5 => Weight::High,
            0.005.. => Weight::Medium,
            _ => Weight::Low,
        },
        subject: name.to_owned(),
        place: None,
        cause: format!("{} more per {outer} than before", time(extra_ns)),
        message: format!(
            "from {} on, {outer} takes {} as long: {} per call before, {} after{inside}",
            time(at_ns.saturating_sub(measured.spans.clock.start_ns(0)) as f64),
            times(ratio),
            time(change.before),
            time(change.after)
        ),
        saved: saved.clamp(0.0, 1.0),
        count: later,
        evidence: vec![
            Evidence::new(format!("per {outer} before"), change.before, Unit::Nanoseconds),
            Evidence::new(format!("per {outer} after"), change.after, Unit::Nanoseconds).at(at_ns),
            Evidence::new(format!("more in {name}"), extra_ns, Unit::Nanoseconds),
            Evidence::count("calls after the change", later),
        ],
        query: format!(
            "SELECT ts_ns < {at_ns} AS before, COUNT(*) AS calls, AVG(dur_ns) AS dur_ns FROM spans WHERE name = {} GROUP BY 1",
            quoted(name)
        ),
    })
}

/// The name whose self time per call of another name grows most at a time, and by how much.
fn grown(case: &Case<'_>, outer: u32, at: usize) -> Option<(u32, f64)> {
    let names = &case.measured.spans.names;
    let calls = names[outer as usize].cells.as_deref()?;
    let count = |cells: &[Cell]| cells.iter().map(|cell| f64::from(cell.count)).sum::<f64>().max(1.0);
    let (before, after) = (count(&calls[..at]), count(&calls[at..]));
    let extra = |one: &NameUse| {
        let cells = one.cells.as_deref()?;
        let sum = |cells: &[Cell]| cells.iter().map(|cell| cell.self_ns as f64).sum::<f64>();
        Some(sum(&cells[at..]) / after - sum(&cells[..at]) / before)
    };
    let all = (0..).zip(names).filter_map(|(number, one)| Some((number, extra(one)?)));
    all.max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))
}

/// A storm has at least this many spans, this share of all spans, and this many times the spans of any other name.
const STORM: u64 = 1000;
const STORM_SHARE: f64 = 0.5;
const STORM_LEAD: f64 = 3.0;
/// Spans shorter than this take about as long as recording them.
const TINY_NS: f64 = 10_000.0;

pub(in crate::advise) fn tiny(case: &Case<'_>) -> Option<Advice> {
    let measured = case.measured;
    let mut counts: Vec<(u64, u32)> =
        (0..).zip(&measured.spans.names).map(|(number, one)| (one.count, number)).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let (count, number) = *counts.first()?;
    let next = counts.get(1).map_or(0, |(count, _)| *count);
    let one = &measured.spans.names[number as usize];
    let mean = one.total_ns as f64 / count.max(1) as f64;
    let share = count as f64 / measured.spans.rows.max(1) as f64;
    let is_lone = next == 0;
    if count < STORM || share < STORM_SHARE || mean > TINY_NS || (count as f64) < next as f64 * STORM_LEAD || is_lone {
        return None;
    }
    let name = measured.name(number);
    Some(Advice {
        rule: Rule::TinySpans,
        weight: Weight::Medium,
        subject: name.to_owned(),
        place: None,
        cause: format!("{} per span is about the cost of recording it", time(mean)),
        message: format!("{count} spans of {name} are {} of all spans and take {} each", percent(share), time(mean)),
        saved: (one.total_ns as f64 / measured.busy_ns()).clamp(0.0, 1.0),
        count,
        evidence: vec![
            Evidence::count("spans", count),
            Evidence::new("on average", mean, Unit::Nanoseconds),
            Evidence::new("of all spans", share, Unit::Part),
        ],
        query: format!(
            "SELECT p.name AS caller, COUNT(*) AS calls, AVG(s.dur_ns) AS dur_ns FROM spans s LEFT JOIN spans p ON p.trace_id = \
             s.trace_id AND p.id = s.parent_id WHERE s.name = {} GROUP BY p.name ORDER BY calls DESC",
            quoted(name)
        ),
    })
}

/// Recursion depths from which recursion has low and medium severity.
const DEEP: u64 = 24;
const VERY_DEEP: u64 = 64;

pub(in crate::advise) fn recursion(case: &Case<'_>) -> Option<Advice> {
    let measured = case.measured;
    let spans = (0..).zip(&measured.spans.names).filter(|(_, one)| one.count > 0).map(|(number, one)| {
        let levels = u64::from(one.max_depth.saturating_sub(one.min_depth));
        let share = one.count as f64 / measured.spans.rows.max(1) as f64;
        // A helper that is called at many depths has few of the spans; a recursive function has many.
        let explodes = levels >= 8 && share > 0.5 && one.count >= 500;
        (number, levels, one.count, one.self_ns, explodes, levels >= DEEP && one.count >= levels && share > 0.2)
    });
    let sums = measured.sums.functions.iter().filter(|_| measured.spans.rows == 0).map(|(number, one)| {
        (
            *number,
            one.max_depth,
            one.calls,
            one.self_ns,
            one.max_depth >= 8 && one.calls >= 100_000,
            one.max_depth >= DEEP,
        )
    });
    let found = spans.chain(sums).filter(|(.., explodes, is_deep)| *explodes || *is_deep);
    let (number, levels, calls, self_ns, explodes, _) = found.max_by_key(|(number, levels, ..)| (*levels, *number))?;
    let name = measured.name(number);
    let query = if measured.spans.rows > 0 {
        format!(
            "SELECT depth, COUNT(*) AS calls, SUM(self_ns) AS self_ns FROM spans WHERE name = {} GROUP BY depth ORDER BY depth",
            quoted(name)
        )
    } else {
        format!(
            "SELECT caller, file, line, count, max_depth FROM calls WHERE callee = {} ORDER BY max_depth DESC",
            quoted(name)
        )
    };
    Some(Advice {
        rule: Rule::Recursion,
        weight: if explodes || levels >= VERY_DEEP { Weight::Medium } else { Weight::Low },
        subject: name.to_owned(),
        place: None,
        cause: "it calls itself".to_owned(),
        message: format!("{name} calls itself up to {levels} levels deep, in {}", counted(calls, "call")),
        saved: (self_ns as f64 / measured.busy_ns()).clamp(0.0, 1.0),
        count: calls,
        evidence: vec![
            Evidence::count("levels", levels),
            Evidence::count(if calls == 1 { "call" } else { "calls" }, calls),
            Evidence::ns("self time", self_ns),
        ],
        query,
    })
}
