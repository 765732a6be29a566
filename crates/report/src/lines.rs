//! The hottest source lines of a profile, in context.

use traceloom_analysis::lines::{File, Report};

/// An expensive line, with the lines around it.
#[derive(Debug)]
pub(crate) struct HotLine {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) count: u64,
    pub(crate) self_ns: u64,
    /// Its share of the time of all lines.
    pub(crate) share: f64,
    /// Number, source and self time of this line and the lines around it.
    pub(crate) context: Vec<(u32, Option<String>, Option<u64>)>,
}

const MAX_LINES: usize = 20;
/// Number of lines before and after.
const CONTEXT: u32 = 2;

/// The lines with the most self time.
pub(crate) fn hottest(report: &Report) -> Vec<HotLine> {
    let files = || report.profiles.iter().flat_map(|profile| profile.files.values());
    let own = |ns: i64| ns.max(0) as u64;
    let all: Vec<(u64, &File, u32)> = files()
        .flat_map(|file| file.lines.iter().map(move |(line, cost)| (own(cost.self_ns()), file, *line)))
        .filter(|(self_ns, ..)| *self_ns > 0)
        .collect();
    let total = all.iter().fold(0_u64, |sum, (self_ns, ..)| sum.saturating_add(*self_ns)).max(1);
    let mut order = all;
    order.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| (&one.1.name, one.2).cmp(&(&other.1.name, other.2))));
    order
        .into_iter()
        .take(MAX_LINES)
        .map(|(self_ns, file, line)| HotLine {
            file: file.name.clone(),
            line,
            count: file.lines.get(&line).map_or(0, |cost| cost.count),
            self_ns,
            share: self_ns as f64 / total as f64,
            context: (line.saturating_sub(CONTEXT).max(1)..=line.saturating_add(CONTEXT))
                .map(|number| {
                    let cost = file.lines.get(&number).map(|cost| own(cost.self_ns()));
                    (number, file.source.get(&number).cloned(), cost)
                })
                .filter(|(number, source, _)| source.is_some() || *number == line)
                .collect(),
        })
        .collect()
}
