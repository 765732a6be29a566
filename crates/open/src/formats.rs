//! The list of formats: one line each.

use traceloom_core::{Error, Result};

use crate::{Format, format::Erased};

/// All formats.
pub static FORMATS: &[&dyn Format] = &[
    #[cfg(feature = "cnanolog")]
    &Erased::<traceloom_cnanolog::CNanoLog>::NEW,
    #[cfg(feature = "easyprofiler")]
    &Erased::<traceloom_easyprofiler::EasyProfiler>::NEW,
    #[cfg(feature = "memlyze")]
    &Erased::<traceloom_memlyze::Memlyze>::NEW,
    #[cfg(feature = "nytprof")]
    &Erased::<traceloom_nytprof::Nytprof>::NEW,
    #[cfg(feature = "nytprof")]
    &Erased::<traceloom_nytprof::pynytprof::Pynytprof>::NEW,
    #[cfg(feature = "wtf")]
    &Erased::<traceloom_wtf::Wtf>::NEW,
];

/// The format with this id.
pub fn by_id(id: &str) -> Result<&'static dyn Format> {
    let found = FORMATS.iter().find(|format| format.descriptor().id == id).copied();
    found.ok_or_else(|| {
        let ids: Vec<_> = FORMATS.iter().map(|format| format.descriptor().id).collect();
        Error::usage(format!("unknown format {id}; the formats are {}", ids.join(", ")))
    })
}
