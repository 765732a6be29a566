//! One file per format.

mod cnanolog;
mod cnanolog_golden;
mod easyprofiler;
mod easyprofiler_golden;
mod memlyze;
mod memlyze_golden;
mod nytprof;
mod nytprof_golden;
mod nytprof_summary;
mod pynytprof;
mod pynytprof_golden;
mod wtf;
mod wtf_golden;
mod wtf_golden_json;

use crate::Subject;

pub use self::{
    cnanolog::CNanoLog, easyprofiler::EasyProfiler, memlyze::Memlyze, nytprof::Nytprof, pynytprof::Pynytprof, wtf::Wtf,
};

/// Every format under test.
pub static SUBJECTS: &[&dyn Subject] = &[&CNanoLog, &EasyProfiler, &Memlyze, &Nytprof, &Pynytprof, &Wtf];
