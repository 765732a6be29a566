//! Reads any bytes as a Web Tracing Framework file.
#![no_main]

traceloom_fuzz::target!(read, traceloom_wtf::Wtf);
