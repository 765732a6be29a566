//! How events are stored: varints, events of every shape, blocks with their checksum.

pub(crate) mod block;
pub(crate) mod quick;
pub(crate) mod thorough;
pub(crate) mod varint;
