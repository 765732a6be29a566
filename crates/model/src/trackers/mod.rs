//! State that the mappers of several formats need.

mod clock;
mod extent;
mod open_spans;
mod stacks;
mod strings;

pub use self::{
    clock::Clock,
    extent::Extent,
    open_spans::{ClosedSpan, OpenSpan, OpenSpans},
    stacks::{FrameKey, Stacks},
    strings::{Strings, Symbol},
};
