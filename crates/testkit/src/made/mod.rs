//! Traces made for tests.

mod arrays;
mod capture;
mod log;

pub use self::{
    arrays::arrays,
    capture::{write_bare_threads, write_named_blocks, write_names, write_threads, write_values},
    log::{LOG_SECOND, SAMPLE_BEGIN, SAMPLE_HZ, log, log_at, log_of},
};
