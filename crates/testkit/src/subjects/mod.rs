//! One file per format.

mod cnanolog;
mod cnanolog_golden;
mod easyprofiler;
mod easyprofiler_golden;
mod memlyze;
mod memlyze_golden;

use crate::Subject;

pub use self::{cnanolog::CNanoLog, easyprofiler::EasyProfiler, memlyze::Memlyze};

/// Every format under test.
pub static SUBJECTS: &[&dyn Subject] = &[&CNanoLog, &EasyProfiler, &Memlyze];
