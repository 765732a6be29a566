//! NYTProf.

pub(crate) mod from_tables;
pub(crate) mod to_tables;

use crate::Mapping;

pub(crate) const MAPPING: Mapping =
    Mapping { format: &traceloom_nytprof::FORMAT, target: &from_tables::TARGET, to_tables: to_tables::to_tables };
