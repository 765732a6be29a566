//! A store of many traces: its list, its trends, and how one of its traces is opened.
//!
//! A store says where the files of its traces were, and anybody may have written it. Only files below folders that the user
//! named are opened, and only if their content is what the store says.

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
