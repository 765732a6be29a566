//! One file per format.

mod easyprofiler;
mod easyprofiler_golden;

use crate::Subject;

pub use self::easyprofiler::EasyProfiler;

/// Every format under test.
pub static SUBJECTS: &[&dyn Subject] = &[&EasyProfiler];
