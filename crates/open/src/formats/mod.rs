//! The list of formats: one line each.

mod cnanolog;
mod codec;
mod easyprofiler;
mod memlyze;
mod nytprof;
mod pynytprof;
mod wtf;

use traceloom_core::{Descriptor, Error, Result};

use crate::Format;

/// Every format there is.
pub static FORMATS: &[&dyn Format] = &[
    &cnanolog::CNanoLog,
    &easyprofiler::EasyProfiler,
    &memlyze::Memlyze,
    &nytprof::Nytprof,
    &pynytprof::Pynytprof,
    &wtf::Wtf,
];

/// Says that a format has no sibling of that id.
pub(crate) fn unrelated<T>(from: &Descriptor, to: &Descriptor) -> Result<T> {
    Err(Error::usage(format!("{} cannot be converted to {}", from.id, to.id)))
}

/// The format with this id.
pub fn by_id(id: &str) -> Result<&'static dyn Format> {
    let found = FORMATS.iter().find(|format| format.descriptor().id == id).copied();
    found.ok_or_else(|| {
        let ids: Vec<_> = FORMATS.iter().map(|format| format.descriptor().id).collect();
        Error::usage(format!("there is no format {id}; there are {}", ids.join(", ")))
    })
}
