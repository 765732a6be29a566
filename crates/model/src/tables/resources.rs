//! Files inside the file.

use crate::{Blob, Name, Text, define::table};

table! {
    /// Files embedded in the trace.
    Resources resources: Resource {
        /// Its name.
        name: Text,
        /// What it is, in the words of the format.
        kind: Name,
        /// Its contents.
        bytes: Blob,
    }
}
