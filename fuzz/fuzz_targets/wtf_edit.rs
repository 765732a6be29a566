//! Repairs, slices, merges and re-lays any bytes as a Web Tracing Framework file.
#![no_main]

traceloom_fuzz::target!(edit, traceloom_wtf::Wtf);
