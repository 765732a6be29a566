//! Takes any bytes for a peer of our own live stream.
#![no_main]

traceloom_fuzz::target!(stream);
