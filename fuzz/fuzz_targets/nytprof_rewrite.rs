//! Reads any bytes as a profile of Devel::NYTProf and writes them again.
#![no_main]

traceloom_fuzz::target!(rewrite, traceloom_nytprof::Nytprof);
