//! A store of many traces: the list, the trends, and opening a trace.
//!
//! A store contains the paths of its traces, and anybody may have written it. So only files below folders given by the
//! user are opened, and only if their content matches the store.

#[cfg(any(feature = "sql", test))]
mod answer;
#[cfg(feature = "sql")]
mod catalog;
#[cfg(feature = "sql")]
mod list;
#[cfg(feature = "sql")]
mod sources;
#[cfg(feature = "sql")]
mod stored;
#[cfg(feature = "sql")]
mod trends;

#[cfg(test)]
pub(crate) use self::answer::{
    OpenStoredQuery, RegressionsQuery, StoreAbout, StoredDetails, StoredNames, StoredNamesQuery, StoredQuery,
    StoredTraces, TracesQuery, TrendQuery, trend::Trend,
};
#[cfg(feature = "sql")]
pub(crate) use self::stored::{Stored, routes};
