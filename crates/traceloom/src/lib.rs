//! Opens traces that general-purpose viewers cannot: EasyProfiler `.prof`, NYTProf (Perl's and Pynytprof's), CNanoLog `.clog`,
//! Memlyze `.mlyze`, Web Tracing Framework `.wtf-trace`; healthy or damaged, compressed or not.
//!
#![cfg_attr(all(feature = "easyprofiler", feature = "tables"), doc = "```")]
#![cfg_attr(not(all(feature = "easyprofiler", feature = "tables")), doc = "```ignore")]
//! use traceloom::{Trace, tables::Table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("game.prof");
//! # std::fs::write(&path, traceloom::easyprofiler::sample::sample()?.bytes)?;
//! let trace = Trace::open(&path)?; // the format is detected
//! let info = trace.info()?;
//! println!("{} {}, {} bytes", info.format.name, info.contents.version, info.bytes);
//! for problem in trace.check()?.kept() {
//!     println!("{problem}"); // with its byte offset and its code
//! }
//! trace.records(|record| println!("{:>10} {record}", record.offset))?;
//! println!("{} spans", trace.tables().rows(Table::Spans)?);
//! # Ok::<(), traceloom::Error>(())
//! ```
//!
//! With the feature `sql`, `Trace::sql` runs queries; with `export`, `Trace::write_as` converts the trace for Perfetto,
//! speedscope and other tools, or to another format. [`Traces`] holds several traces on one time axis. The folder
//! `examples` of this crate has a short program for each of these.
//!
//! # Features
//!
//! | feature | provides |
//! |---|---|
//! | `cnanolog`, `easyprofiler`, `memlyze`, `nytprof`, `wtf` | a format, and its typed records in the module of that name |
//! | `tables` | Arrow tables, the same for all formats: `Trace::tables` |
//! | `analysis` | statistics, flame graphs, memory, comparison: the module `analysis` |
//! | `export` | conversion: `Trace::write_as`, `Trace::convert` |
//! | `json` | summaries and checks as JSON: `Info::to_json`, `Verdict` |
//! | `sql` | queries: `Trace::sql` |
//!
//! The formats and `tables` are enabled by default. A program that reads one format and needs no tables can depend only
//! on the crate of that format (such as `traceloom-easyprofiler`), which builds in seconds.

#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "tables")]
mod builder;
#[cfg(feature = "export")]
mod convert;
#[cfg(feature = "json")]
mod json;
mod options;
mod output;
mod pull;
mod record;
mod trace;
mod traces;

#[cfg(feature = "analysis")]
pub use traceloom_analysis as analysis;
#[cfg(feature = "cnanolog")]
pub use traceloom_cnanolog as cnanolog;
#[cfg(feature = "easyprofiler")]
pub use traceloom_easyprofiler as easyprofiler;
#[cfg(feature = "export")]
pub use traceloom_export as export;
#[cfg(feature = "memlyze")]
pub use traceloom_memlyze as memlyze;
#[cfg(feature = "nytprof")]
pub use traceloom_nytprof as nytprof;
#[cfg(feature = "wtf")]
pub use traceloom_wtf as wtf;

pub use traceloom_core::{
    Amount, Codec, Compression, Descriptor, Edited, Error, ErrorKind, Fact, Finding, Findings, Limits, Loss, Position,
    Records, Result, Severity, Slice, Source, TimeRange,
};

pub use crate::{
    options::OpenOptions,
    pull::Pull,
    record::{IntoFlow, Record, RecordFields},
    trace::{Info, Trace, formats},
    traces::Traces,
};

#[cfg(feature = "tables")]
pub use crate::builder::{LogLevel, Place, TraceBuilder};
#[cfg(feature = "export")]
pub use crate::convert::Conversion;
#[cfg(feature = "json")]
pub use crate::json::Verdict;

/// The common basis of all formats: positional reading with bounded memory, limits, findings.
pub use traceloom_core as core;

#[cfg(feature = "tables")]
pub mod tables;

#[cfg(feature = "sql")]
pub mod sql;

/// The code of the READMEs, compiled as tests.
#[cfg(doctest)]
mod readmes {
    #[doc = include_str!("../README.md")]
    struct OfTheCrate;
    #[doc = include_str!("../../../README.md")]
    struct OfTheRepository;
    #[cfg(feature = "cnanolog")]
    #[doc = include_str!("../../formats/cnanolog/README.md")]
    struct OfCNanoLog;
    #[cfg(feature = "easyprofiler")]
    #[doc = include_str!("../../formats/easyprofiler/README.md")]
    struct OfEasyProfiler;
    #[cfg(feature = "memlyze")]
    #[doc = include_str!("../../formats/memlyze/README.md")]
    struct OfMemlyze;
    #[cfg(feature = "nytprof")]
    #[doc = include_str!("../../formats/nytprof/README.md")]
    struct OfNytprof;
    #[cfg(feature = "wtf")]
    #[doc = include_str!("../../formats/wtf/README.md")]
    struct OfWtf;
}
