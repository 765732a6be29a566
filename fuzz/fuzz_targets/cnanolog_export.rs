//! Writes the tables of any bytes as a CNanoLog file for every target.
#![no_main]

traceloom_fuzz::target!(export, traceloom_cnanolog::CNanoLog);
