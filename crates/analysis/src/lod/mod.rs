//! Level of detail: draws a time window at a given width, for any number of spans.
//!
//! Spans of one thread and depth form a [`Lane`]. Each lane has a pyramid of summaries, so the cost of drawing depends
//! on the number of pixels, not on the size of the trace.

mod lane;
mod lanes;
mod window;

pub use self::{
    lane::{Bar, Lane},
    lanes::{LaneKey, Lanes},
    window::Window,
};
