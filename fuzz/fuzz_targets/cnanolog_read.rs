//! Reads any bytes as a CNanoLog file.
#![no_main]

traceloom_fuzz::target!(read, traceloom_cnanolog::CNanoLog);
