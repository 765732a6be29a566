//! Repairs, slices, merges and re-lays any bytes as an EasyProfiler file.
#![no_main]

traceloom_fuzz::target!(edit, traceloom_easyprofiler::EasyProfiler);
