//! Embedded files.

use crate::{Blob, Name, Text, define::table};

table! {
    /// Files embedded in the trace.
    Resources resources: Resource {
        /// Name of the file.
        name: Text,
        /// Kind of file, as the format calls it.
        kind: Name,
        /// Contents of the file.
        bytes: Blob,
    }
}
