//! Answers from the tables of a trace, without a SQL engine.

#![forbid(unsafe_code)]

pub mod lod;
