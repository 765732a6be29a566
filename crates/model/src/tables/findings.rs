//! Problems in the file.

use crate::{Maybe, Name, Text, Unsigned, define::table};

table! {
    /// Problems in the file, as `traceloom check` lists them.
    Findings findings: Finding {
        /// The rule, such as `easyprofiler.count-mismatch`.
        code: Name,
        /// `note`, `warning` or `error`.
        severity: Name,
        /// Byte offset of the problem.
        position: Maybe<Unsigned>,
        /// Description of the problem.
        message: Text,
    }
}
