//! Arguments, looked up by the row that owns them.

use traceloom_core::{Arena, ByteOrder, Cursor, Loss, Result};
use traceloom_model::{Table, select};

use crate::{
    KeyMap, NameId, NamePool, Roster,
    loss::phrase,
    owned::{Owned, OwnedSorter, Owner},
};

select! {
    /// Arguments.
    pub struct ArgRows of args {
        trace_id, owner_table, owner_id, key, idx, r#type, int_value, uint_value, float_value, text_value, bytes_value,
    }
}

/// An argument of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arg<'a> {
    /// The argument's name, or its number.
    pub key: NameId,
    /// The index of the element, if the argument is an array.
    pub idx: Option<u32>,
    /// The argument's type, as the format calls it.
    pub kind: NameId,
    /// The value of the argument.
    pub value: Datum<'a>,
}

/// The value of an argument, or of a cell of any table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<'a> {
    /// Bytes that are not text.
    Bytes(&'a [u8]),
    /// A floating-point number.
    Float(f64),
    /// A signed number.
    Int(i64),
    /// No value: the argument has none, or the cell is NULL.
    Null,
    /// A text.
    Text(&'a str),
    /// An unsigned number.
    Unsigned(u64),
}

/// Collects arguments as they arrive.
#[derive(Debug)]
pub(crate) struct ArgStore {
    tables: Vec<Table>,
    records: OwnedSorter,
    keys: KeyMap,
    kinds: KeyMap,
    record: Vec<u8>,
}

impl ArgStore {
    /// An empty store that accepts arguments of rows of these tables.
    pub(crate) fn new(tables: &[Table], arena: &Arena, limit_bytes: u64) -> Self {
        Self {
            tables: tables.to_vec(),
            records: OwnedSorter::new(arena, limit_bytes),
            keys: KeyMap::default(),
            kinds: KeyMap::default(),
            record: Vec::new(),
        }
    }

    /// Adds a batch; passes rows whose owner is in none of the tables to `foreign`.
    pub(crate) fn take(
        &mut self,
        view: &ArgRows<'_>,
        roster: &mut Roster,
        pool: &mut NamePool,
        mut foreign: impl FnMut(usize),
    ) -> Result<()> {
        self.keys.turn_to(view.key.values());
        self.kinds.turn_to(view.r#type.values());
        // For each key of the owners' dictionary: the table, if it is one of ours.
        let known = |name: &str| Table::by_name(name).filter(|table| self.tables.contains(table));
        let owners: Vec<Option<Table>> =
            view.owner_table.values().into_iter().flatten().map(|name| name.and_then(known)).collect();
        for row in 0..view.rows {
            let key = view.owner_table.keys().get(row).copied().unwrap_or(-1);
            let Some(table) = usize::try_from(key).ok().and_then(|key| owners.get(key).copied().flatten()) else {
                foreign(row);
                continue;
            };
            let trace = roster.trace_number(view.trace_id.get(row))?;
            self.lay_out(view, row, pool)?;
            self.records.add(Owner::new(table, trace, view.owner_id.get(row)), &self.record)?;
        }
        Ok(())
    }

    fn lay_out(&mut self, view: &ArgRows<'_>, row: usize, pool: &mut NamePool) -> Result<()> {
        let name = |map: &mut KeyMap, keys: &[i32], pool: &mut NamePool| match keys.get(row) {
            Some(key) => map.get(*key, pool),
            None => pool.intern(""),
        };
        let key = name(&mut self.keys, view.key.keys(), pool)?;
        let kind = name(&mut self.kinds, view.r#type.keys(), pool)?;
        let number = |number: u64| (8, number.to_le_bytes());
        let (tag, (len, fixed), text): (u8, (usize, [u8; 8]), &[u8]) = if let Some(text) = view.text_value.get(row) {
            (TEXT, number(text.len() as u64), text.as_bytes())
        } else if let Some(value) = view.int_value.get(row) {
            (INT, number(value as u64), &[])
        } else if let Some(value) = view.uint_value.get(row) {
            (UNSIGNED, number(value), &[])
        } else if let Some(value) = view.float_value.get(row) {
            (FLOAT, number(value.to_bits()), &[])
        } else if let Some(bytes) = view.bytes_value.get(row) {
            (BYTES, number(bytes.len() as u64), bytes)
        } else {
            (NULL, (0, [0; 8]), &[])
        };
        let record = &mut self.record;
        record.clear();
        record.push(tag | if view.idx.get(row).is_some() { INDEXED } else { 0 });
        record.extend_from_slice(&key.raw().to_le_bytes());
        record.extend_from_slice(&kind.raw().to_le_bytes());
        record.extend_from_slice(&view.idx.get(row).unwrap_or(0).to_le_bytes());
        record.extend_from_slice(&fixed[..len]);
        record.extend_from_slice(text);
        Ok(())
    }

    /// Ends collecting and makes the arguments available.
    pub(crate) fn finish(self) -> Result<Args> {
        Ok(Args { records: self.records.finish()? })
    }
}

const BYTES: u8 = 0;
const FLOAT: u8 = 1;
const INT: u8 = 2;
const NULL: u8 = 3;
const TEXT: u8 = 4;
const UNSIGNED: u8 = 5;
const INDEXED: u8 = 0x80;

/// Arguments that can be looked up.
#[derive(Debug)]
pub struct Args {
    records: Owned,
}

impl Args {
    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Whether any row of a table has arguments.
    #[inline]
    pub fn has_any_of(&self, table: Table) -> bool {
        self.records.owns(table)
    }

    /// Visits the arguments of a row, in order.
    #[inline]
    pub fn visit(&mut self, owner: Owner, mut visit: impl FnMut(Arg<'_>) -> Result<()>) -> Result<()> {
        self.records.visit(owner, |records| visit_record(records, &mut visit))
    }

    /// Counts the arguments of a row as lost.
    pub fn lose(&mut self, owner: Owner, names: &NamePool, loss: &mut Loss) -> Result<()> {
        self.visit(owner, |arg| {
            lose_arg(owner, &arg, names, loss);
            Ok(())
        })
    }
}

/// Counts an argument of a row as lost.
pub fn lose_arg(owner: Owner, arg: &Arg<'_>, names: &NamePool, loss: &mut Loss) {
    loss.lose(phrase(Table::Args), || format!("{} of {owner}", names.resident(arg.key).unwrap_or("")));
}

fn visit_record(record: &[u8], visit: &mut impl FnMut(Arg<'_>) -> Result<()>) -> Result<()> {
    let mut cursor = Cursor::new(record, 0, ByteOrder::Little);
    while !cursor.is_empty() {
        let tag = cursor.u8("tag")?;
        let key = NameId::from_raw(cursor.u32("key")?);
        let kind = NameId::from_raw(cursor.u32("type")?);
        let idx = cursor.u32("index")?;
        let value = match tag & !INDEXED {
            BYTES => {
                let len = cursor.u64("length")? as usize;
                Datum::Bytes(cursor.take(len, "bytes")?)
            }
            FLOAT => Datum::Float(f64::from_bits(cursor.u64("float")?)),
            INT => Datum::Int(cursor.i64("int")?),
            TEXT => {
                let len = cursor.u64("length")? as usize;
                Datum::Text(std::str::from_utf8(cursor.take(len, "text")?).unwrap_or(""))
            }
            UNSIGNED => Datum::Unsigned(cursor.u64("unsigned")?),
            _ => Datum::Null,
        };
        visit(Arg { key, idx: (tag & INDEXED != 0).then_some(idx), kind, value })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use traceloom_core::Limits;
    use traceloom_model::args::Arg as Row;

    use super::*;
    use crate::{
        Need, Options, SpanRows, Target,
        fixture::{Synthetic, pass},
    };

    static ARGS: Target =
        Target { id: "args", needs: &[&[Need::of::<SpanRows<'_>>(), Need::of::<ArgRows<'_>>()]], ..Target::EMPTY };

    const EMPTY: Row<'_> = Row {
        id: 0,
        owner_table: traceloom_model::Named::Text("spans"),
        owner_id: 0,
        key: traceloom_model::Named::Text("k"),
        idx: None,
        r#type: traceloom_model::Named::Text("t"),
        int_value: None,
        uint_value: None,
        float_value: None,
        text_value: None,
        bytes_value: None,
    };

    fn gathered(limit_bytes: u64, trace: &Synthetic) -> (Args, Loss) {
        let limits = Limits::with(|limits| limits.tree_bytes = limit_bytes);
        let options = Options { limits, ..Options::default() };
        let pass = pass(trace, &options, &ARGS);
        (pass.args, pass.loss)
    }

    #[test]
    fn values_of_every_kind_come_back_exactly() {
        let trace = Synthetic::new(|tables| {
            tables.push(Row { id: 0, owner_id: 3, int_value: Some(i64::MIN), ..EMPTY })?;
            tables.push(Row { id: 1, owner_id: 3, idx: Some(2), uint_value: Some(u64::MAX), ..EMPTY })?;
            tables.push(Row { id: 2, owner_id: 1, float_value: Some(-0.0), ..EMPTY })?;
            tables.push(Row { id: 3, owner_id: 3, text_value: Some("ü</script>"), ..EMPTY })?;
            tables.push(Row { id: 4, owner_id: 3, bytes_value: Some(&[0, 255]), ..EMPTY })?;
            tables.push(Row { id: 5, owner_id: 3, ..EMPTY })?;
            tables.push(Row { id: 6, owner_table: "logs".into(), owner_id: 3, ..EMPTY })
        });
        let (mut args, loss) = gathered(0, &trace);
        let mut of = |id: i64| {
            let mut values = Vec::new();
            args.visit(Owner::new(Table::Spans, 0, id), |arg| {
                values.push(format!("{:?} {:?}", arg.idx, arg.value));
                Ok(())
            })
            .unwrap();
            values
        };
        assert_eq!(
            of(3),
            [
                "None Int(-9223372036854775808)",
                "Some(2) Unsigned(18446744073709551615)",
                "None Text(\"ü</script>\")",
                "None Bytes([0, 255])",
                "None Null",
            ]
        );
        assert_eq!(of(1), ["None Float(-0.0)"]);
        assert!(of(0).is_empty() && of(2).is_empty() && of(4).is_empty());
        assert_eq!(loss.entries().collect::<Vec<_>>(), [("arguments", 1, "k of logs 3")]);
    }

    #[test]
    fn every_owner_of_many_finds_its_own() {
        const OWNERS: i64 = 20_000;
        let trace = Synthetic::new(|tables| {
            for id in 0..2 * OWNERS {
                let owner_id = id % OWNERS * 7_919 % OWNERS;
                tables.push(Row { id, owner_id, int_value: Some(owner_id), ..EMPTY })?;
            }
            Ok(())
        });
        for limit in [0, u64::MAX] {
            let (mut args, _) = gathered(limit, &trace);
            for id in 0..OWNERS {
                let mut seen = 0;
                args.visit(Owner::new(Table::Spans, 0, id), |arg| {
                    assert_eq!(arg.value, Datum::Int(id));
                    seen += 1;
                    Ok(())
                })
                .unwrap();
                assert_eq!(seen, 2);
            }
        }
    }
}
