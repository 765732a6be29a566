//! Draws any bytes as the page shows them.
#![no_main]

traceloom_fuzz::target!(scene);
