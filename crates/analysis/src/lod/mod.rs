//! Level of detail: what a window of time looks like at a given width, at any number of spans.
//!
//! Spans of one thread and depth form a [`Lane`]. Over each lane lies a pyramid of summaries, so that a picture costs
//! what its pixels cost and not what the trace holds.

mod lane;
mod lanes;
mod window;

pub use self::{
    lane::{Bar, Lane},
    lanes::{LaneKey, Lanes},
    window::Window,
};
