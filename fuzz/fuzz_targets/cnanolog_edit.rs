//! Repairs, slices, merges and re-lays any bytes as a CNanoLog file.
#![no_main]

traceloom_fuzz::target!(edit, traceloom_cnanolog::CNanoLog);
