//! The recorder for C and C++.
//!
//! Every function here is called by a header in `include`; cbindgen generates the prototypes in
//! `include/traceloom_api.h` from this source, and a test keeps them up to date.
#![doc = include_str!("../README.md")]

mod clock;
mod cnanolog;
mod crash;
mod easy;
mod error;
mod log;
mod session;
mod site;
mod span;
mod thread;

pub use crate::{cnanolog::*, crash::*, easy::*, error::*, log::*, session::*, site::*, span::*};
