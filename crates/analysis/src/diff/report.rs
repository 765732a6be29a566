//! The comparison, as plain data.

use serde_json::{Value, json};

/// The differences between two sets of runs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Number of runs in the first and in the second set.
    pub runs: [usize; 2],
    /// Rows by verdict (worse, better, new, gone, same), largest difference first.
    pub rows: Vec<Row>,
    /// Self time of all spans in each set, as the mean of its runs.
    pub self_ns: [f64; 2],
}

impl Report {
    /// Whether run-to-run noise is known, which needs at least two runs per set.
    pub fn knows_noise(&self) -> bool {
        self.runs.iter().all(|runs| *runs >= 2)
    }

    /// Rows that got worse by more than this, such as 0.05 for 5 %.
    pub fn worse_than(&self, limit: f64) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(move |row| row.verdict == Verdict::Worse && row.change.is_some_and(|change| change > limit))
    }
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// Spans or functions of a name, in nanoseconds.
    Name,
    /// A source line, in nanoseconds.
    Line,
    /// Allocations of a function, in bytes.
    Memory,
}

impl Kind {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Line => "line",
            Self::Memory => "memory",
        }
    }

    /// The unit of the amounts.
    pub(super) fn unit(self) -> &'static str {
        if self == Self::Memory { "bytes" } else { "ns" }
    }
}

/// The verdict on a row.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Verdict {
    /// Slower, or more.
    Worse,
    /// Faster, or less.
    Better,
    /// Only in the second set.
    New,
    /// Only in the first set.
    Gone,
    /// No significant difference.
    Same,
}

impl Verdict {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Same => "same",
        }
    }
}

/// One name, line or function in both sets.
#[derive(Clone, Debug)]
pub struct Row {
    /// The kind of row.
    pub kind: Kind,
    /// The unit of the compared values: `ns`, `bytes` or `calls`.
    pub unit: &'static str,
    /// Name, file, or function.
    pub name: String,
    /// Line number, for a source line.
    pub line: Option<u32>,
    /// The verdict.
    pub verdict: Verdict,
    /// The first set; `None` if the row is new.
    pub before: Option<Side>,
    /// The second set; `None` if the row is gone.
    pub after: Option<Side>,
    /// Relative difference of the metric.
    pub change: Option<f64>,
    /// The noise of the difference.
    pub noise: Noise,
    /// Effect size: the difference in standard deviations of the runs, or of the durations if there is only one run.
    pub effect: Option<f64>,
    /// p-value, corrected for the number of comparisons; only between sets of runs.
    pub p: Option<f64>,
    /// Share of the self time or bytes, in the set where it is larger.
    pub share: f64,
}

impl Row {
    /// The name for people, with the line if there is one.
    pub fn label(&self) -> String {
        self.line.map_or_else(|| self.name.clone(), |line| format!("{}:{line}", self.name))
    }

    /// The relative difference for people; empty if there is none.
    pub fn change_label(&self) -> String {
        self.change.map_or_else(String::new, |change| format!("{:+.1} %", change * 100.0))
    }

    /// The row as JSON.
    pub fn to_json(&self) -> Value {
        let (value, total) = (format!("value_{}", self.unit), format!("total_{}", self.kind.unit()));
        let side =
            |side: Option<Side>| side.map(|side| json!({&value: side.value, "calls": side.calls, &total: side.total}));
        let (noise, between) = match self.noise {
            Noise::BetweenRuns(noise) => (Some(noise), Some("runs")),
            Noise::Unknown => (None, None),
            Noise::WithinRun(noise) => (Some(noise), Some("durations of one run")),
        };
        json!({
            "kind": self.kind.as_str(),
            "name": self.name,
            "line": self.line,
            "verdict": self.verdict.as_str(),
            "before": side(self.before),
            "after": side(self.after),
            "change": self.change,
            "noise": noise,
            "noise_between": between,
            "effect": self.effect,
            "p": self.p,
            "share": self.share,
        })
    }
}

/// The figures of one set, as means of its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Side {
    /// The compared value, in nanoseconds, bytes or calls.
    pub value: f64,
    /// Calls, statements or allocations per run.
    pub calls: f64,
    /// Nanoseconds or bytes per run.
    pub total: f64,
}

/// The noise of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Between runs: half the 95 % confidence interval of the change.
    BetweenRuns(f64),
    /// Unknown.
    Unknown,
    /// Within one run: estimated from the spread of its durations, without run-to-run noise.
    WithinRun(f64),
}

impl std::fmt::Display for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BetweenRuns(noise) => write!(f, "± {:.1} %", noise * 100.0),
            Self::Unknown => f.write_str("?"),
            Self::WithinRun(noise) => write!(f, "± {:.1} % ?", noise * 100.0),
        }
    }
}
