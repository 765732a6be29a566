//! The comparison, as plain data.

use serde_json::{Value, json};

/// How two sets of runs differ.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Runs of the first set and of the second.
    pub runs: [usize; 2],
    /// What was compared: worse, better, new, gone, the same; of each the largest difference first.
    pub rows: Vec<Row>,
    /// Own time of everything that was measured, in each set, as the mean of its runs.
    pub own_ns: [f64; 2],
}

impl Report {
    /// Whether the scatter between runs is known: only where each set has at least two.
    pub fn knows_noise(&self) -> bool {
        self.runs.iter().all(|runs| *runs >= 2)
    }

    /// What got worse by more than this, such as 0.05 for 5 %.
    pub fn worse_than(&self, limit: f64) -> impl Iterator<Item = &Row> {
        self.rows
            .iter()
            .filter(move |row| row.verdict == Verdict::Worse && row.change.is_some_and(|change| change > limit))
    }
}

/// What a row is about.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// Spans or functions of a name, in nanoseconds.
    Name,
    /// A source line, in nanoseconds.
    Line,
    /// What a function allocated, in bytes.
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

    /// The unit of its amounts.
    pub(super) fn unit(self) -> &'static str {
        if self == Self::Memory { "bytes" } else { "ns" }
    }
}

/// What came of it.
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
    /// No difference that stands out.
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
    /// What it is about.
    pub kind: Kind,
    /// The unit of what is compared: `ns`, `bytes` or `calls`.
    pub unit: &'static str,
    /// The name, the file, or the function.
    pub name: String,
    /// The line, where it is one.
    pub line: Option<u32>,
    /// What came of it.
    pub verdict: Verdict,
    /// The first set; none where it is new.
    pub before: Option<Side>,
    /// The second set; none where it is gone.
    pub after: Option<Side>,
    /// The difference of the measure as a part of what it was.
    pub change: Option<f64>,
    /// How much of a difference may be chance.
    pub noise: Noise,
    /// The difference in standard deviations: of the runs, or where there is one run only, of the durations in it.
    pub effect: Option<f64>,
    /// How likely such a difference is by chance, corrected for the number of comparisons; only between sets of runs.
    pub p: Option<f64>,
    /// Its part of the own time, or of the bytes, in the set where it is larger.
    pub share: f64,
}

impl Row {
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

/// One set, as the means of its runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// What is compared: nanoseconds, bytes or calls.
    pub value: f64,
    /// Calls, statements or allocations in a run.
    pub calls: f64,
    /// Nanoseconds or bytes in a run.
    pub total: f64,
}

/// What is known about chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// From run to run: the true change is within this of the one shown, in 95 of 100 cases.
    BetweenRuns(f64),
    /// Nothing.
    Unknown,
    /// A hint from the scatter of durations inside of one run; what differs from run to run is not in it.
    WithinRun(f64),
}
