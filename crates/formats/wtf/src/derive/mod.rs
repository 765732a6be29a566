//! Data derived from the events: scopes with ends, frames, marks, ranges, flows, appended data.
//!
//! Everything here works on events in file order as they arrive, and keeps only what it needs.

mod appended;
mod flows;
mod frames;
mod marks;
mod ranges;
mod tree;

pub use self::{
    appended::appended,
    flows::{Flow, FlowKind, Flows, Link, Point, Step},
    frames::{Frame, Frames},
    marks::{Mark, Marks},
    ranges::{Range, Ranges},
    tree::{Nested, Scope, Tree, Walk},
};

/// Maximum size of a name or value that is kept: derived data must not outgrow the trace.
const MAX_TEXT: usize = 64 << 10;

/// A text argument, shortened to the maximum.
fn kept_text(event: &crate::Event<'_>, name: &str) -> Option<Box<str>> {
    let text = event.args.get(name)?.as_text()?.to_str();
    let mut len = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    text.get(..len).map(Into::into)
}

/// A number argument.
fn number(event: &crate::Event<'_>, name: &str) -> u32 {
    event.args.get(name).and_then(|value| value.as_u32()).unwrap_or(0)
}
