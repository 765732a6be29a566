//! Writes the tables of any bytes as an EasyProfiler file for every target.
#![no_main]

traceloom_fuzz::target!(export, traceloom_easyprofiler::EasyProfiler);
