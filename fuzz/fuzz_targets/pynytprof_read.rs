//! Reads any bytes as a profile of Pynytprof.
#![no_main]

traceloom_fuzz::target!(read, traceloom_nytprof::pynytprof::Pynytprof);
