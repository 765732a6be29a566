//! What the producer declared once and refers to.

use crate::{Int, Maybe, Name, Text, Unsigned, Word, define::table};

table! {
    /// What the producer declares once and refers to: EasyProfiler descriptors, NYTProf subs, CNanoLog sites, WTF event types.
    Definitions definitions: Definition {
        /// `block`, `event`, `value`, `sub`, `site`, `scope`, `instance`, or as the format calls it.
        kind: Name,
        /// The name; for a log site its format string.
        name: Name,
        /// Source file.
        file: Maybe<Name>,
        /// First line.
        line: Maybe<Word>,
        /// Last line.
        last_line: Maybe<Word>,
        /// Color as 0xAARRGGBB.
        color: Maybe<Word>,
        /// Log level, as a number of the format.
        level: Maybe<Int>,
        /// Flags, as a number of the format.
        flags: Maybe<Unsigned>,
        /// EasyProfiler: whether it was `on` or `off`, and whether that was forced.
        status: Maybe<Name>,
        /// The arguments that it declares, in the words of the format.
        args: Maybe<Text>,
    }
}
