//! One file per direction.

pub(crate) mod analysis;
pub(crate) mod edit;
pub(crate) mod export;
pub(crate) mod live;
pub(crate) mod read;
pub(crate) mod rewrite;
pub(crate) mod scene;
pub(crate) mod stream;
pub(crate) mod tables;
mod walk;
