//! Records every allocation of a program, with address, size, thread and stack, as a Memlyze `.mlyze` file.
//!
//! ```no_run
//! use traceloom_record_alloc::{Options, TracingAllocator};
//!
//! #[global_allocator]
//! static ALLOCATOR: TracingAllocator = TracingAllocator::system();
//!
//! fn main() -> traceloom_core::Result<()> {
//!     let recording = traceloom_record_alloc::start(Options::new("app.mlyze"))?;
//!     let lines: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
//!     traceloom_record_alloc::marker("loaded");
//!     drop(lines);
//!     recording.finish()
//! }
//! ```
//!
//! Then `traceloom memory app.mlyze` shows functions, files and lines. Programs that cannot be changed are recorded by the
//! library `libtraceloom_alloc.so`, which `traceloom memory -- PROGRAM` uses.

#![cfg(target_os = "linux")]

mod allocator;
mod errno;
mod file;
mod finish;
#[doc(hidden)]
pub mod hooks;
mod journal;
mod lock;
mod maps;
mod options;
mod recording;
mod rules;
mod sampling;
mod stack;
mod symbols;
mod tail;
mod thread;
mod tracer;

pub use crate::{
    allocator::TracingAllocator,
    finish::{finish, is_unfinished},
    options::{Options, environment},
    recording::{Recording, marker, start},
};
