//! Event types of Traceloom's recorder, which identify log entries and values. To other readers, they are events.

/// A log entry.
pub const LOG: &str = "traceloom.log#entry";
/// The arguments of [`LOG`]; an unknown text is empty.
pub const LOG_ARGS: &str = "ascii level, utf8 message, utf8 format, utf8 file, uint32 line";
/// Precedes the name of a value.
pub const VALUE: &str = "traceloom.value#";
/// The arguments of a [`VALUE`] that is a number or an array, as JSON, because the format has no 64-bit numbers.
pub const NUMBER_ARGS: &str = "any value";
/// The arguments of a [`VALUE`] that is text.
pub const TEXT_ARGS: &str = "utf8 text";
