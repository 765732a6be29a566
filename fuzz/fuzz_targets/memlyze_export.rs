//! Writes the tables of any bytes as a Memlyze file for every target.
#![no_main]

traceloom_fuzz::target!(export, traceloom_memlyze::Memlyze);
