//! The parts of an event: its type, its arguments, and the strings that they refer to.

mod args;
mod builtins;
mod signature;
mod strings;
mod types;

pub(crate) use self::{
    args::measure,
    builtins::builtin_named,
    signature::{is_fatal_name, parse_arguments},
    types::{Defined, Definition},
};
pub use self::{
    args::{Args, ArgsIter, Array, Encoding, Value},
    builtins::Role,
    signature::Argument,
    strings::{Coding, StringTable, Text},
    types::{EventType, EventTypes},
};
