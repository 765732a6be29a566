//! Reads any bytes as a Web Tracing Framework file and writes them again.
#![no_main]

traceloom_fuzz::target!(rewrite, traceloom_wtf::Wtf);
