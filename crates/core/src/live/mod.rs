//! The protocol that carries a trace from the program that records it to a viewer.
//!
//! The viewer greets with a token; the program answers and then sends frames; the viewer confirms how many bytes of the
//! trace it has stored. All numbers are little-endian.
//!
//! | from | bytes |
//! |---|---|
//! | viewer | [`MAGIC`], length of the token (1 byte), token |
//! | program | [`MAGIC`], 0 for yes or 1 for no (1 byte), length of a text (2 bytes), text: the name of the program, or why not |
//! | program | frames: kind (1 byte), length (4 bytes), payload |
//! | viewer | bytes of the trace that are in its file (8 bytes), repeatedly |
//!
//! | kind | payload |
//! |---|---|
//! | 1 | bytes of the trace |
//! | 2 | records that were dropped because the viewer was too slow (8 bytes); several times per second |
//! | 3 | none: the program has closed the trace |
//!
//! [`Decoder`] and [`read_greeting`] handle bytes only and open no connection; [`Address`], [`Socket`] and
//! [`Connection`] do the I/O.

mod address;
mod connection;
mod decode;
mod message;
mod socket;

pub use self::{
    address::Address,
    connection::Connection,
    decode::{Decoder, Frame},
    message::{
        MAGIC, MAX_FRAME_BYTES, MAX_TOKEN_BYTES, accept, data_head, end, greeting, is_same_token, read_greeting,
        refuse, status,
    },
    socket::{Listener, Socket, Within},
};
