//! The facade: every library of Traceloom under one name.
//!
//! A program that only needs one format depends on that format's crate alone; this one is for those
//! that want to open whatever comes.

#![forbid(unsafe_code)]

pub use traceloom_cnanolog as cnanolog;
pub use traceloom_core as core;
pub use traceloom_easyprofiler as easyprofiler;
pub use traceloom_memlyze as memlyze;
pub use traceloom_nytprof as nytprof;
pub use traceloom_open as open;
pub use traceloom_wtf as wtf;
