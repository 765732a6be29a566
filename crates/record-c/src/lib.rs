//! The recorder for C and C++.
//!
//! Every function here is called by a header in `include`; prototypes in `include/traceloom_api.h` are made of this
//! source by cbindgen, and a test keeps them fresh.
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
