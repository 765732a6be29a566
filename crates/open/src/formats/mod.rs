//! The list of formats: one line each.

mod cnanolog;
mod easyprofiler;
mod memlyze;

use traceloom_bytes::{Error, Result};

use crate::Format;

/// Every format there is.
pub static FORMATS: &[&dyn Format] = &[&cnanolog::CNanoLog, &easyprofiler::EasyProfiler, &memlyze::Memlyze];

/// The format with this id.
pub fn by_id(id: &str) -> Result<&'static dyn Format> {
    let found = FORMATS.iter().find(|format| format.descriptor().id == id).copied();
    found.ok_or_else(|| {
        let ids: Vec<_> = FORMATS.iter().map(|format| format.descriptor().id).collect();
        Error::usage(format!("there is no format {id}; there are {}", ids.join(", ")))
    })
}
