//! Advice, as plain data.

use serde::Serialize;

/// A problem.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Advice {
    /// The kind of problem.
    pub rule: Rule,
    /// How serious the problem is.
    #[serde(rename = "severity")]
    pub weight: Weight,
    /// The name that causes the problem: a span, thread, function, log site or counter.
    #[serde(rename = "blamed")]
    pub subject: String,
    /// The source location of the subject as `file:line`, if the trace has it.
    pub place: Option<String>,
    /// The cause in a few words.
    pub cause: String,
    /// The whole finding in one sentence.
    pub message: String,
    /// The share of the trace that a fix would save, between 0 and 1.
    pub saved: f64,
    /// Number of spans, frames, threads, allocations or log lines affected.
    pub count: u64,
    /// The numbers that the message is based on.
    pub evidence: Vec<Evidence>,
    /// SQL that shows the affected rows.
    pub query: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Rule {
    /// Blocks freed twice.
    DoubleFree,
    /// A burst of errors in a log.
    ErrorBurst,
    /// Frames, or other repeated spans, that take much longer than the rest.
    FrameSpike,
    /// Frames that regularly take longer than their budget.
    MissedBudget,
    /// Threads that run one after the other although they could run concurrently.
    LockConvoy,
    /// Blocks from one site that are never freed.
    Leak,
    /// A name whose calls become slower in the middle of the trace.
    Slowdown,
    /// A value that keeps growing.
    Growth,
    /// A thread of a pool with far more work than the others.
    UnevenPool,
    /// A thread of a pool with almost no work.
    IdleWorker,
    /// A function that calls itself very deeply or very often.
    Recursion,
    /// A log site that floods the log.
    LogStorm,
    /// A name with very many very short spans.
    TinySpans,
    /// A site that allocates and frees constantly.
    Churn,
    /// A name with a large share of the self time.
    HotName,
    /// A source line with a large share of the time.
    HotLine,
}

impl Rule {
    /// The id in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DoubleFree => "double-free",
            Self::ErrorBurst => "error-burst",
            Self::FrameSpike => "frame-spike",
            Self::MissedBudget => "missed-budget",
            Self::LockConvoy => "lock-convoy",
            Self::Leak => "leak",
            Self::Slowdown => "slowdown",
            Self::Growth => "growth",
            Self::UnevenPool => "uneven-pool",
            Self::IdleWorker => "idle-worker",
            Self::Recursion => "recursion",
            Self::LogStorm => "log-storm",
            Self::TinySpans => "tiny-spans",
            Self::Churn => "churn",
            Self::HotName => "hot-name",
            Self::HotLine => "hot-line",
        }
    }

    /// Whether this is only a hot spot; every trace has some, so they rank last.
    pub(super) fn is_profile(self) -> bool {
        matches!(self, Self::HotName | Self::HotLine | Self::Churn)
    }
}

/// How serious a problem is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AdviceSeverity"))]
pub enum Weight {
    /// Look here first.
    High,
    /// Worth a look.
    Medium,
    /// Good to know.
    Low,
}

impl Weight {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "EvidenceUnit"))]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// A count.
    Count,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// A value of the trace, in its own unit.
    Number,
    /// A share between 0 and 1.
    Part,
    /// A factor.
    Times,
}

/// A number that an advice is based on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Evidence {
    /// Description of the measurement.
    pub what: String,
    /// Timestamp of the measurement, if it has one.
    pub ts_ns: Option<i64>,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

impl Evidence {
    pub(super) fn new(what: impl Into<String>, value: f64, unit: Unit) -> Self {
        Self { what: what.into(), ts_ns: None, value, unit }
    }

    pub(super) fn ns(what: impl Into<String>, value: u64) -> Self {
        Self::new(what, value as f64, Unit::Nanoseconds)
    }

    pub(super) fn count(what: impl Into<String>, value: u64) -> Self {
        Self::new(what, value as f64, Unit::Count)
    }

    pub(super) fn at(self, ts_ns: i64) -> Self {
        Self { ts_ns: Some(ts_ns), ..self }
    }
}

/// A span that takes longer than the others of its name, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[non_exhaustive]
pub struct SlowSpan {
    /// The name, or `frame`.
    pub name: String,
    /// The thread.
    pub thread: String,
    /// Start time.
    pub ts_ns: i64,
    /// Duration.
    pub dur_ns: u64,
    /// The median of its series.
    pub median_ns: f64,
    /// Whether the span is slow; if not, it is only one of the longest.
    pub is_slow: bool,
    /// The name that causes the slowness.
    pub blamed: String,
    /// The time that this name takes.
    pub blamed_ns: u64,
    /// The cause in a few words.
    pub cause: String,
}

/// Max number of cases listed per advice.
pub(super) const EVIDENCE: usize = 5;
