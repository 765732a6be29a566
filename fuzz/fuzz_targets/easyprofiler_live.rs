//! Treats any bytes as a peer of EasyProfiler's live protocol.
#![no_main]

traceloom_fuzz::target!(live);
