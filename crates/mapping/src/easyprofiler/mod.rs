//! EasyProfiler.

mod from_tables;
mod to_tables;

pub(crate) use self::{from_tables::TARGET, to_tables::to_tables};
