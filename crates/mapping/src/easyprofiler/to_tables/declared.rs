//! Descriptors: rows of `definitions`, and the properties that records take from them.

use traceloom_easyprofiler::Descriptor;
use traceloom_model::{
    Halt, Named, Table, Tables,
    definitions::Definition,
    trackers::{Strings, Symbol},
};

use crate::shared::{Args, Argument, Datum, text};

/// The properties that a record takes from its descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    /// The row of `definitions`; `None` for a hole.
    pub(super) id: Option<i64>,
    pub(super) name: Symbol,
    pub(super) file: Option<Symbol>,
    pub(super) line: Option<u32>,
    pub(super) color: Option<u32>,
}

/// The descriptors so far, including holes, because records refer to their indexes.
#[derive(Debug)]
pub(super) struct Declarations {
    /// The last one is for records whose descriptor is missing.
    list: Vec<Declared>,
}

impl Declarations {
    pub(super) fn new(strings: &mut Strings) -> Self {
        let missing = Declared { id: None, name: strings.intern(""), file: None, line: None, color: None };
        Self { list: vec![missing] }
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> &Declared {
        &self.list[(index as usize).min(self.list.len() - 1)]
    }

    pub(super) fn hole(&mut self) {
        self.list.extend_from_within(self.list.len() - 1..);
    }

    pub(super) fn push(
        &mut self,
        descriptor: &Descriptor<'_>,
        args: &mut Args,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let place = self.list.len() - 1;
        let id = place as i64;
        let name = tables.strings.intern(&text(descriptor.name.text));
        let file = (!descriptor.file.text.is_empty()).then(|| tables.strings.intern(&text(descriptor.file.text)));
        let line = u32::try_from(descriptor.line).ok();
        let color = Some(descriptor.color);
        self.list.insert(place, Declared { id: Some(id), name, file, line, color });
        if tables.wants(Table::Definitions) {
            tables.push(Definition {
                id,
                kind: Named::Text(&descriptor.block_type.to_string()),
                name: name.into(),
                file: file.map(Into::into),
                line,
                last_line: None,
                color,
                level: None,
                flags: Some(descriptor.status.0.into()),
                status: Some(Named::Text(&descriptor.status.to_string())),
                args: None,
            })?;
        }
        if tables.wants(Table::Args) {
            push_oddities(id, descriptor, args, tables)?;
        }
        Ok(())
    }
}

/// Values that the columns cannot hold: a number other than the index, and a negative line.
fn push_oddities(
    owner_id: i64,
    descriptor: &Descriptor<'_>,
    args: &mut Args,
    tables: &mut Tables<'_>,
) -> Result<(), Halt> {
    let argument = |key: &'static str, kind: &'static str, value| Argument {
        owner_table: Table::Definitions,
        owner_id,
        key: key.into(),
        idx: None,
        kind: kind.into(),
        value,
    };
    if i64::from(descriptor.id) != owner_id {
        args.push(&argument("id", "uint32", Datum::Unsigned(descriptor.id.into())), tables)?;
    }
    if descriptor.line < 0 {
        args.push(&argument("line", "int32", Datum::Int(descriptor.line.into())), tables)?;
    }
    Ok(())
}
