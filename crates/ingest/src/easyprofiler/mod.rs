//! EasyProfiler.

mod declared;
mod header;
mod places;
mod threads;
mod to_tables;
mod values;

pub(crate) use self::to_tables::to_tables;
