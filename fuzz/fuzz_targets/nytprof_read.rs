//! Reads any bytes as a profile of Devel::NYTProf.
#![no_main]

traceloom_fuzz::target!(read, traceloom_nytprof::Nytprof);
