//! Reads any bytes as a CNanoLog file and writes them again.
#![no_main]

traceloom_fuzz::target!(rewrite, traceloom_cnanolog::CNanoLog);
