//! Tables to records: our own formats as targets.

use traceloom_passes::Target;

use crate::{cnanolog, easyprofiler, memlyze, nytprof, pynytprof, wtf};

/// Every format of ours that tables can be written as, by id.
pub static TARGETS: &[&dyn Target] =
    &[cnanolog::TARGET, easyprofiler::TARGET, memlyze::TARGET, nytprof::TARGET, pynytprof::TARGET, wtf::TARGET];
