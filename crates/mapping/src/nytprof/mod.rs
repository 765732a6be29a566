//! NYTProf.

pub(crate) mod from_tables;
pub(crate) mod to_tables;
