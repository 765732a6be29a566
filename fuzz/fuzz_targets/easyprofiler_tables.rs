//! Makes tables of any bytes as an EasyProfiler file, and checks that they are consistent.
#![no_main]

traceloom_fuzz::target!(tables, traceloom_easyprofiler::EasyProfiler);
