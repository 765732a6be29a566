//! CNanoLog.

mod arguments;
mod entries;
mod header;
mod sites;
mod to_tables;

pub(crate) use self::to_tables::to_tables;
