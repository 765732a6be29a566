//! Metadata of a file.

use crate::{Maybe, Name, Text, define::table};

table! {
    /// Metadata of a file: NYTProf attributes and options, WTF context and metadata, header fields.
    ///
    /// A NYTProf option has the key `option.NAME`; a nested WTF value has its path, such as
    /// `contextInfo.userAgent.type`.
    Attributes attributes: Attribute {
        /// The name.
        key: Name,
        /// The value, as text.
        value: Maybe<Text>,
    }
}
