//! Asks the tables of any bytes every question.
#![no_main]

traceloom_fuzz::target!(analysis);
