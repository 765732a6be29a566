//! One file per direction.

pub(crate) mod edit;
pub(crate) mod read;
pub(crate) mod rewrite;
mod walk;
