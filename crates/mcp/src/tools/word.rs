//! Arguments that are one of the words of a choice.

use std::borrow::Cow;

use rmcp::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};
use traceloom::analysis::choice::Choice;

/// One of the options.
pub(super) struct Word<C>(pub(super) C);

impl<'de, C: Choice> Deserialize<'de> for Word<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<str>::deserialize(deserializer)?;
        C::of(&word).map(Self).ok_or_else(|| D::Error::unknown_variant(&word, C::WORDS))
    }
}

impl<C: Choice> JsonSchema for Word<C> {
    fn schema_name() -> Cow<'static, str> {
        C::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": C::WORDS })
    }
}
