//! Reads any bytes as a profile of Pynytprof and writes them again.
#![no_main]

traceloom_fuzz::target!(rewrite, traceloom_nytprof::pynytprof::Pynytprof);
