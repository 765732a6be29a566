//! Files and subs of a line profiler, as the page shows them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Value, json};
use traceloom_analysis::lines::{Figures, Index, Level, Profile, Spread, Sub};

/// Files and subs that are listed; the totals are of all.
const MOST_FILES: usize = 5_000;
const MOST_SUBS: usize = 5_000;
/// Lines of a file that are sent.
const MOST_LINES: usize = 100_000;
/// A longer line is cut.
const MOST_CHARS: usize = 1_000;
/// Callers and callees that are named; all are counted.
const MOST_CALLS: usize = 500;
/// Callees that are named beside a line.
const MOST_BESIDE: usize = 20;

/// Files, the most time first, and the subs that were called, the most own time first.
pub(super) fn files(profile: &Profile, trace: u32) -> Value {
    let mut ids: Vec<i64> = profile.files.keys().copied().collect();
    ids.sort_by_cached_key(|id| (Reverse(profile.files[id].total().own_ns()), *id));
    let total_ns = ids.iter().fold(0_i64, |sum, id| sum.saturating_add(profile.files[id].total().own_ns()));
    let files = ids.iter().take(MOST_FILES).map(|id| {
        let file = &profile.files[id];
        let total = file.total();
        json!({
            "id": id,
            "name": file.name,
            "count": total.count,
            "time_ns": total.own_ns(),
            "has_text": !file.source.is_empty(),
            "evals": file.evals.len(),
            "merged": file.merged.len(),
            "parent": file.parent,
        })
    });
    let mut subs: Vec<(&String, &Sub)> = profile.subs.iter().filter(|(_, sub)| sub.is_called()).collect();
    subs.sort_by(|(one, a), (other, b)| b.total.excl_ns.cmp(&a.total.excl_ns).then(one.cmp(other)));
    json!({
        "trace": trace,
        "kind": "lines",
        "application": profile.attributes.get("application"),
        "has_blocks": profile.has_blocks(),
        "time_ns": total_ns,
        "all_files": ids.len(),
        "files": files.collect::<Vec<_>>(),
        "all_subs": subs.len(),
        "subs": subs.iter().take(MOST_SUBS).map(|(name, sub)| row(name, sub)).collect::<Vec<_>>(),
    })
}

fn row(name: &str, sub: &Sub) -> Value {
    json!({
        "name": name,
        "file": sub.file,
        "line": sub.first_line,
        "last_line": sub.last_line,
        "kind": sub.kind.as_str(),
        "merged": sub.merged.len(),
        "places": sub.places().count(),
        "figures": figures(&sub.total),
    })
}

fn figures(figures: &Figures) -> Value {
    let Figures { count, incl_ns, excl_ns, recursive_ns, depth } = *figures;
    json!({ "count": count, "incl_ns": incl_ns, "excl_ns": excl_ns, "recursive_ns": recursive_ns, "depth": depth })
}

/// The lines of a file, with what each cost and calls.
pub(super) fn file(profile: &Profile, id: i64, level: Level) -> Option<Value> {
    let file = profile.files.get(&id)?;
    let index = profile.index();
    let costs = file.costs(level);
    let times = Spread::of(costs.values().map(|cost| cost.own_ns() as f64));
    let called = Spread::of(index.calls_in(id).values().map(|called| sum(called).incl_ns as f64));
    let all = lines(profile, &index, id, level);
    let most_ns = costs.values().map(|cost| cost.own_ns()).max().unwrap_or(0);
    let rows = all.iter().take(MOST_LINES).map(|line| {
        let cost = costs.get(line);
        let calls = index.calls_in(id).get(line).map(sum);
        json!([
            line,
            cost.map(|cost| cost.count),
            cost.map(|cost| cost.own_ns()),
            cost.map(|cost| times.heat(cost.own_ns() as f64).as_str()),
            calls.map(|calls| calls.count),
            calls.map(|calls| calls.incl_ns),
            calls.map(|calls| called.heat(calls.incl_ns as f64).as_str()),
            file.source.get(line).map(|text| cut(text)),
        ])
    });
    let total = file.total();
    Some(json!({
        "kind": "lines",
        "name": file.name,
        "level": level.as_str(),
        "count": total.count,
        "time_ns": total.own_ns(),
        "most_ns": most_ns,
        "parent": file.parent,
        "merged": file.merged.len(),
        "has_text": !file.source.is_empty(),
        "all_lines": all.len(),
        "lines": rows.collect::<Vec<_>>(),
        "subs": defined(profile, &index, id),
        "calls": beside(&index, id),
        "evals": index.evals_in(id).iter()
            .map(|(line, evals)| json!([line, evals.count, evals.different, evals.time_ns])).collect::<Vec<_>>(),
    }))
}

fn cut(text: &str) -> &str {
    let text = text.trim_end_matches(['\r', '\n']);
    text.char_indices().nth(MOST_CHARS).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// Lines that have text or figures.
fn lines(profile: &Profile, index: &Index<'_>, id: i64, level: Level) -> BTreeSet<u32> {
    let Some(file) = profile.files.get(&id) else { return BTreeSet::new() };
    let subs = index.defined_in(id).keys().flatten();
    let known = file.source.keys().chain(file.costs(level).keys()).chain(index.calls_in(id).keys());
    known.chain(subs).chain(index.evals_in(id).keys()).copied().collect()
}

/// The subs that are written in a file, by line.
fn defined(profile: &Profile, index: &Index<'_>, id: i64) -> Vec<Value> {
    let subs = index.defined_in(id).iter().flat_map(|(line, names)| names.iter().map(move |name| (line, *name)));
    let subs = subs.filter_map(|(line, name)| Some((line, name, profile.subs.get(name)?)));
    subs.take(MOST_SUBS).map(|(line, name, sub)| json!([line, name, figures(&sub.total)])).collect()
}

/// The subs that each line calls, the most time first.
fn beside(index: &Index<'_>, id: i64) -> Vec<Value> {
    let lines = index.calls_in(id).iter().take(MOST_LINES).map(|(line, called)| {
        let mut subs: Vec<_> = called.iter().collect();
        subs.sort_by_key(|(_, figures)| Reverse(figures.incl_ns));
        let named = subs.iter().take(MOST_BESIDE).map(|(name, figures)| json!([name, figures.count, figures.incl_ns]));
        json!([line, subs.len(), named.collect::<Vec<_>>()])
    });
    lines.collect()
}

/// All calls of one line together.
pub(super) fn sum(called: &BTreeMap<&str, Figures>) -> Figures {
    called.values().fold(Figures::default(), |sum, figures| Figures {
        count: sum.count.saturating_add(figures.count),
        incl_ns: sum.incl_ns.saturating_add(figures.incl_ns),
        ..sum
    })
}

/// A sub with its callers and callees, the most time first.
pub(super) fn sub(profile: &Profile, name: &str) -> Option<Value> {
    let sub = profile.subs.get(name)?;
    let mut callers: Vec<_> = sub.callers.iter().collect();
    callers.sort_by_key(|caller| Reverse(caller.figures.incl_ns));
    let called_by = callers.iter().take(MOST_CALLS).map(|caller| {
        let file = caller.file.and_then(|file| profile.files.get(&file)).map(|file| &file.name);
        json!({ "by": caller.by, "file": caller.file, "name": file, "line": caller.line,
            "figures": figures(&caller.figures) })
    });
    let mut callees: Vec<(&String, Figures)> = Vec::new();
    for (other, called) in &profile.subs {
        let mut own = called.callers.iter().filter(|caller| caller.by.as_deref() == Some(name)).peekable();
        if own.peek().is_some() {
            callees.push((other, own.fold(Figures::default(), |sum, caller| add(sum, &caller.figures))));
        }
    }
    callees.sort_by_key(|(_, figures)| Reverse(figures.incl_ns));
    let mut answer = row(name, sub);
    answer["file_name"] = json!(sub.file.and_then(|file| profile.files.get(&file)).map(|file| &file.name));
    answer["all_callers"] = json!(callers.len());
    answer["callers"] = Value::Array(called_by.collect());
    answer["all_callees"] = json!(callees.len());
    let calls = callees.iter().take(MOST_CALLS).map(|(name, sum)| json!({ "name": name, "figures": figures(sum) }));
    answer["callees"] = Value::Array(calls.collect());
    Some(answer)
}

fn add(sum: Figures, more: &Figures) -> Figures {
    Figures {
        count: sum.count.saturating_add(more.count),
        incl_ns: sum.incl_ns.saturating_add(more.incl_ns),
        excl_ns: sum.excl_ns.saturating_add(more.excl_ns),
        recursive_ns: sum.recursive_ns.saturating_add(more.recursive_ns),
        depth: sum.depth.max(more.depth),
    }
}
