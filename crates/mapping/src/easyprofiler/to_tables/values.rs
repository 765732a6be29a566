//! Values: rows of `counters`, with their exact contents in `args`.

use std::borrow::Cow;

use traceloom_easyprofiler::{Element, Value, raw::DataType};
use traceloom_model::{
    Halt, Named, Table, Tables,
    counters::Counter,
    trackers::{Strings, Symbol},
};

use crate::shared::{Args, Argument, Datum};

/// Numbers the rows of `counters`.
#[derive(Debug)]
pub(super) struct Values {
    next_id: i64,
    /// The key of every argument.
    key: Symbol,
    /// The names of the types so far.
    types: [Option<Symbol>; 256],
}

/// When and where a value was stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) ts_ns: i64,
    pub(super) thread_id: i64,
    pub(super) name: Symbol,
    /// Whether the sink wants the row.
    pub(super) is_taken: bool,
}

/// One row: the values of the columns, and the exact value.
struct Cell<'a> {
    number: Option<f64>,
    text: Option<&'a str>,
    idx: Option<u32>,
    exact: Datum<'a>,
}

impl Values {
    pub(super) fn new(strings: &mut Strings) -> Self {
        Self { next_id: 0, key: strings.intern("value"), types: [None; 256] }
    }

    /// Pushes one row per element; a text is one row, and so are bytes that are not elements.
    pub(super) fn push(
        &mut self,
        value: &Value<'_>,
        moment: &Moment,
        args: &mut Args,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        if let Some(before_nul) = value.text() {
            let shown = latin1_unless_utf8(before_nul);
            let stored = value.data.strip_suffix(b"\0").unwrap_or(value.data);
            // A text with bytes after its NUL, or with invalid bytes, is exact only as bytes.
            let is_exact = stored.len() == before_nul.len() && matches!(shown, Cow::Borrowed(_));
            let exact = if is_exact { Datum::Text(&shown) } else { Datum::Replaced(&shown, value.data) };
            let cell = Cell { number: None, text: Some(&shown), idx: None, exact };
            return self.push_cell(value, &cell, moment, args, tables);
        }
        let mut elements = value.elements().into_iter().flatten().peekable();
        if elements.peek().is_none() {
            let cell = Cell { number: None, text: None, idx: None, exact: Datum::Bytes(value.data) };
            return self.push_cell(value, &cell, moment, args, tables);
        }
        for (idx, element) in (0..).zip(elements) {
            let (number, exact) = numbers(element);
            let idx = (value.is_array != 0).then_some(idx);
            let cell = Cell { number: Some(number), text: None, idx, exact };
            self.push_cell(value, &cell, moment, args, tables)?;
        }
        Ok(())
    }

    /// Numbers the rows of values that another walk makes.
    pub(super) fn skip(&mut self, rows: usize, args: &mut Args) {
        self.next_id += rows as i64;
        args.skip(rows);
    }

    fn push_cell(
        &mut self,
        value: &Value<'_>,
        cell: &Cell<'_>,
        moment: &Moment,
        args: &mut Args,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let id = self.next_id;
        self.next_id += 1;
        if !moment.is_taken {
            args.skip(1);
            return Ok(());
        }
        tables.push(Counter {
            id,
            ts_ns: moment.ts_ns,
            thread_id: Some(moment.thread_id),
            name: moment.name.into(),
            value_id: Some(value.value_id),
            value: cell.number,
            text: cell.text,
        })?;
        if !tables.wants(Table::Args) {
            return Ok(());
        }
        let argument = Argument {
            owner_table: Table::Counters,
            owner_id: id,
            key: self.key.into(),
            idx: cell.idx,
            kind: self.type_word(value.data_type, &mut tables.strings),
            value: cell.exact,
        };
        args.push(&argument, tables)
    }

    fn type_word(&mut self, data_type: DataType, strings: &mut Strings) -> Named<'static> {
        let word = &mut self.types[usize::from(data_type.0)];
        (*word.get_or_insert_with(|| strings.intern(&data_type.to_string()))).into()
    }
}

/// Number of rows of a value.
pub(super) fn rows(value: &Value<'_>) -> usize {
    let elements = if value.text().is_some() { None } else { value.element_count() };
    elements.unwrap_or(0).max(1)
}

/// Texts that are not UTF-8 usually come from programs that write Latin-1, and this loses no byte.
fn latin1_unless_utf8(bytes: &[u8]) -> Cow<'_, str> {
    let latin1 = |_| bytes.iter().copied().map(char::from).collect::<String>().into();
    str::from_utf8(bytes).map_or_else(latin1, Cow::Borrowed)
}

fn numbers(element: Element) -> (f64, Datum<'static>) {
    match element {
        Element::Bool(value) => (f64::from(u8::from(value)), Datum::Int(value.into())),
        Element::Signed(value) => (value as f64, Datum::Int(value)),
        Element::Unsigned(value) => (value as f64, Datum::Unsigned(value)),
        Element::Float(value) => (value.into(), Datum::Float(value.into())),
        Element::Double(value) => (value, Datum::Float(value)),
    }
}
