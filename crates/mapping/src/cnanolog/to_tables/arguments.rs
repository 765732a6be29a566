//! Arguments of entries.
//!
//! The key of an argument is its number. An entry whose arguments cannot be decoded has their bytes as `data`; if its
//! site is unknown, the `id` of the site comes before them.

use traceloom_cnanolog::{Arg, Entry, raw::ArgType};
use traceloom_model::{Halt, Named, Table, Tables, trackers::Symbol};

use crate::shared::{Args, Argument, Datum};

/// Pushes the arguments of entries.
#[derive(Debug)]
pub(super) struct Arguments {
    args: Args,
    /// The argument numbers, as text.
    keys: Vec<Symbol>,
    /// By the code of the type.
    types: [Symbol; 9],
    id: Symbol,
    data: Symbol,
    bytes: Symbol,
}

impl Arguments {
    /// For lists up to this length.
    pub(super) fn new(most: usize, tables: &mut Tables<'_>) -> Self {
        let strings = &mut tables.strings;
        Self {
            args: Args::default(),
            keys: (0..most).map(|number| strings.intern(&number.to_string())).collect(),
            types: std::array::from_fn(|code| strings.intern(ArgType(code as u8).name().unwrap_or_default())),
            id: strings.intern("id"),
            data: strings.intern("data"),
            bytes: strings.intern("bytes"),
        }
    }

    pub(super) fn push(&mut self, owner_id: i64, entry: &Entry<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let Some(args) = entry.args() else { return self.push_unread(owner_id, entry, tables) };
        for (number, arg) in args.enumerate() {
            let key = self.keys.get(number).map_or(Named::Text(""), |key| (*key).into());
            let argument = argument(owner_id, [key, self.type_of(arg.arg_type())], value(arg));
            self.args.push(&argument, tables)?;
        }
        Ok(())
    }

    /// Counts the rows of skipped entries.
    pub(super) fn skip(&mut self, rows: usize) {
        self.args.skip(rows);
    }

    #[cold]
    fn push_unread(&mut self, owner_id: i64, entry: &Entry<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if entry.site_index().is_none() {
            let id = Datum::Unsigned(entry.id.into());
            let argument = argument(owner_id, [self.id.into(), self.type_of(ArgType::UINT32)], id);
            self.args.push(&argument, tables)?;
        }
        if entry.data.is_empty() {
            Ok(())
        } else {
            let argument = argument(owner_id, [self.data.into(), self.bytes.into()], Datum::Bytes(entry.data));
            self.args.push(&argument, tables)
        }
    }

    fn type_of(&self, code: ArgType) -> Named<'static> {
        self.types.get(usize::from(code.0)).map_or(Named::Text("none"), |symbol| (*symbol).into())
    }
}

/// Number of rows of an entry.
pub(super) fn rows(entry: &Entry<'_>) -> usize {
    let unread = || usize::from(entry.site_index().is_none()) + usize::from(!entry.data.is_empty());
    entry.args().map_or_else(unread, Iterator::count)
}

fn argument<'a>(owner_id: i64, [key, kind]: [Named<'a>; 2], value: Datum<'a>) -> Argument<'a> {
    Argument { owner_table: Table::Logs, owner_id, key, idx: None, kind, value }
}

/// A character is shown as its number, because it need not be valid text.
fn value(arg: Arg<'_>) -> Datum<'_> {
    match arg {
        Arg::Char(value) => Datum::Unsigned(value.into()),
        Arg::Double(value) => Datum::Float(value),
        Arg::Int32(value) => Datum::Int(value.into()),
        Arg::Int64(value) => Datum::Int(value),
        Arg::Pointer(value) | Arg::Uint64(value) => Datum::Unsigned(value),
        Arg::String(bytes) => str::from_utf8(bytes).map_or(Datum::Bytes(bytes), Datum::Text),
        Arg::Uint32(value) => Datum::Unsigned(value.into()),
    }
}
