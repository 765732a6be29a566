//! Pynytprof.

mod declared;
mod rows;
mod to_tables;

pub(crate) use self::to_tables::to_tables;
