//! Code locations.

use crate::{Maybe, Name, Word, define::table};

table! {
    /// Code locations, each listed once.
    Frames frames: Frame {
        /// Name of the function.
        function: Name,
        /// Source file.
        file: Maybe<Name>,
        /// Source line.
        line: Maybe<Word>,
    }
}
