//! What a file says about itself.

use crate::{Maybe, Name, Text, define::table};

table! {
    /// What a file says about itself: NYTProf attributes and options, WTF context and metadata, fields of headers.
    ///
    /// An option of NYTProf has the key `option.NAME`; a nested value of WTF has its path, such as `contextInfo.userAgent.type`.
    Attributes attributes: Attribute {
        /// The name.
        key: Name,
        /// The value, as text.
        value: Maybe<Text>,
    }
}
