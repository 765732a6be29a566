//! Pynytprof.

mod from_tables;
mod to_tables;

use crate::Mapping;

pub(crate) const MAPPING: Mapping = Mapping {
    format: &traceloom_nytprof::pynytprof::FORMAT,
    target: &from_tables::TARGET,
    to_tables: to_tables::to_tables,
};
