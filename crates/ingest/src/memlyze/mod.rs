//! Memlyze.

mod events;
mod header;
mod memory;
mod names;
mod places;
mod threads;
mod times;
mod to_tables;

pub(crate) use self::to_tables::to_tables;
