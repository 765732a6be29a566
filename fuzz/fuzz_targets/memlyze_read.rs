//! Reads any bytes as a Memlyze file.
#![no_main]

traceloom_fuzz::target!(read, traceloom_memlyze::Memlyze);
