//! Event types of Traceloom's recorder, by which log entries and values are recognized. To other readers they are events.

/// A log entry.
pub const LOG: &str = "traceloom.log#entry";
/// The arguments of [`LOG`]; a text that is not known is empty.
pub const LOG_ARGS: &str = "ascii level, utf8 message, utf8 format, utf8 file, uint32 line";
/// Comes before the name of a value.
pub const VALUE: &str = "traceloom.value#";
/// The arguments of a [`VALUE`] that is a number or an array, as JSON: the format has no numbers of 64 bits.
pub const NUMBER_ARGS: &str = "any value";
/// The arguments of a [`VALUE`] that is text.
pub const TEXT_ARGS: &str = "utf8 text";
