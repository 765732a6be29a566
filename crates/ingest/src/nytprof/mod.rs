//! NYTProf.

mod calls;
pub(crate) mod clock;
mod header;
mod layout;
pub(crate) mod names;
mod processes;
mod spans;
mod stop;
pub(crate) mod sums;
mod to_tables;
mod walk;

pub(crate) use self::to_tables::to_tables;
