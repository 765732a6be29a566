//! The list of formats: one row each.

use traceloom_core::{Descriptor, Findings, Result};
use traceloom_model::{Halt, Tables};
use traceloom_passes::Target;

use crate::trace::Input;

/// A format with its way to the tables and back.
pub struct Mapping {
    /// The format as data.
    pub format: &'static Descriptor,
    /// Tables to records.
    pub target: &'static Target,
    /// Reads a whole file into the tables; gives the problems of the file.
    pub(crate) to_tables: fn(&Input<'_>, &mut Tables<'_>) -> Result<Findings, Halt>,
}

/// Every format that this build has, by id.
pub static FORMATS: &[Mapping] = &[
    #[cfg(feature = "cnanolog")]
    crate::cnanolog::MAPPING,
    #[cfg(feature = "easyprofiler")]
    crate::easyprofiler::MAPPING,
    #[cfg(feature = "memlyze")]
    crate::memlyze::MAPPING,
    #[cfg(feature = "nytprof")]
    crate::nytprof::MAPPING,
    #[cfg(feature = "nytprof")]
    crate::pynytprof::MAPPING,
    #[cfg(feature = "wtf")]
    crate::wtf::MAPPING,
];
