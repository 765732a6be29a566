//! One source file: its subs, and its lines with statements, times, calls, callers and callees.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use traceloom_analysis::{
    lines::{Cost, Figures, File, Heat, Level, Spread, Sub},
    units::time,
};

use super::{Source, kind, subs_by_time};
use crate::text::{shown, thousands};

/// Max number of characters of a source line.
const MAX_LINE: usize = 400;

pub(super) struct Listing<'s> {
    source: &'s Source<'s>,
    id: i64,
    file: &'s File,
    /// Levels besides lines at which statements were added up.
    levels: Vec<Level>,
    times: Spread,
    called: Spread,
    has_cold_lines: bool,
}

impl<'s> Listing<'s> {
    /// The listing of a file, with or without lines that have no figures.
    pub(super) fn new(source: &'s Source<'s>, id: i64, has_cold_lines: bool) -> Self {
        let file = &source.profile.files[&id];
        let times = Spread::of(file.lines.values().map(|cost| cost.self_ns() as f64));
        let called = Spread::of(source.index.calls_in(id).values().map(|called| sum(called).incl_ns as f64));
        let levels = [Level::Block, Level::Sub].into_iter().filter(|level| !file.costs(*level).is_empty()).collect();
        Self { source, id, file, levels, times, called, has_cold_lines }
    }

    pub(super) fn markup(&self) -> Markup {
        let total = self.file.total();
        let names = self.source.index.defined_in(self.id).values().flatten();
        let subs = subs_by_time(names.filter_map(|name| Some((*name, self.source.profile.subs.get(*name)?))));
        html! {
            details id=(self.source.address(self.id, None)) {
                summary {
                    (self.source.name_of(self.id)) " "
                    span.dim { (thousands(total.count)) " statements, " (time(total.self_ns() as f64)) }
                }
                (self.origin())
                @if !subs.is_empty() { (self.source.subs(subs.into_iter())) }
                div.scroll tabindex="0" { table.code {
                    thead { tr {
                        th scope="col" { "line" }
                        @for head in ["statements", "time on line", "calls", "time in subs"] { th scope="col" { (head) } }
                        @for level in &self.levels { th scope="col" { "statements of " (level.as_str()) } th scope="col" { "time of " (level.as_str()) } }
                        th.left scope="col" { "code" }
                    } }
                    tbody { (self.rows()) (self.without_lines()) }
                } }
            }
        }
    }

    fn origin(&self) -> Markup {
        html! {
            @if let Some((parent, line)) = self.file.parent {
                p { "A string eval in " (self.source.link(Some(parent), None, &format!("line {line} of {}", self.source.name_of(parent)))) "." }
            }
            @if !self.file.merged.is_empty() { p { "Includes " (self.file.merged.len()) " identical string evals." } }
            @if self.file.source.is_empty() {
                p { "The profile does not contain the source; " code { "--source-dir" } " adds it." }
            }
            @if !self.has_cold_lines { p { "Only lines with figures are listed." } }
        }
    }

    /// Lines with figures have one row each; the lines between them share one.
    fn rows(&self) -> Markup {
        let index = self.source.index;
        let subs = index.defined_in(self.id).keys().flatten();
        let costs = [Level::Line, Level::Block, Level::Sub].into_iter().flat_map(|level| self.file.costs(level).keys());
        let known = costs.chain(index.calls_in(self.id).keys()).chain(subs).chain(index.evals_in(self.id).keys());
        let warm: BTreeSet<u32> = known.copied().collect();
        let mut rows = Vec::new();
        let mut from = 0;
        for line in &warm {
            rows.push(self.cold(from, *line));
            rows.push(self.row(*line));
            from = line.saturating_add(1);
        }
        rows.push(self.cold(from, u32::MAX));
        html! { @for row in rows { (row) } }
    }

    fn cold(&self, from: u32, to: u32) -> Markup {
        let lines: Vec<_> = self.file.source.range(from..to).filter(|_| self.has_cold_lines).collect();
        let empty = 4 + 2 * self.levels.len();
        let text: Vec<String> = lines.iter().map(|(_, text)| code(text)).collect();
        let numbers: Vec<String> = lines.iter().map(|(line, _)| line.to_string()).collect();
        html! {
            @if !lines.is_empty() {
                tr { td.numbers { (numbers.join("\n")) } td colspan=(empty) {} td.source { (text.join("\n")) } }
            }
        }
    }

    fn row(&self, line: u32) -> Markup {
        let calls = self.source.index.calls_in(self.id).get(&line).map(sum);
        let cost = self.file.lines.get(&line);
        let cells = |cost: Option<&Cost>, heat: Option<&str>| {
            html! {
                @match cost {
                    Some(cost) => { td { (thousands(cost.count)) } td class=[heat] title=[each(cost)] { (time(cost.self_ns() as f64)) } }
                    None => { td {} td {} }
                }
            }
        };
        let heat = |ns: Option<i64>, spread: &Spread| ns.map(|ns| class(spread.heat(ns as f64)));
        html! {
            tr id=(self.source.address(self.id, Some(line))) {
                td { (line) }
                (cells(cost, heat(cost.map(Cost::self_ns), &self.times)))
                @match calls {
                    Some(calls) => { td { (thousands(calls.count)) } td class=[heat(Some(calls.incl_ns), &self.called)] { (time(calls.incl_ns as f64)) } }
                    None => { td {} td {} }
                }
                @for level in &self.levels { (cells(self.file.costs(*level).get(&line), None)) }
                td.source {
                    (self.callers_at(Some(line)))
                    (code(self.file.source.get(&line).map_or("", String::as_str)))
                    (self.callees(line))
                    (self.evals(line))
                }
            }
        }
    }

    /// Callers of the subs that start at a line.
    fn callers_at(&self, line: Option<u32>) -> Markup {
        html! {
            @for name in self.source.index.defined_in(self.id).get(&line).into_iter().flatten() {
                @if let Some(sub) = self.source.profile.subs.get(*name).filter(|sub| sub.is_called()) { (self.callers(name, sub)) }
            }
        }
    }

    fn callers(&self, name: &str, sub: &Sub) -> Markup {
        let mut places: Vec<_> = sub.places().collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.figures.incl_ns));
        html! {
            i { "# spent " (spent(&sub.total)) " within " (shown(name, self.source.detail.name)) (kind(sub.kind)) " which was called " (often(&sub.total)) ":" }
            @for place in &places {
                i {
                    "#    " (often(&place.figures)) " (" (parts(&place.figures)) ") by "
                    (shown(&if place.by.is_empty() { "?".to_owned() } else { place.by.join(" or ") }, self.source.detail.name))
                    @if let Some(line) = place.line { " at " (self.place(place.file, line)) }
                    (average(&place.figures))
                }
            }
        }
    }

    fn place(&self, file: Option<i64>, line: u32) -> Markup {
        if file == Some(self.id) {
            return self.source.link(file, Some(line), &format!("line {line}"));
        }
        let name = file.map_or_else(|| "?".to_owned(), |file| self.source.name_of(file));
        self.source.link(file, None, &format!("line {line} of {name}"))
    }

    /// Subs that a line calls.
    fn callees(&self, line: u32) -> Markup {
        let called = self.source.index.calls_in(self.id).get(&line);
        let mut called: Vec<_> = called.into_iter().flatten().collect();
        called.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.incl_ns));
        html! {
            @for (name, figures) in called {
                i {
                    "# spent " (time(figures.incl_ns as f64)) " making " (thousands(figures.count)) (if figures.count == 1 { " call to " } else { " calls to " })
                    (self.source.sub_link(name, Some(self.id))) (average(figures)) (recursion(figures))
                }
            }
        }
    }

    /// String evals that a line ran.
    fn evals(&self, line: u32) -> Markup {
        html! {
            @if let Some(nested) = self.source.index.evals_in(self.id).get(&line) {
                i { "# spent " (time(nested.time_ns as f64)) " executing statements in " (thousands(nested.count)) " string evals" @if nested.different < nested.count { " (" (nested.different) " different)" } }
            }
            @for (id, eval) in self.file.evals.iter().filter_map(|id| Some((*id, self.source.profile.files.get(id)?))) {
                @if eval.parent == Some((self.id, line)) {
                    i { "#    " (time(eval.total().self_ns() as f64)) " in " (self.source.link(Some(id), None, &self.source.name_of(id))) }
                }
            }
        }
    }

    /// Subs without lines that belong to the packages of this file.
    fn without_lines(&self) -> Markup {
        let called = |name: &&&str| self.source.profile.subs.get(**name).is_some_and(Sub::is_called);
        let nameless = self.source.index.defined_in(self.id).get(&None);
        html! {
            @for name in nameless.into_iter().flatten().filter(called) {
                tr { td {} td colspan=(4 + 2 * self.levels.len()) {} td.source {
                    (self.callers(name, &self.source.profile.subs[*name])) "sub " (shown(name, self.source.detail.name)) ";"
                } }
            }
        }
    }
}

/// Source text, with tabs as wide as nytprofhtml shows them.
fn code(text: &str) -> String {
    shown(&text.trim_end().replace('\t', "        "), MAX_LINE)
}

fn sum(called: &BTreeMap<&str, Figures>) -> Figures {
    called.values().fold(Figures::default(), |sum, figures| Figures {
        count: sum.count.saturating_add(figures.count),
        incl_ns: sum.incl_ns.saturating_add(figures.incl_ns),
        ..sum
    })
}

/// The mean time per statement.
fn each(cost: &Cost) -> Option<String> {
    (cost.count > 1).then(|| format!("{} each", time(cost.self_ns() as f64 / cost.count as f64)))
}

/// Total time, with self time and the rest if something was called.
fn spent(figures: &Figures) -> String {
    let total = time(figures.incl_ns as f64);
    if figures.incl_ns == figures.excl_ns { total } else { format!("{total} ({})", parts(figures)) }
}

fn parts(figures: &Figures) -> String {
    let inside = figures.incl_ns.saturating_sub(figures.excl_ns).max(0);
    format!("{} + {}", time(figures.excl_ns as f64), time(inside as f64))
}

fn often(figures: &Figures) -> String {
    let times = if figures.count == 1 { "once".to_owned() } else { format!("{} times", thousands(figures.count)) };
    format!("{times}{}", if figures.depth > 0 { recursion(figures) } else { String::new() })
}

/// The time of recursive calls is part of the outermost call, so a mean would be meaningless.
fn average(figures: &Figures) -> String {
    if figures.count < 2 || figures.depth > 0 {
        return String::new();
    }
    format!(", avg {}/call", time(figures.incl_ns as f64 / figures.count as f64))
}

fn recursion(figures: &Figures) -> String {
    if figures.depth == 0 {
        return String::new();
    }
    format!(", recursion: max depth {}, sum of overlapping time {}", figures.depth, time(figures.recursive_ns as f64))
}

fn class(heat: Heat) -> &'static str {
    match heat {
        Heat::Cold => "cool",
        Heat::Mild => "mild",
        Heat::Warm => "warm",
        Heat::Hot => "hot",
    }
}
