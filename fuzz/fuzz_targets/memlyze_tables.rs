//! Makes tables of any bytes as a Memlyze file, and checks that they are consistent.
#![no_main]

traceloom_fuzz::target!(tables, traceloom_memlyze::Memlyze);
