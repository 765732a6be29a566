//! Names, functions and lines with a large share of the self time.

use std::borrow::Cow;

use super::Case;
use crate::advise::{
    report::{Advice, Evidence, Rule, Unit, Weight},
    words::{counted, percent, quoted, time},
};

/// Max number of hot names to list.
const MAX_HOT: usize = 3;
/// Share from which a name that stands out from the others has medium severity.
const DOMINANT: f64 = 0.5;

/// A candidate; there may be very many, of which few are listed, so texts are made for those.
struct Hot<'m> {
    name: Cow<'m, str>,
    is_place: bool,
    calls: u64,
    callers: u64,
    self_ns: u64,
    /// The query, and the name that it is about.
    query: (fn(&str) -> String, &'m str),
}

pub(in crate::advise) fn names(case: &Case<'_>) -> Vec<Advice> {
    let measured = case.measured;
    let mut hot: Vec<Hot<'_>> = if measured.spans.rows > 0 { of_spans(case) } else { of_functions(case) };
    let whole: f64 = hot.iter().map(|one| one.self_ns as f64).sum::<f64>();
    hot.sort_by(|one, other| other.self_ns.cmp(&one.self_ns).then_with(|| one.name.cmp(&other.name)));
    listed(&hot, whole, Rule::HotName, case)
}

fn of_spans<'m>(case: &Case<'m>) -> Vec<Hot<'m>> {
    let names = (0..).zip(&case.measured.spans.names).filter(|(_, one)| one.self_ns > 0 && !one.role.is_waiting());
    let hot = names.map(|(number, one)| {
        let name = case.measured.name(number);
        let (calls, self_ns) = (one.count, one.self_ns);
        Hot { name: name.into(), is_place: false, calls, callers: 0, self_ns, query: (callers_of_span, name) }
    });
    hot.collect()
}

fn callers_of_span(name: &str) -> String {
    format!(
        "SELECT p.name AS caller, COUNT(*) AS calls, SUM(s.self_ns) AS self_ns FROM spans s LEFT JOIN spans p ON p.trace_id = \
         s.trace_id AND p.id = s.parent_id WHERE s.name = {} GROUP BY p.name ORDER BY self_ns DESC",
        quoted(name)
    )
}

fn of_functions<'m>(case: &Case<'m>) -> Vec<Hot<'m>> {
    let hot = case.measured.sums.functions.iter().map(|(number, one)| {
        let name = case.measured.name(*number);
        Hot {
            name: name.into(),
            is_place: false,
            calls: one.calls,
            callers: one.callers,
            self_ns: one.self_ns,
            query: (callers_of_function, name),
        }
    });
    hot.collect()
}

fn callers_of_function(name: &str) -> String {
    format!(
        "SELECT caller, file, line, count, excl_ns FROM calls WHERE callee = {} ORDER BY excl_ns DESC",
        quoted(name)
    )
}

/// The line with the most time, for profiles without spans.
pub(in crate::advise) fn lines(case: &Case<'_>) -> Vec<Advice> {
    let measured = case.measured;
    if measured.spans.rows > 0 {
        return Vec::new();
    }
    let whole: f64 = measured.sums.lines.values().map(|line| line.self_ns as f64).sum();
    let mut hot: Vec<Hot<'_>> = measured
        .sums
        .lines
        .iter()
        .map(|((file, line), one)| {
            let file = measured.name(*file);
            Hot {
                name: format!("{file}:{line}").into(),
                is_place: true,
                calls: one.calls,
                callers: 0,
                self_ns: one.self_ns,
                query: (lines_of, file),
            }
        })
        .collect();
    hot.sort_by(|one, other| other.self_ns.cmp(&one.self_ns).then_with(|| one.name.cmp(&other.name)));
    let has_functions = !measured.sums.functions.is_empty();
    let mut all = listed(&hot, whole, Rule::HotLine, case);
    all.truncate(if has_functions { 1 } else { MAX_HOT });
    if has_functions {
        all.iter_mut().for_each(|one| one.weight = Weight::Low);
    }
    all
}

fn lines_of(file: &str) -> String {
    format!(
        "SELECT line, calls, incl_ns, excl_ns FROM line_times WHERE level = 'line' AND file = {} ORDER BY excl_ns DESC",
        quoted(file)
    )
}

fn listed(hot: &[Hot<'_>], whole: f64, rule: Rule, case: &Case<'_>) -> Vec<Advice> {
    let share = |one: &Hot<'_>| one.self_ns as f64 / whole.max(1.0);
    let second = hot.get(1).map_or(0.0, share);
    let listed = hot.iter().take(MAX_HOT).filter(|one| share(one) > case.options.hot).enumerate();
    let advice = listed.map(|(rank, one)| {
        let stands_out = rank == 0 && hot.len() >= 4 && share(one) >= DOMINANT && share(one) >= second * 3.0;
        let callers = if one.callers > 1 { format!(" from {} call sites", one.callers) } else { String::new() };
        let mean = one.self_ns as f64 / one.calls.max(1) as f64;
        Advice {
            rule,
            weight: if stands_out { Weight::Medium } else { Weight::Low },
            subject: one.name.to_string(),
            place: one.is_place.then(|| one.name.to_string()),
            cause: format!("{}{callers}, {} each", counted(one.calls, "call"), time(mean)),
            message: format!(
                "{} has {} of the busy time: {} self time in {}{callers}",
                one.name,
                percent(share(one)),
                time(one.self_ns as f64),
                counted(one.calls, "call")
            ),
            saved: share(one).min(1.0),
            count: one.calls,
            evidence: vec![
                Evidence::ns("self time", one.self_ns),
                Evidence::new("of busy time", whole, Unit::Nanoseconds),
                Evidence::count(if one.calls == 1 { "call" } else { "calls" }, one.calls),
            ],
            query: (one.query.0)(one.query.1),
        }
    });
    advice.collect()
}
