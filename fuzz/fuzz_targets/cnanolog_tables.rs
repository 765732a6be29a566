//! Makes tables of any bytes as a CNanoLog file, and checks that they are consistent.
#![no_main]

traceloom_fuzz::target!(tables, traceloom_cnanolog::CNanoLog);
