//! Writes text formats that other programs parse, besides JSON.

pub mod csv;
