//! One folder per format.

mod cnanolog;
mod easyprofiler;
mod memlyze;
mod nytprof;
mod pynytprof;
mod wtf;

use crate::Subject;

pub use self::{
    cnanolog::CNanoLog, easyprofiler::EasyProfiler, memlyze::Memlyze, nytprof::Nytprof, pynytprof::Pynytprof, wtf::Wtf,
};

/// Every format under test.
pub static SUBJECTS: &[&dyn Subject] = &[&CNanoLog, &EasyProfiler, &Memlyze, &Nytprof, &Pynytprof, &Wtf];

/// Bytes in the form of the goldens.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
