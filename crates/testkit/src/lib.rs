//! The conformance suite: the requirements for every format, tested on fixtures and on any other corpus.
//!
//! A format implements [`Specimen`] once; [`conformance`] compares it with the goldens, and the tests of
//! this crate run the same cases over every subject of [`SUBJECTS`].

#![forbid(unsafe_code)]

mod browser;
pub mod client;
mod compare;
mod conformance;
mod corpus;
mod digest;
pub mod document;
pub mod made;
mod noise;
pub mod npm;
mod nytprofcalls;
mod original_wtf;
#[cfg(feature = "planted")]
pub mod planted;
mod preload;
pub mod recorded;
pub mod sources;
mod subject;
mod subjects;
mod zlib;

pub use crate::{
    browser::Browser,
    compare::differences,
    conformance::{Report, Score, conformance},
    corpus::{Case, cases, default_roots, each_case, files, fixture, fixtures, strays},
    digest::{Digest, FieldHash, RecordDigest},
    noise::Noise,
    nytprofcalls::nytprofcalls_name,
    original_wtf::OriginalWtf,
    preload::preload_library,
    subject::{Field, FieldEdit, IsChanged, Moments, Specimen, Subject},
    subjects::{CNanoLog, EasyProfiler, Memlyze, Nytprof, Pynytprof, SUBJECTS, Wtf},
};
