//! CNanoLog.

mod from_tables;
mod to_tables;

use crate::Mapping;

pub(crate) const MAPPING: Mapping =
    Mapping { format: &traceloom_cnanolog::FORMAT, target: &from_tables::Cnanolog, to_tables: to_tables::to_tables };
