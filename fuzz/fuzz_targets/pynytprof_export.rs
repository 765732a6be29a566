//! Writes the tables of any bytes as a Pynytprof file for every target.
#![no_main]

traceloom_fuzz::target!(export, traceloom_nytprof::pynytprof::Pynytprof);
