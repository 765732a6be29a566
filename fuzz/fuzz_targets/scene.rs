//! Draws any bytes as the page would show them.
#![no_main]

traceloom_fuzz::target!(scene);
