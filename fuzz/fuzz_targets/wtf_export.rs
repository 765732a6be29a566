//! Writes the tables of any bytes as a Web Tracing Framework file for every target.
#![no_main]

traceloom_fuzz::target!(export, traceloom_wtf::Wtf);
