//! The live protocol: how a program with EasyProfiler inside is captured over TCP, both sides of it.
//!
//! [`Decoder`] and [`Message`] know the bytes, [`Client`] captures, [`serve`] is captured. None of them opens a
//! connection: they take anything that reads and writes.

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
