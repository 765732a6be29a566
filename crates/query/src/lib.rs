//! SQL over traces.

#![forbid(unsafe_code)]
