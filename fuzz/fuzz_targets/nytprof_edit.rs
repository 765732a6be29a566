//! Repairs, slices, merges and re-lays any bytes as a profile of Devel::NYTProf.
#![no_main]

traceloom_fuzz::target!(edit, traceloom_nytprof::Nytprof);
