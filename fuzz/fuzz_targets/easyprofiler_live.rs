//! Takes any bytes for a peer of EasyProfiler's live protocol.
#![no_main]

traceloom_fuzz::target!(live);
