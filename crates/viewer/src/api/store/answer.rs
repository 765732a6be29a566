//! Queries about a store, and their answers.
#![cfg_attr(not(feature = "sql"), allow(dead_code, reason = "only the page needs the types then"))]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::api::wire::row;

/// The contents of a store.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StoreAbout {
    pub(crate) path: String,
    /// Whether it is a fleet store, which has trends.
    pub(crate) has_trends: bool,
    /// Traces and files in quarantine.
    pub(crate) all: u64,
    pub(crate) quarantined: u64,
    /// Number of traces that can be listed; fewer than all in a very large store.
    pub(crate) listed: usize,
    /// The columns with tags, and `format`.
    pub(crate) tags: Vec<StoreTag>,
}

/// A column with tags.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StoreTag {
    pub(crate) column: String,
    /// Number of values; only the newest are listed.
    pub(crate) all: usize,
    pub(crate) values: Vec<TagValue>,
}

row! {
    /// A value of a tag, and the number of its traces.
    pub(crate) struct TagValue { value: String, traces: usize }
}

/// Filter and order of the list of traces.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub(crate) struct TracesQuery {
    /// Words that all must occur in the path, a tag, the format or the finding.
    pub(crate) text: String,
    /// Allowed values by column.
    pub(crate) tags: BTreeMap<String, Vec<String>>,
    pub(crate) state: StoredState,
    pub(crate) sort: StoredSort,
    /// The sort column, if it is a tag.
    pub(crate) column: String,
    pub(crate) is_down: bool,
    pub(crate) skip: usize,
    pub(crate) take: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoredState {
    #[default]
    All,
    Damaged,
    Fine,
    Quarantined,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoredSort {
    Bytes,
    Duration,
    Entries,
    Path,
    Problems,
    #[default]
    Start,
    Tag,
}

/// A range of the list.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StoredTraces {
    /// Number of matching traces.
    pub(crate) total: usize,
    /// The requested rows.
    pub(crate) rows: Vec<StoredRow>,
}

row! {
    /// A trace of a store; a file in quarantine has a finding instead of contents.
    pub(crate) struct StoredRow {
        id: String,
        path: String,
        tags: Vec<String>,
        start_unix_ns: Option<String>,
        duration_ns: Option<f64>,
        spans: u64,
        lines: u64,
        allocations: u64,
        bytes: u64,
        errors: u64,
        warnings: u64,
        finding: Option<String>,
    }
}

/// One trace, by its id.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StoredQuery {
    /// As text, because it does not fit into a JavaScript number.
    pub(crate) id: String,
}

/// Details of a trace.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StoredDetails {
    pub(crate) row: StoredRow,
    /// Number of problems of the trace.
    pub(crate) all_findings: u64,
    /// The first problems.
    pub(crate) findings: Vec<StoredFinding>,
    /// The file from which it is opened; its content is checked when it is opened.
    pub(crate) source: Option<String>,
    /// Why it cannot be opened.
    pub(crate) refusal: Option<String>,
}

row! {
    /// A problem of a trace.
    pub(crate) struct StoredFinding { severity: String, code: String, message: String }
}

/// The trace to open.
#[cfg(test)]
#[derive(ts_rs::TS)]
#[allow(dead_code, reason = "the server reads it from the address")]
pub(crate) struct OpenStoredQuery {
    trace: String,
}

/// The figure of each trace that is checked for changes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum TrendMetric {
    Mean,
    #[default]
    P50,
    P95,
    P99,
}

/// Names of the store, changed ones first.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StoredNamesQuery {
    #[serde(default)]
    pub(crate) metric: TrendMetric,
    /// Words that all must occur in the name.
    #[serde(default)]
    pub(crate) text: String,
    pub(crate) skip: usize,
    pub(crate) take: usize,
}

/// A range of the names.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StoredNames {
    /// Number of matching names.
    pub(crate) total: usize,
    /// Number of names that changed.
    pub(crate) changed: usize,
    pub(crate) rows: Vec<StoredName>,
}

row! {
    /// A name, the time of its spans in all traces, and its largest change.
    pub(crate) struct StoredName { name: String, calls: f64, total_ns: f64, change: Option<f64> }
}

/// The history of a name.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TrendQuery {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) metric: TrendMetric,
}

/// Two builds to compare.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RegressionsQuery {
    pub(crate) baseline: String,
    pub(crate) candidate: String,
}

/// The output of [`traceloom_fleet::Trend::to_json`], for the page.
#[cfg(test)]
pub(crate) mod trend {
    #![allow(dead_code, reason = "only their shape counts")]

    use serde::Deserialize;

    /// The times of a name from day to day and from build to build, as `traceloom trend --json` prints them.
    #[derive(Debug, Deserialize, ts_rs::TS)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct Trend {
        pub(crate) points: Vec<TrendPlace>,
        pub(crate) looked_at: usize,
        pub(crate) names: Vec<NameTrend>,
    }

    /// A day and a build.
    #[derive(Debug, Deserialize, ts_rs::TS)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct TrendPlace {
        pub(crate) day: String,
        pub(crate) build: String,
    }

    #[derive(Debug, Deserialize, ts_rs::TS)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct NameTrend {
        pub(crate) name: String,
        pub(crate) points: Vec<TrendPoint>,
        pub(crate) changes: Vec<TrendChange>,
    }

    /// A name on one day in one build.
    #[derive(Debug, Deserialize, ts_rs::TS)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct TrendPoint {
        pub(crate) day: String,
        pub(crate) build: String,
        pub(crate) traces: usize,
        pub(crate) calls: u64,
        pub(crate) p50_ns: Option<f64>,
        pub(crate) p95_ns: Option<f64>,
        pub(crate) p99_ns: Option<f64>,
        /// Mean of the figures of the traces.
        pub(crate) value_ns: f64,
        /// Half the width of the 95 % confidence interval of the mean.
        pub(crate) noise_ns: Option<f64>,
    }

    /// A lasting change.
    #[derive(Debug, Deserialize, ts_rs::TS)]
    #[serde(deny_unknown_fields)]
    pub(crate) struct TrendChange {
        pub(crate) at: TrendPlace,
        pub(crate) before_ns: f64,
        pub(crate) after_ns: f64,
        /// As a share of the value before.
        pub(crate) change: f64,
        pub(crate) noise: f64,
        /// The probability that the change is due to chance.
        pub(crate) p: f64,
    }
}
