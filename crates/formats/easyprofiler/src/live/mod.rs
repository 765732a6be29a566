//! The live protocol, both sides: how a program that contains EasyProfiler is captured over TCP.
//!
//! [`Decoder`] and [`Message`] handle the bytes, [`Client`] captures, and [`serve`] is captured. None of them opens a
//! connection: they work with anything that reads and writes.

mod client;
mod decode;
mod message;
mod server;

pub use self::{
    client::{Blocks, Client, Descriptors},
    decode::{Decoder, Part},
    message::{Accepted, FrameTime, Kind, MAGIC, Message},
    server::{Program, serve},
};

/// The port that EasyProfiler listens on.
pub const PORT: u16 = 28077;
