//! Prepares the comparison for charts and tables.

use std::{
    collections::{HashMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
};

use traceloom_analysis::{
    diff::{Kind, Report, Row, Side, Verdict},
    flame::{Graph, ShownFrame},
    units,
};

/// Verdicts in display order.
pub(crate) const VERDICTS: [Verdict; 4] = [Verdict::Worse, Verdict::Better, Verdict::New, Verdict::Gone];

/// The label of a verdict.
pub(crate) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "slower or more",
        Verdict::Better => "faster or less",
        Verdict::New => "new",
        Verdict::Gone => "gone",
        Verdict::Same => "unchanged",
    }
}

/// The rows of a verdict, in the order of the comparison.
pub(crate) fn rows(report: &Report, verdict: Verdict) -> Vec<&Row> {
    report.rows.iter().filter(|row| row.verdict == verdict).collect()
}

/// The number of rows per verdict, as text.
pub(crate) fn verdict(report: &Report) -> String {
    let counts = VERDICTS.iter().map(|verdict| (rows(report, *verdict).len(), word(*verdict)));
    let all: Vec<String> =
        counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if all.is_empty() { "Nothing changed.".to_owned() } else { format!("{}.", all.join(", ")) }
}

/// Describes how reliable the verdicts are.
pub(crate) fn caution(report: &Report) -> String {
    let [before, after] = report.runs;
    if report.knows_noise() {
        return format!(
            "{before} runs before, {after} after; at most about 5 % of the listed differences are due to chance."
        );
    }
    "With one run on each side, run-to-run noise is unknown; ± is the spread within a run.".to_owned()
}

/// Name, before, after, change and noise.
pub(crate) fn cells(row: &Row) -> [String; 5] {
    let value = |side: Option<Side>| {
        let amount = if row.kind == Kind::Memory { units::bytes } else { units::time };
        side.map_or_else(|| "–".to_owned(), |side| amount(side.value))
    };
    [row.label(), value(row.before), value(row.after), row.change_label(), row.noise.to_string()]
}

/// The change of every frame of the second graph as a share of the total.
pub(crate) fn changes(before: &Graph, after: &[ShownFrame<'_>]) -> Vec<f64> {
    let shown = before.top_down(&[]);
    let keys = keys(&shown.frames);
    let whole = |frames: &[ShownFrame<'_>]| frames.first().map_or(1, |root| root.total.max(1)) as f64;
    let before_whole = whole(&shown.frames);
    let known: HashMap<u64, u64> = keys.into_iter().zip(shown.frames.iter().map(|frame| frame.total)).collect();
    let part = |(key, frame): (u64, &ShownFrame<'_>)| {
        let before = known.get(&key).map_or(0.0, |total| *total as f64 / before_whole);
        frame.total as f64 / whole(after) - before
    };
    self::keys(after).into_iter().zip(after).map(part).collect()
}

/// A number for the path to each frame.
fn keys(frames: &[ShownFrame<'_>]) -> Vec<u64> {
    let mut keys: Vec<u64> = Vec::with_capacity(frames.len());
    for (number, frame) in frames.iter().enumerate() {
        // A new hasher has the same keys each time.
        let mut hasher = DefaultHasher::new();
        (if number == 0 { 0 } else { keys[frame.parent as usize] }).hash(&mut hasher);
        frame.name.hash(&mut hasher);
        keys.push(hasher.finish());
    }
    keys
}
