//! Files and subs of a line profiler, as the page shows them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use serde::Serialize;
use traceloom_analysis::lines::{self, Index, Profile, Spread, Sub};

use super::Level;
use crate::api::wire::row;

/// Max number of files and subs that are listed; the totals cover all.
const MAX_FILES: usize = 5_000;
const MAX_SUBS: usize = 5_000;
/// Max number of lines of a file that are sent.
const MAX_LINES: usize = 100_000;
/// Max length of a line; longer ones are cut.
const MAX_CHARS: usize = 1_000;
/// Max number of callers and callees that are listed; all are counted.
const MAX_CALLS: usize = 500;
/// Max number of callees that are listed next to a line.
const MAX_BESIDE: usize = 20;

/// Files, most time first, and called subs, most self time first.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LinesOfTrace {
    trace: u32,
    application: Option<String>,
    has_blocks: bool,
    time_ns: i64,
    all_files: usize,
    files: Vec<LinesFileRow>,
    all_subs: usize,
    subs: Vec<SubRow>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LinesFileRow {
    id: i64,
    name: String,
    count: u64,
    time_ns: i64,
    has_text: bool,
    evals: usize,
    /// Number of evals that were merged into this one.
    merged: usize,
    /// For an eval: the file and line that called it.
    parent: Option<(i64, u32)>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SubRow {
    name: String,
    file: Option<i64>,
    line: Option<u32>,
    last_line: Option<u32>,
    kind: String,
    merged: usize,
    /// Number of call sites.
    places: usize,
    figures: Figures,
}

/// The cost of calls.
#[derive(Serialize, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Figures {
    count: u64,
    incl_ns: i64,
    excl_ns: i64,
    recursive_ns: i64,
    depth: u64,
}

impl From<&lines::Figures> for Figures {
    fn from(figures: &lines::Figures) -> Self {
        let lines::Figures { count, incl_ns, excl_ns, recursive_ns, depth } = *figures;
        Self { count, incl_ns, excl_ns, recursive_ns, depth }
    }
}

/// The lines of a file, with the cost and callees of each.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LinesFile {
    name: String,
    level: Level,
    count: u64,
    time_ns: i64,
    /// The time of the most expensive line.
    most_ns: i64,
    parent: Option<(i64, u32)>,
    merged: usize,
    has_text: bool,
    all_lines: usize,
    lines: Vec<SourceLine>,
    subs: Vec<DefinedSub>,
    calls: Vec<LineCalls>,
    evals: Vec<LineEvals>,
}

row! {
    /// A line with its statements, the calls that it makes, and its text.
    pub(crate) struct SourceLine {
        line: u32,
        statements: Option<u64>,
        time_ns: Option<i64>,
        heat: Option<Heat>,
        calls: Option<u64>,
        in_subs_ns: Option<i64>,
        subs_heat: Option<Heat>,
        text: Option<String>,
    }
}

/// How much a figure stands out.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Heat {
    Cold,
    Hot,
    Mild,
    Warm,
}

impl From<lines::Heat> for Heat {
    fn from(heat: lines::Heat) -> Self {
        match heat {
            lines::Heat::Cold => Self::Cold,
            lines::Heat::Hot => Self::Hot,
            lines::Heat::Mild => Self::Mild,
            lines::Heat::Warm => Self::Warm,
        }
    }
}

/// A sub that is defined in the file: its line, name and figures.
type DefinedSub = (Option<u32>, String, Figures);

row! {
    /// The subs that a line calls, most time first.
    pub(crate) struct LineCalls { line: u32, all: usize, named: Vec<LineCallee> }
}

row! {
    /// A sub that a line calls.
    pub(crate) struct LineCallee { name: String, count: u64, incl_ns: i64 }
}

row! {
    /// The string evals that a line makes.
    pub(crate) struct LineEvals { line: u32, count: u64, different: u64, time_ns: i64 }
}

/// A sub with its callers and callees, most time first.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SubDetails {
    #[serde(flatten)]
    sub: SubRow,
    file_name: Option<String>,
    all_callers: usize,
    callers: Vec<SubCaller>,
    all_callees: usize,
    callees: Vec<SubCallee>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SubCaller {
    by: Option<String>,
    file: Option<i64>,
    /// Number of the file.
    name: Option<String>,
    line: Option<u32>,
    figures: Figures,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SubCallee {
    name: String,
    figures: Figures,
}

pub(super) fn files(profile: &Profile, trace: u32) -> LinesOfTrace {
    let mut ids: Vec<i64> = profile.files.keys().copied().collect();
    ids.sort_by_cached_key(|id| (Reverse(profile.files[id].total().self_ns()), *id));
    let files = ids.iter().take(MAX_FILES).map(|id| {
        let file = &profile.files[id];
        let total = file.total();
        LinesFileRow {
            id: *id,
            name: file.name.clone(),
            count: total.count,
            time_ns: total.self_ns(),
            has_text: !file.source.is_empty(),
            evals: file.evals.len(),
            merged: file.merged.len(),
            parent: file.parent,
        }
    });
    let mut subs: Vec<(&String, &Sub)> = profile.subs.iter().filter(|(_, sub)| sub.is_called()).collect();
    subs.sort_by(|(one, a), (other, b)| b.total.excl_ns.cmp(&a.total.excl_ns).then(one.cmp(other)));
    LinesOfTrace {
        trace,
        application: profile.attributes.get("application").cloned(),
        has_blocks: profile.has_blocks(),
        time_ns: ids.iter().fold(0, |sum, id| profile.files[id].total().self_ns().saturating_add(sum)),
        all_files: ids.len(),
        files: files.collect(),
        all_subs: subs.len(),
        subs: subs.iter().take(MAX_SUBS).map(|(name, sub)| sub_row(name, sub)).collect(),
    }
}

fn sub_row(name: &str, sub: &Sub) -> SubRow {
    SubRow {
        name: name.to_owned(),
        file: sub.file,
        line: sub.first_line,
        last_line: sub.last_line,
        kind: sub.kind.as_str().to_owned(),
        merged: sub.merged.len(),
        places: sub.places().count(),
        figures: (&sub.total).into(),
    }
}

pub(super) fn file(profile: &Profile, id: i64, level: Level) -> Option<LinesFile> {
    let file = profile.files.get(&id)?;
    let index = profile.index();
    let costs = file.costs(level.into());
    let times = Spread::of(costs.values().map(|cost| cost.self_ns() as f64));
    let called = Spread::of(index.calls_in(id).values().map(|called| sum(called).incl_ns as f64));
    let all = lines(profile, &index, id, level);
    let rows = all.iter().take(MAX_LINES).map(|line| {
        let cost = costs.get(line);
        let calls = index.calls_in(id).get(line).map(sum);
        SourceLine {
            line: *line,
            statements: cost.map(|cost| cost.count),
            time_ns: cost.map(|cost| cost.self_ns()),
            heat: cost.map(|cost| times.heat(cost.self_ns() as f64).into()),
            calls: calls.map(|calls| calls.count),
            in_subs_ns: calls.map(|calls| calls.incl_ns),
            subs_heat: calls.map(|calls| called.heat(calls.incl_ns as f64).into()),
            text: file.source.get(line).map(|text| cut(text).to_owned()),
        }
    });
    let total = file.total();
    let evals = index.evals_in(id).iter().map(|(line, evals)| LineEvals {
        line: *line,
        count: evals.count,
        different: evals.different,
        time_ns: evals.time_ns,
    });
    Some(LinesFile {
        name: file.name.clone(),
        level,
        count: total.count,
        time_ns: total.self_ns(),
        most_ns: costs.values().map(|cost| cost.self_ns()).max().unwrap_or(0),
        parent: file.parent,
        merged: file.merged.len(),
        has_text: !file.source.is_empty(),
        all_lines: all.len(),
        lines: rows.collect(),
        subs: defined(profile, &index, id),
        calls: beside(&index, id),
        evals: evals.collect(),
    })
}

fn cut(text: &str) -> &str {
    let text = text.trim_end_matches(['\r', '\n']);
    text.char_indices().nth(MAX_CHARS).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// Lines that have text or figures.
fn lines(profile: &Profile, index: &Index<'_>, id: i64, level: Level) -> BTreeSet<u32> {
    let Some(file) = profile.files.get(&id) else { return BTreeSet::new() };
    let subs = index.defined_in(id).keys().flatten();
    let known = file.source.keys().chain(file.costs(level.into()).keys()).chain(index.calls_in(id).keys());
    known.chain(subs).chain(index.evals_in(id).keys()).copied().collect()
}

/// The subs that are defined in a file, by line.
fn defined(profile: &Profile, index: &Index<'_>, id: i64) -> Vec<DefinedSub> {
    let subs = index.defined_in(id).iter().flat_map(|(line, names)| names.iter().map(move |name| (line, *name)));
    let subs = subs.filter_map(|(line, name)| Some((line, name, profile.subs.get(name)?)));
    subs.take(MAX_SUBS).map(|(line, name, sub)| (*line, name.to_owned(), (&sub.total).into())).collect()
}

fn beside(index: &Index<'_>, id: i64) -> Vec<LineCalls> {
    let lines = index.calls_in(id).iter().take(MAX_LINES).map(|(line, called)| {
        let mut subs: Vec<_> = called.iter().collect();
        subs.sort_by_key(|(_, figures)| Reverse(figures.incl_ns));
        let named = subs.iter().take(MAX_BESIDE).map(|(name, figures)| LineCallee {
            name: (**name).to_owned(),
            count: figures.count,
            incl_ns: figures.incl_ns,
        });
        LineCalls { line: *line, all: subs.len(), named: named.collect() }
    });
    lines.collect()
}

/// The sum of all calls of one line.
fn sum(called: &BTreeMap<&str, lines::Figures>) -> lines::Figures {
    called.values().fold(lines::Figures::default(), |sum, figures| lines::Figures {
        count: sum.count.saturating_add(figures.count),
        incl_ns: sum.incl_ns.saturating_add(figures.incl_ns),
        ..sum
    })
}

pub(super) fn sub(profile: &Profile, name: &str) -> Option<SubDetails> {
    let sub = profile.subs.get(name)?;
    let file_name = |file: Option<i64>| Some(profile.files.get(&file?)?.name.clone());
    let mut callers: Vec<_> = sub.callers.iter().collect();
    callers.sort_by_key(|caller| Reverse(caller.figures.incl_ns));
    let called_by = callers.iter().take(MAX_CALLS).map(|caller| SubCaller {
        by: caller.by.clone(),
        file: caller.file,
        name: file_name(caller.file),
        line: caller.line,
        figures: (&caller.figures).into(),
    });
    let callees = callees(profile, name);
    let calls = callees.iter().take(MAX_CALLS);
    Some(SubDetails {
        sub: sub_row(name, sub),
        file_name: file_name(sub.file),
        all_callers: callers.len(),
        callers: called_by.collect(),
        all_callees: callees.len(),
        callees: calls.map(|(name, sum)| SubCallee { name: (*name).clone(), figures: sum.into() }).collect(),
    })
}

/// The subs that a sub calls, most time first.
fn callees<'p>(profile: &'p Profile, name: &str) -> Vec<(&'p String, lines::Figures)> {
    let mut callees: Vec<(&String, lines::Figures)> = Vec::new();
    for (other, called) in &profile.subs {
        let mut own = called.callers.iter().filter(|caller| caller.by.as_deref() == Some(name)).peekable();
        if own.peek().is_some() {
            callees.push((other, own.fold(lines::Figures::default(), |sum, caller| add(sum, &caller.figures))));
        }
    }
    callees.sort_by_key(|(_, figures)| Reverse(figures.incl_ns));
    callees
}

fn add(sum: lines::Figures, more: &lines::Figures) -> lines::Figures {
    lines::Figures {
        count: sum.count.saturating_add(more.count),
        incl_ns: sum.incl_ns.saturating_add(more.incl_ns),
        excl_ns: sum.excl_ns.saturating_add(more.excl_ns),
        recursive_ns: sum.recursive_ns.saturating_add(more.recursive_ns),
        depth: sum.depth.max(more.depth),
    }
}
