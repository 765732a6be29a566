//! Writing what other programs parse, besides JSON.

pub mod csv;
pub mod fold;
