//! A source file with the figures of each line next to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use anstyle::Style;
use traceloom_analysis::lines::{Figures, Heat, Index, Level, Profile, Spread};
use traceloom_core::Result;

use super::text::{counted, heading};
use crate::{
    output::{Styles, clean},
    table::Rounded,
};

/// Max number of callers, callees and evals that are listed per line; the rest is counted.
const NAMED: usize = 5;

/// Columns before the source.
const INDENT: usize = 50;

pub(super) fn write(out: &mut dyn Write, profile: &Profile, index: &Index<'_>, id: i64, level: Level) -> Result<()> {
    Listing::new(profile, index, id, level).write(out)
}

struct Listing<'p> {
    profile: &'p Profile,
    index: &'p Index<'p>,
    id: i64,
    level: Level,
    times: Spread,
    called: Spread,
}

impl<'p> Listing<'p> {
    fn new(profile: &'p Profile, index: &'p Index<'p>, id: i64, level: Level) -> Self {
        let times = Spread::of(profile.files[&id].costs(level).values().map(|cost| cost.self_ns() as f64));
        let called = Spread::of(index.calls_in(id).values().map(|called| sum(called).incl_ns as f64));
        Self { profile, index, id, level, times, called }
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        let file = &self.profile.files[&self.id];
        let total = file.total();
        let facts = format!("{}, {}", counted(total.count, "statement"), Rounded(total.self_ns() as f64));
        heading(out, &file.name, &facts)?;
        self.write_origin(out)?;
        let dim = Styles::DIM;
        let head = format!(
            "{:>7}  {:>9}  {:>9}  {:>7}  {:>9}  code",
            self.level.as_str(),
            "stmts",
            "time",
            "calls",
            "in subs"
        );
        writeln!(out, "{dim}{head}{dim:#}")?;
        let mut next = 1;
        for line in self.lines() {
            if line > next {
                writeln!(out, "{dim}{:>7}{dim:#}", "…")?;
            }
            self.write_line(out, line)?;
            next = line.saturating_add(1);
        }
        self.write_without_lines(out)?;
        Ok(writeln!(out)?)
    }

    /// Lines that have text or figures.
    fn lines(&self) -> BTreeSet<u32> {
        let file = &self.profile.files[&self.id];
        let subs = self.index.defined_in(self.id).keys().flatten();
        let known = file.source.keys().chain(file.costs(self.level).keys()).chain(self.index.calls_in(self.id).keys());
        known.chain(subs).chain(self.index.evals_in(self.id).keys()).copied().collect()
    }

    fn write_origin(&self, out: &mut dyn Write) -> Result<()> {
        let file = &self.profile.files[&self.id];
        if let Some((parent, line)) = file.parent {
            let name = self.profile.files.get(&parent).map_or("", |file| file.name.as_str());
            writeln!(out, "  string eval in line {line} of {}", clean(name))?;
        }
        if !file.merged.is_empty() {
            writeln!(out, "  including {} identical evals", file.merged.len())?;
        }
        if file.source.is_empty() {
            writeln!(out, "  the profile does not contain the source; use --source-dir")?;
        }
        Ok(())
    }

    fn write_line(&self, out: &mut dyn Write, line: u32) -> Result<()> {
        self.write_callers(out, line)?;
        let file = &self.profile.files[&self.id];
        let cost = file.costs(self.level).get(&line);
        let calls = self.index.calls_in(self.id).get(&line).map(sum);
        let count = cost.map(|cost| cost.count.to_string()).unwrap_or_default();
        let time = cost.map(|cost| cost.self_ns() as f64);
        let called = calls.map(|calls| calls.count.to_string()).unwrap_or_default();
        let in_subs = calls.map(|calls| calls.incl_ns as f64);
        let (hot, warm) = (style(time, &self.times), style(in_subs, &self.called));
        let text = file
            .source
            .get(&line)
            .map(|text| clean(&text.trim_end_matches('\r').replace('\t', "    ")))
            .unwrap_or_default();
        let dim = Styles::DIM;
        let cell = |time: Option<f64>| time.map(|time| Rounded(time).to_string()).unwrap_or_default();
        let row = format!(
            "{dim}{line:>7}{dim:#}  {count:>9}  {hot}{:>9}{hot:#}  {called:>7}  {warm}{:>9}{warm:#}  {text}",
            cell(time),
            cell(in_subs)
        );
        writeln!(out, "{}", row.trim_end())?;
        self.write_callees(out, line)?;
        self.write_evals(out, line)
    }

    fn note(&self, out: &mut dyn Write, text: &str) -> Result<()> {
        let dim = Styles::DIM;
        Ok(writeln!(out, "{:INDENT$} {dim}# {}{dim:#}", "", clean(text))?)
    }

    /// Callers of the subs that start here.
    fn write_callers(&self, out: &mut dyn Write, line: u32) -> Result<()> {
        for name in self.index.defined_in(self.id).get(&Some(line)).into_iter().flatten() {
            self.write_callers_of(out, name)?;
        }
        Ok(())
    }

    fn write_callers_of(&self, out: &mut dyn Write, name: &str) -> Result<()> {
        let Some(sub) = self.profile.subs.get(name).filter(|sub| sub.is_called()) else { return Ok(()) };
        self.note(out, &format!("{name}: {}", told(&sub.total)))?;
        let mut places: Vec<_> = sub.places().collect();
        places.sort_by_key(|place| std::cmp::Reverse(place.figures.incl_ns));
        for place in places.iter().take(NAMED) {
            let by = if place.by.is_empty() { "?".to_owned() } else { place.by.join(" or ") };
            self.note(out, &format!("  {} by {by}{}", told(&place.figures), self.at(place.file, place.line)))?;
        }
        self.more(out, places.len(), "place")
    }

    fn more(&self, out: &mut dyn Write, all: usize, of: &str) -> Result<()> {
        match all.checked_sub(NAMED).filter(|more| *more > 0) {
            Some(more) => self.note(out, &format!("  and {}", counted(more as u64, &format!("more {of}")))),
            None => Ok(()),
        }
    }

    fn at(&self, file: Option<i64>, line: Option<u32>) -> String {
        match (file, line) {
            (Some(file), Some(line)) if file == self.id => format!(" at line {line}"),
            (Some(file), Some(line)) => {
                let name = self.profile.files.get(&file).map_or("?", |file| file.name.as_str());
                format!(" at line {line} of {name}")
            }
            _ => String::new(),
        }
    }

    /// Subs that this line calls.
    fn write_callees(&self, out: &mut dyn Write, line: u32) -> Result<()> {
        let Some(called) = self.index.calls_in(self.id).get(&line) else { return Ok(()) };
        let mut called: Vec<_> = called.iter().collect();
        called.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.incl_ns));
        for (name, figures) in called.iter().take(NAMED) {
            self.note(out, &format!("calls {name}: {}", told(figures)))?;
        }
        self.more(out, called.len(), "sub")
    }

    /// String evals that this line ran.
    fn write_evals(&self, out: &mut dyn Write, line: u32) -> Result<()> {
        let Some(evals) = self.index.evals_in(self.id).get(&line) else { return Ok(()) };
        let alike =
            if evals.different < evals.count { format!(", {} different", evals.different) } else { String::new() };
        let time = Rounded(evals.time_ns as f64);
        self.note(out, &format!("{}{alike}: {time} in statements", counted(evals.count, "string eval")))
    }

    /// Subs without lines that belong to the package of this file.
    fn write_without_lines(&self, out: &mut dyn Write) -> Result<()> {
        for name in self.index.defined_in(self.id).get(&None).into_iter().flatten() {
            self.write_callers_of(out, name)?;
        }
        Ok(())
    }
}

fn sum(called: &BTreeMap<&str, Figures>) -> Figures {
    called.values().fold(Figures::default(), |sum, figures| Figures {
        count: sum.count.saturating_add(figures.count),
        incl_ns: sum.incl_ns.saturating_add(figures.incl_ns),
        ..sum
    })
}

/// Describes calls and their times.
fn told(figures: &Figures) -> String {
    let Figures { count, incl_ns, excl_ns, recursive_ns, depth } = *figures;
    let mut text = format!("{}, {}", counted(count, "call"), Rounded(incl_ns as f64));
    if excl_ns != incl_ns {
        text += &format!(", {} self", Rounded(excl_ns as f64));
    }
    // The time of recursive calls is part of the outermost call, so a mean would be meaningless.
    if count > 1 && depth == 0 {
        text += &format!(", {} each", Rounded(incl_ns as f64 / count as f64));
    }
    if depth > 0 {
        text += &format!(", recursive to depth {depth} for {}", Rounded(recursive_ns as f64));
    }
    text
}

fn style(figure: Option<f64>, spread: &Spread) -> Style {
    match figure.map(|figure| spread.heat(figure)) {
        Some(Heat::Hot) => Styles::ERROR,
        Some(Heat::Warm) => Styles::WARNING,
        Some(Heat::Mild) => Styles::NOTE,
        Some(Heat::Cold) => Styles::GOOD,
        None => Style::new(),
    }
}
