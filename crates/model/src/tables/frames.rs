//! Places in a program.

use crate::{Maybe, Name, Word, define::table};

table! {
    /// Places in a program, each once.
    Frames frames: Frame {
        /// The function.
        function: Name,
        /// Source file.
        file: Maybe<Name>,
        /// Source line.
        line: Maybe<Word>,
    }
}
