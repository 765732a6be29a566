//! Tables to the formats of today's tools.

#![forbid(unsafe_code)]
