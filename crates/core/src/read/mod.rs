//! Stored bytes, a bounded window that moves over them, and the fields inside it.

#[cfg(feature = "compression")]
mod compression;
mod cursor;
mod source;
mod watched;
mod window;

#[cfg(feature = "compression")]
pub use self::compression::{Compression, Peeled, peel};
pub(crate) use self::source::read_exact;
pub use self::{
    cursor::{ByteOrder, Cursor, find_nul},
    source::{ReadAt, Source},
    window::Window,
};
