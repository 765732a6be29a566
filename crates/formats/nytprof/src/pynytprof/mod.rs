//! The dialect of Pynytprof: the layout of its document, and every other that the tool wrote.

mod check;
pub mod edit;
pub(crate) mod figures;
pub mod findings;
mod forms;
mod item;
pub mod raw;
mod read;
mod record;
mod write;

use traceloom_core::{Access, Clock, Descriptor as Format, Order, Sniff, Variant};

pub use self::{
    read::{Reader, open},
    record::{Chunk, Edge, File, Header, Line, Place, Process, Range, Record, Sub, Visit},
    write::{Writer, create},
};
use crate::dialect;

/// The dialect as data.
pub static FORMAT: Format = Format {
    id: "pynytprof",
    name: "Pynytprof",
    extensions: &["out", "nytprof"],
    variants: &[
        Variant { id: "document", about: "as its document says, not compressed" },
        Variant { id: "zlib", about: "the same, compressed at level 6; zlib0 to zlib9 choose the level" },
    ],
    clock: Clock::Monotonic,
    access: Access::Sequential,
    order: Order::None,
};

/// Whether these first bytes look like a file of Pynytprof.
pub fn sniff(prefix: &[u8]) -> Sniff {
    match dialect::begins(prefix) && dialect::dialect_of_prefix(prefix).is_pynytprof() {
        true => Sniff::Yes,
        false => Sniff::No,
    }
}
