//! Reads any bytes as a Memlyze file and writes them again.
#![no_main]

traceloom_fuzz::target!(rewrite, traceloom_memlyze::Memlyze);
