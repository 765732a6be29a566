//! Traces made for tests.

mod capture;
mod log;

pub use self::{
    capture::{write_threads, write_values},
    log::{LOG_SECOND, SAMPLE_BEGIN, SAMPLE_HZ, log, log_at},
};
