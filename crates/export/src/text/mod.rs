//! Writing what other programs parse: JSON, CSV, numbers.

pub mod csv;
pub mod fold;
pub mod json;
pub mod number;
