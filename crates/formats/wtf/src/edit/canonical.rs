//! Writes the same contents as our writer lays them out.

use std::io::Write;

use traceloom_core::{Edited, Options, Records, Result, Source};

use super::compose;
use crate::{Container, FORMAT, Form};

/// Writes everything that can be read, and nothing else.
///
/// Without a variant, the form is kept if it can be written.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let form = variant.map(|variant| Form::from_variant(variant).ok_or_else(|| FORMAT.unknown_variant(variant)));
    let reader = crate::open(source.clone(), options)?;
    let form = match (form.transpose()?, reader.header().container) {
        (Some(form), _) => form,
        (None, Container::Json) => Form::Json,
        (None, Container::JsonPartial) => Form::JsonPartial,
        (None, _) => Form::Binary,
    };
    compose(reader, out, form, None)
}
