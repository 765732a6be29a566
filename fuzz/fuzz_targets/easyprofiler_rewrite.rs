//! Reads any bytes as an EasyProfiler file and writes them again.
#![no_main]

traceloom_fuzz::target!(rewrite, traceloom_easyprofiler::EasyProfiler);
