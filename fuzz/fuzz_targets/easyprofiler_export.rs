//! Writes the tables of any bytes as a EasyProfiler file for every target.
#![no_main]

traceloom_fuzz::target!(export, traceloom_easyprofiler::EasyProfiler);
