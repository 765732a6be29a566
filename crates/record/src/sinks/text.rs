//! The messages of log entries as text, for files that do not store formats.

use std::collections::HashMap;

use traceloom_cnanolog::{Form, Program, Types, put_raw, raw::ArgType};
use traceloom_core::ByteOrder;

use super::{
    Rec,
    args::{RingArgs, gather_texts},
};

/// Renders messages, parsing each format once.
#[derive(Default)]
pub(crate) struct Messages {
    programs: HashMap<u32, (Program, Vec<ArgType>)>,
    texts: Vec<u8>,
    data: Vec<u8>,
    message: Vec<u8>,
}

impl Messages {
    /// The message of a log entry.
    pub(crate) fn render(&mut self, rec: &Rec<'_>) -> &[u8] {
        let format = rec.site.name.as_bytes();
        let (program, types) = self.programs.entry(rec.id).or_insert_with(|| {
            let types = rec.site.types.iter().map(|code| ArgType(*code)).collect();
            (Program::parse(format), types)
        });
        self.texts.clear();
        gather_texts(&rec.site.types, rec.words, &mut self.texts);
        self.data.clear();
        put_raw(RingArgs::new(rec, &self.texts), ByteOrder::Little, &mut self.data);
        self.message.clear();
        match Types::new(types).decode(&self.data, ByteOrder::Little, Form::Raw) {
            Some(args) => program.render(format, args, &mut self.message),
            None => self.message.extend_from_slice(format),
        }
        &self.message
    }
}
