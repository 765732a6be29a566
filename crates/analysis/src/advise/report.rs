//! Advice, as plain data.

/// Something worth a look.
#[derive(Clone, Debug)]
pub struct Advice {
    /// What was noticed.
    pub rule: Rule,
    /// How much it weighs.
    pub weight: Weight,
    /// The name, thread or place that it is about.
    pub subject: String,
    /// What was measured, in the unit of the rule.
    pub value: f64,
    /// From where on that is worth a look.
    pub limit: f64,
    /// How many spans, frames, threads or entries it is about.
    pub count: u64,
    /// The worst cases, or what it consists of.
    pub evidence: Vec<Evidence>,
    /// SQL that shows it.
    pub query: String,
}

/// What can be noticed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// Spans that take long; the value is the longest.
    LongSpan,
    /// A name that much of the trace is spent in; the value is its part.
    HotName,
    /// Frames that take much longer than usual; the value is the longest in medians.
    FrameSpike,
    /// Memory or a value that grows without end; the value is by how much.
    Growth,
    /// A place that logs very often; the value is the most in a second.
    LogStorm,
    /// A thread that is taken off the processor very often; the value is how often.
    ManySwitches,
    /// Threads of which some are much busier; the value is how many times.
    UnbalancedThreads,
}

impl Rule {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LongSpan => "long-span",
            Self::HotName => "hot-name",
            Self::FrameSpike => "frame-spike",
            Self::Growth => "growth",
            Self::LogStorm => "log-storm",
            Self::ManySwitches => "many-switches",
            Self::UnbalancedThreads => "unbalanced-threads",
        }
    }

    /// What its value counts.
    pub fn unit(self) -> Unit {
        match self {
            Self::LongSpan => Unit::Nanoseconds,
            Self::HotName | Self::Growth => Unit::Part,
            Self::FrameSpike | Self::UnbalancedThreads => Unit::Times,
            Self::LogStorm | Self::ManySwitches => Unit::Count,
        }
    }
}

/// How much something weighs.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Weight {
    /// Look here first.
    High,
    /// Worth a look.
    Medium,
    /// Good to know.
    Low,
}

impl Weight {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// What a number counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Things.
    Count,
    /// A time.
    Nanoseconds,
    /// A value of the trace, in its own unit.
    Number,
    /// A part of a whole.
    Part,
    /// How many times as much.
    Times,
}

/// One fact behind an advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What, or where.
    pub what: String,
    /// When it was.
    pub ts_ns: Option<i64>,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: Unit,
}

impl Evidence {
    pub(super) fn new(what: String, value: f64, unit: Unit) -> Self {
        Self { what, ts_ns: None, value, unit }
    }

    pub(super) fn at(self, ts_ns: i64) -> Self {
        Self { ts_ns: Some(ts_ns), ..self }
    }
}

/// Facts that are kept of each.
pub(super) const EVIDENCE: usize = 5;

/// A text as SQL writes it.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
