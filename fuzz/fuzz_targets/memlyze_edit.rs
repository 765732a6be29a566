//! Repairs, slices, merges and re-lays any bytes as a Memlyze file.
#![no_main]

traceloom_fuzz::target!(edit, traceloom_memlyze::Memlyze);
