//! The list of formats, one row per format.

use traceloom_core::{Descriptor, Findings, Options, Result, Source};
use traceloom_model::{Halt, Tables};
use traceloom_passes::Target;

use crate::{growing::Grow, pipeline::Split, prepared::Preparation, trace::Input};

/// Starts reading a growing file.
pub(crate) type StartGrowing = fn(&Source, &Options) -> Result<Box<dyn Grow>>;

/// A format with its conversions to and from tables.
pub struct Mapping {
    /// The format's descriptor.
    pub format: &'static Descriptor,
    /// Converts tables to records.
    pub target: &'static Target,
    /// Reads a whole file into the tables; returns the findings of the file.
    pub(crate) to_tables: fn(&Input<'_>, &mut Tables<'_>) -> Result<Findings, Halt>,
    /// What a pass has to read before its first row, if anything.
    pub(crate) preparation: Option<&'static Preparation>,
    /// The rows that several threads can make, if there are any.
    pub(crate) split: Option<&'static Split>,
    /// Reads a growing file, if the format can be read incrementally.
    pub(crate) grow: Option<StartGrowing>,
}

macro_rules! formats {
    ($(
        $feature:literal $module:ident $format:path
        $(, prepare $preparation:path)? $(, split $split:path)? $(, grow $grow:path)?;
    )+) => {
        /// Every format in this build, by id.
        pub static FORMATS: &[Mapping] = &[$(
            #[cfg(feature = $feature)]
            Mapping {
                format: &$format,
                // A browser page writes no traces, and is smaller without the writers.
                target: if cfg!(target_family = "wasm") { &Target::EMPTY } else { &crate::$module::from_tables::TARGET },
                to_tables: crate::$module::to_tables::to_tables,
                preparation: [$(&$preparation)?].first().copied(),
                split: [$(&$split)?].first().copied(),
                grow: [$(Some($grow as StartGrowing),)? None][0],
            },
        )+];
    };
}

formats! {
    "cnanolog" cnanolog traceloom_cnanolog::FORMAT, split crate::cnanolog::to_tables::SPLIT;
    "easyprofiler" easyprofiler traceloom_easyprofiler::FORMAT,
        prepare crate::easyprofiler::to_tables::TREE, split crate::easyprofiler::to_tables::SPLIT;
    "memlyze" memlyze traceloom_memlyze::FORMAT;
    "nytprof" nytprof traceloom_nytprof::FORMAT;
    "nytprof" pynytprof traceloom_nytprof::pynytprof::FORMAT;
    "wtf" wtf traceloom_wtf::FORMAT, prepare crate::wtf::to_tables::TREE, grow crate::wtf::to_tables::grow;
}
