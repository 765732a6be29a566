//! Treats any bytes as a peer of Traceloom's live protocol.
#![no_main]

traceloom_fuzz::target!(stream);
