//! The source of a line profile with the figures of every line, like nytprofhtml but in one file.

mod listing;

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};
use traceloom_analysis::{
    lines::{Cost, Figures, File, Index, Profile, Sub, SubKind},
    units::time,
};

use self::listing::Listing;
use crate::{
    Detail,
    text::{shown, thousands},
};

/// Number of subs of the first list, as in nytprofhtml.
const TOP_SUBS: usize = 15;

/// Number of files and subs of the lists at full detail.
const ROWS: usize = 500;

/// Upper bound for the size of the sentences about omitted files.
const LEFT_OUT_BYTES: usize = 1_000;

/// The section about the profile with this number; files with little time are omitted if they do not fit.
pub(crate) fn section(profile: &Profile, number: usize, level: u32, room: usize) -> Markup {
    let (index, detail) = (profile.index(), Detail::level(level));
    let source = Source { profile, number, index: &index, detail: &detail, rows: ROWS >> level };
    source.markup(room)
}

struct Source<'p> {
    profile: &'p Profile,
    /// Distinguishes the anchors of different profiles.
    number: usize,
    index: &'p Index<'p>,
    detail: &'p Detail,
    rows: usize,
}

/// As many files as fit.
#[derive(Default)]
struct Listed {
    text: String,
    ids: BTreeSet<i64>,
    without_cold: usize,
}

impl Source<'_> {
    fn markup(&self, room: usize) -> Markup {
        let by_time = self.profile.files_by_time();
        // The files are written first, because the lists link to them; the lists are longest with links to all files.
        let all = Listed { ids: by_time.iter().copied().collect(), ..Listed::default() };
        let lists = self.lists(&by_time, &all).into_string().len() + LEFT_OUT_BYTES;
        let listed = self.listed(&by_time, room.saturating_sub(lists));
        html! { (self.lists(&by_time, &listed)) (PreEscaped(&listed.text)) }
    }

    fn listed(&self, by_time: &[i64], room: usize) -> Listed {
        let mut listed = Listed::default();
        for id in by_time {
            let left = room.saturating_sub(listed.text.len());
            let whole = Listing::new(self, *id, true).markup().into_string();
            if whole.len() <= left {
                listed.text.push_str(&whole);
                listed.ids.insert(*id);
                continue;
            }
            let figures = Listing::new(self, *id, false).markup().into_string();
            if figures.len() <= left {
                listed.text.push_str(&figures);
                listed.ids.insert(*id);
                listed.without_cold += 1;
            }
        }
        listed
    }

    fn lists(&self, by_time: &[i64], listed: &Listed) -> Markup {
        let subs = subs_by_time(self.profile.subs.iter().map(|(name, sub)| (name.as_str(), sub)));
        html! {
            h3 { "Source" }
            (self.about())
            (self.left_out(by_time, listed))
            h3 { "Top " (TOP_SUBS) " subs" }
            (self.subs(subs.iter().take(TOP_SUBS).copied()))
            @if subs.len() > TOP_SUBS {
                details {
                    summary { "All " (thousands(subs.len() as u64)) " subs" }
                    (self.subs(subs.iter().take(self.rows).copied()))
                    @if subs.len() > self.rows { p.dim { (subs.len() - self.rows) " more subs are not listed." } }
                }
            }
            h3 { "Source files" }
            (self.files(by_time, listed))
        }
    }

    /// A summary of the profile in one sentence, and the attributes of the run.
    fn about(&self) -> Markup {
        let Self { profile, .. } = self;
        let files = profile.files.values().filter(|file| !file.is_eval()).count();
        let evals: u64 =
            profile.files.values().filter(|file| file.is_eval()).map(|file| 1 + file.merged.len() as u64).sum();
        let total = sum(profile.files.values().map(File::total));
        let calls = profile.subs.values().fold(0_u64, |sum, sub| sum.saturating_add(sub.total.count));
        html! {
            p {
                (thousands(total.count)) " statements in " (time(total.self_ns() as f64)) ", " (thousands(calls))
                " calls of subs, in " (thousands(files as u64)) " source files and " (thousands(evals)) " string evals."
            }
            @if !profile.attributes.is_empty() {
                details {
                    summary { "About the run" }
                    table { tbody {
                        @for (key, value) in profile.attributes.iter().take(self.rows) {
                            tr { td { (shown(key, self.detail.name)) } td.left { (shown(value, self.detail.name)) } }
                        }
                    } }
                }
            }
        }
    }

    /// A prominent sentence about omitted files.
    fn left_out(&self, by_time: &[i64], listed: &Listed) -> Markup {
        let left: Vec<_> = by_time.iter().filter(|id| !listed.ids.contains(*id)).collect();
        let cost = sum(left.iter().map(|id| self.profile.files[*id].total()));
        html! {
            @if !left.is_empty() {
                p.verdict {
                    "A report is at most 1 MB: " (left.len()) " of " (by_time.len()) " source files, with "
                    (time(cost.self_ns() as f64)) " in " (thousands(cost.count)) " statements, are not listed below. "
                    code { "traceloom lines --all" } " prints all of them."
                }
            }
            @if listed.without_cold > 0 {
                p.verdict { "Of " (listed.without_cold) " source files only the lines with figures are listed, for the same reason." }
            }
        }
    }

    fn files(&self, by_time: &[i64], listed: &Listed) -> Markup {
        let costs: Vec<Cost> = by_time.iter().map(|id| self.profile.files[id].total()).collect();
        let total = sum(costs.iter().copied());
        let middle = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        let median = middle(costs.iter().map(|cost| cost.self_ns() as f64).collect());
        let deviation = middle(costs.iter().map(|cost| (cost.self_ns() as f64 - median).abs()).collect());
        let count = costs.len().max(1);
        html! {
            div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "file" } th scope="col" { "statements" } th scope="col" { "self time" } th scope="col" { "share" } th scope="col" { "string evals" } } }
                tbody {
                    @for (id, cost) in by_time.iter().zip(&costs).take(self.rows) {
                        tr id=[(!listed.ids.contains(id)).then(|| self.address(*id, None))] {
                            td { @if listed.ids.contains(id) { a href={ "#" (self.address(*id, None)) } { (self.name_of(*id)) } } @else { (self.name_of(*id)) } }
                            td { (thousands(cost.count)) } td { (time(cost.self_ns() as f64)) } td { (share(cost.self_ns(), total.self_ns())) }
                            td { (evals(self.index.evals_in(*id).values().map(|nested| nested.count).sum())) }
                        }
                    }
                }
                tfoot {
                    tr { td { "total" } td { (thousands(total.count)) } td { (time(total.self_ns() as f64)) } td {} td {} }
                    tr { td { "average" } td { (thousands(total.count / count as u64)) } td { (time(total.self_ns() as f64 / count as f64)) } td {} td {} }
                    tr { td { "median" } td {} td { (time(median)) } td {} td {} }
                    tr { td { "median deviation" } td {} td { (time(deviation)) } td {} td {} }
                }
            } }
            @if by_time.len() > self.rows { p.dim { (by_time.len() - self.rows) " more files are not listed." } }
        }
    }

    fn subs<'a>(&self, subs: impl Iterator<Item = (&'a str, &'a Sub)>) -> Markup {
        let heads = ["calls", "places", "files", "self time", "total time", "recursive", "depth"];
        let whole_ns = sum(self.profile.files.values().map(File::total)).self_ns();
        html! {
            div.scroll tabindex="0" { table {
                thead { tr { th scope="col" { "sub" } @for head in heads { th scope="col" { (head) } } } }
                tbody { @for (name, sub) in subs {
                    @let Figures { count, incl_ns, excl_ns, recursive_ns, depth } = sub.total;
                    tr {
                        td { (self.sub_link(name, None)) (kind(sub.kind)) }
                        td { (thousands(count)) } td { (sub.places().count()) } td { (files_of(sub)) }
                        td title=(share(excl_ns, whole_ns)) { (time(excl_ns as f64)) } td title=(share(incl_ns, whole_ns)) { (time(incl_ns as f64)) }
                        td { @if depth > 0 { (time(recursive_ns as f64)) } } td { @if depth > 0 { (depth) } }
                    }
                } }
            } }
        }
    }

    fn name_of(&self, id: i64) -> String {
        let name = self.profile.files.get(&id).map_or("?", |file| file.name.as_str());
        shown(if name.is_empty() { "(no name)" } else { name }, self.detail.name)
    }

    /// A sub, as a link to its first line if that is in the same file, else to its file.
    fn sub_link(&self, name: &str, here: Option<i64>) -> Markup {
        let sub = self.profile.subs.get(name);
        let (file, line) = (sub.and_then(|sub| sub.file), sub.and_then(|sub| sub.first_line));
        self.link(file, line.filter(|_| here.is_some() && file == here), &shown(name, self.detail.name))
    }

    fn link(&self, file: Option<i64>, line: Option<u32>, text: &str) -> Markup {
        let text = if text.is_empty() { "(no name)" } else { text };
        html! {
            @if let Some(file) = file.filter(|file| self.profile.files.contains_key(file)) {
                a href={ "#" (self.address(file, line)) } { (text) }
            } @else { (text) }
        }
    }

    /// The anchor of a file or line on the page.
    fn address(&self, file: i64, line: Option<u32>) -> String {
        let line = line.map_or_else(String::new, |line| format!("l{line}"));
        format!("t{}f{file}{line}", self.number)
    }
}

/// All subs, including those that were not called, most self time first.
fn subs_by_time<'p>(subs: impl Iterator<Item = (&'p str, &'p Sub)>) -> Vec<(&'p str, &'p Sub)> {
    let mut subs: Vec<_> = subs.collect();
    subs.sort_by(|(one, a), (other, b)| b.total.excl_ns.cmp(&a.total.excl_ns).then(one.cmp(other)));
    subs
}

fn sum(costs: impl Iterator<Item = Cost>) -> Cost {
    costs.fold(Cost::default(), |sum, cost| Cost {
        count: sum.count.saturating_add(cost.count),
        incl_ns: sum.incl_ns.saturating_add(cost.self_ns()),
        excl_ns: None,
    })
}

fn kind(kind: SubKind) -> &'static str {
    match kind {
        SubKind::Opcode => " (opcode)",
        SubKind::Perl => "",
        SubKind::Xsub => " (xsub)",
    }
}

fn files_of(sub: &Sub) -> usize {
    sub.callers.iter().filter_map(|caller| caller.file).collect::<BTreeSet<_>>().len()
}

fn evals(count: u64) -> String {
    if count == 0 { String::new() } else { thousands(count) }
}

fn share(part: i64, whole: i64) -> String {
    traceloom_analysis::units::percent(part.max(0) as f64 / whole.max(1) as f64)
}
