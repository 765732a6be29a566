//! Runs every analysis on the tables of any bytes.
#![no_main]

traceloom_fuzz::target!(analysis);
