//! Files and functions of the metadata, by their ids.

use traceloom_memlyze::Metadata;
use traceloom_model::{
    Halt, Table, Tables,
    definitions::Definition,
    files::File,
    trackers::{Strings, Symbol},
};

use crate::shared::text;

/// Values by ascending id; as fast as an array if ids count up from 0, which they nearly always do.
#[derive(Debug)]
pub(super) struct ById<T>(Vec<(u64, T)>);

impl<T: Copy> ById<T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a value; ids must be ascending.
    pub(super) fn push(&mut self, id: u64, value: T) {
        self.0.push((id, value));
    }

    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<T> {
        let at = usize::try_from(id).ok().and_then(|place| self.0.get(place));
        match at {
            Some((found, value)) if *found == id => Some(*value),
            _ => self.search(id),
        }
    }

    fn search(&self, id: u64) -> Option<T> {
        let place = self.0.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.0.get(place).map(|(_, value)| *value)
    }
}

/// The names that frames and markers refer to.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) files: ById<Symbol>,
    pub(super) functions: ById<Symbol>,
}

impl Names {
    /// Pushes the rows of `files` and `definitions`; keeps symbols if a table needs names.
    pub(super) fn push(metadata: &Metadata, tables: &mut Tables<'_>) -> Result<Self, Halt> {
        let mut names = Self { files: ById::new(), functions: ById::new() };
        let wants_frames = wants_frames(tables);
        if wants_frames || tables.wants(Table::Files) {
            for (id, name) in metadata.files() {
                let symbol = tables.strings.intern(&text(name));
                names.files.push(id, symbol);
                let row = row_id(id);
                tables.push(File {
                    id: row,
                    name: symbol.into(),
                    parent_file_id: None,
                    parent_line: None,
                    flags: None,
                })?;
            }
        }
        if wants_frames || tables.wants(Table::Events) || tables.wants(Table::Definitions) {
            for (id, name) in metadata.functions() {
                let symbol = tables.strings.intern(&text(name));
                names.functions.push(id, symbol);
                tables.push(definition(row_id(id), symbol))?;
            }
        }
        Ok(names)
    }

    /// The name of a function; its number if it is not in the metadata.
    pub(super) fn function(&self, id: Option<u64>, strings: &mut Strings) -> Symbol {
        match id {
            Some(id) => self.functions.get(id).unwrap_or_else(|| strings.intern(&format!("function {id}"))),
            None => strings.intern("?"),
        }
    }

    /// The name of a file; its number if it is not in the metadata.
    pub(super) fn file(&self, id: Option<u64>, strings: &mut Strings) -> Option<Symbol> {
        id.map(|id| self.files.get(id).unwrap_or_else(|| strings.intern(&format!("file {id}"))))
    }
}

/// Whether any column about stacks is wanted.
pub(super) fn wants_frames(tables: &Tables<'_>) -> bool {
    tables.wants(Table::Frames) || tables.wants(Table::Stacks) || tables.wants_any(Table::Allocations, &["stack_id"])
}

/// The row id for a number in the file; distinct numbers get distinct ids, however large they are.
pub(super) fn row_id(id: u64) -> i64 {
    id.cast_signed()
}

/// Functions and markers share one list of names.
fn definition(id: i64, name: Symbol) -> Definition<'static> {
    Definition {
        id,
        kind: "function".into(),
        name: name.into(),
        file: None,
        line: None,
        last_line: None,
        color: None,
        level: None,
        flags: None,
        status: None,
        args: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_dense_and_by_sparse_ids() {
        let mut values = ById::new();
        for id in [0, 1, 2, 7, 900, u64::MAX] {
            values.push(id, id ^ 1);
        }
        for id in [0, 1, 2, 7, 900, u64::MAX] {
            assert_eq!(values.get(id), Some(id ^ 1));
        }
        assert_eq!([3, 4, 5, 899, u64::MAX - 1].map(|id| values.get(id)), [None; 5]);
    }
}
