//! Writes the tables of any bytes as a NYTProf file for every target.
#![no_main]

traceloom_fuzz::target!(export, traceloom_nytprof::Nytprof);
