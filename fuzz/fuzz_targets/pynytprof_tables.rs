//! Makes tables of any bytes as a Pynytprof file, and checks that they are consistent.
#![no_main]

traceloom_fuzz::target!(tables, traceloom_nytprof::pynytprof::Pynytprof);
