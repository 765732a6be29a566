//! Reads any bytes as an EasyProfiler file.
#![no_main]

traceloom_fuzz::target!(read, traceloom_easyprofiler::EasyProfiler);
