//! NYTProf.

pub(crate) mod from_tables;
pub(crate) mod to_tables;

pub(crate) use self::{from_tables::TARGET, to_tables::to_tables};
