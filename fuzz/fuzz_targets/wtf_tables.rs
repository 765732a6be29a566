//! Makes tables of any bytes as a Web Tracing Framework file, and checks that they are consistent.
#![no_main]

traceloom_fuzz::target!(tables, traceloom_wtf::Wtf);
