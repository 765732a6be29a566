//! One file per format.

mod easyprofiler;
mod easyprofiler_golden;
mod memlyze;
mod memlyze_golden;

use crate::Subject;

pub use self::{easyprofiler::EasyProfiler, memlyze::Memlyze};

/// Every format under test.
pub static SUBJECTS: &[&dyn Subject] = &[&EasyProfiler, &Memlyze];
