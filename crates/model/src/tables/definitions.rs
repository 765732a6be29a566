//! Definitions that the producer declares once and refers to.

use crate::{Int, Maybe, Name, Text, Unsigned, Word, define::table};

table! {
    /// Definitions that the producer declares once and refers to: EasyProfiler descriptors, NYTProf subs, CNanoLog
    /// sites, WTF event types.
    Definitions definitions: Definition {
        /// `block`, `event`, `value`, `sub`, `site`, `scope`, `instance`, or as the format calls it.
        kind: Name,
        /// The name; for a log site, its format string.
        name: Name,
        /// Source file.
        file: Maybe<Name>,
        /// First line.
        line: Maybe<Word>,
        /// Last line.
        last_line: Maybe<Word>,
        /// Color as 0xAARRGGBB.
        color: Maybe<Word>,
        /// Log level, as the format numbers it.
        level: Maybe<Int>,
        /// Flags, as the format stores them.
        flags: Maybe<Unsigned>,
        /// EasyProfiler: whether it was `on` or `off`, and whether that was forced.
        status: Maybe<Name>,
        /// The declared arguments, as the format writes them.
        args: Maybe<Text>,
    }
}
