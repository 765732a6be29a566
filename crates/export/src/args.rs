//! Arguments, found by the row that owns them.
//!
//! They are laid out one after the other in a [`Store`]; an index, sorted by owner, lies in another. Both are in memory
//! only up to a limit, so a lookup reads a block of the index and a few bytes; neighbours are in the same block.

use std::cmp::Ordering;

use traceloom_bytes::{Arena, ByteOrder, Cursor, Entry, Result};
use traceloom_model::{Table, args};

use crate::{KeyMap, NameId, NamePool, Roster, Sorter, Store};

/// An argument of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arg<'a> {
    /// Its name, or its number.
    pub key: NameId,
    /// Which element, where the argument is an array.
    pub idx: Option<u32>,
    /// Its type, in the words of the format.
    pub kind: NameId,
    /// Its value.
    pub value: Datum<'a>,
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Datum<'a> {
    /// Bytes that are no text.
    Bytes(&'a [u8]),
    /// A floating-point number.
    Float(f64),
    /// A signed number.
    Int(i64),
    /// The argument is there and has no value.
    Null,
    /// A text.
    Text(&'a str),
    /// An unsigned number.
    Unsigned(u64),
}

/// Where the arguments of one row are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Place {
    owner: Owner,
    offset: u64,
    len: u64,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Owner {
    table: u32,
    trace: u32,
    id: i64,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.owner, self.offset).cmp(&(other.owner, other.offset))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Entry for Place {
    const BYTES: usize = 32;

    fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.owner.table.to_le_bytes());
        bytes.extend_from_slice(&self.owner.trace.to_le_bytes());
        bytes.extend_from_slice(&self.owner.id.to_le_bytes());
        bytes.extend_from_slice(&self.offset.to_le_bytes());
        bytes.extend_from_slice(&self.len.to_le_bytes());
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let owner = Owner { table: cursor.u32("table")?, trace: cursor.u32("trace")?, id: cursor.i64("owner")? };
        Ok(Self { owner, offset: cursor.u64("offset")?, len: cursor.u64("length")? })
    }
}

/// Takes arguments as they come.
#[derive(Debug)]
pub struct ArgStore {
    tables: Vec<Table>,
    places: Sorter<Place>,
    /// The row whose arguments come at the moment.
    current: Option<Place>,
    values: Store,
    limit_bytes: u64,
    keys: KeyMap,
    kinds: KeyMap,
    record: Vec<u8>,
}

impl ArgStore {
    /// Empty; takes arguments of rows of these tables.
    pub fn new(tables: &[Table], arena: &Arena, limit_bytes: u64) -> Self {
        Self {
            tables: tables.to_vec(),
            places: Sorter::new(arena),
            current: None,
            values: Store::new(limit_bytes),
            limit_bytes,
            keys: KeyMap::default(),
            kinds: KeyMap::default(),
            record: Vec::new(),
        }
    }

    /// Takes a batch; gives the rows whose owner is in none of the tables to `foreign`.
    pub fn take(
        &mut self,
        view: &args::View<'_>,
        roster: &mut Roster,
        pool: &mut NamePool,
        mut foreign: impl FnMut(usize),
    ) -> Result<()> {
        self.keys.turn_to(view.key.values());
        self.kinds.turn_to(view.r#type.values());
        // Of each key of the owners' dictionary: the table, if it is one of ours.
        let known = |name: &str| Table::by_name(name).filter(|table| self.tables.contains(table));
        let owners: Vec<Option<Table>> =
            view.owner_table.values().into_iter().flatten().map(|name| name.and_then(known)).collect();
        for row in 0..view.rows {
            let key = view.owner_table.keys().get(row).copied().unwrap_or(-1);
            let Some(table) = usize::try_from(key).ok().and_then(|key| owners.get(key).copied().flatten()) else {
                foreign(row);
                continue;
            };
            let trace = roster.trace_number(view.trace_id.get(row))? as u32;
            self.lay_out(view, row, pool)?;
            self.add(Owner { table: table as u32, trace, id: view.owner_id.get(row) })?;
        }
        Ok(())
    }

    fn lay_out(&mut self, view: &args::View<'_>, row: usize, pool: &mut NamePool) -> Result<()> {
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

    fn add(&mut self, owner: Owner) -> Result<()> {
        let offset = self.values.append(&self.record)?;
        let len = self.record.len() as u64;
        match &mut self.current {
            Some(place) if place.owner == owner => place.len += len,
            current => {
                if let Some(done) = current.replace(Place { owner, offset, len }) {
                    self.places.push(done)?;
                }
            }
        }
        Ok(())
    }

    /// Ready to be asked.
    pub fn finish(mut self) -> Result<Args> {
        if let Some(last) = self.current.take() {
            self.places.push(last)?;
        }
        let mut index = Store::new(self.limit_bytes);
        let (mut firsts, mut entries, mut bytes) = (Vec::new(), 0_u64, Vec::new());
        let mut owners = [false; Table::ALL.len()];
        for place in self.places.finish()?.iter()? {
            let place = place?;
            if entries.is_multiple_of(BLOCK) {
                firsts.push(place.owner);
            }
            if let Some(owns) = owners.get_mut(place.owner.table as usize) {
                *owns = true;
            }
            bytes.clear();
            place.put(&mut bytes);
            index.append(&bytes)?;
            entries += 1;
        }
        let (block, record) = Default::default();
        Ok(Args {
            index,
            entries,
            firsts,
            owners,
            next: 0,
            block_number: usize::MAX,
            block,
            values: self.values,
            record,
        })
    }
}

const BYTES: u8 = 0;
const FLOAT: u8 = 1;
const INT: u8 = 2;
const NULL: u8 = 3;
const TEXT: u8 = 4;
const UNSIGNED: u8 = 5;
const INDEXED: u8 = 0x80;

/// Entries of the index that are read at once.
const BLOCK: u64 = 1024;

/// Arguments, to be asked for.
#[derive(Debug)]
pub struct Args {
    index: Store,
    entries: u64,
    /// The first owner of each block of the index.
    firsts: Vec<Owner>,
    /// Tables that own any.
    owners: [bool; Table::ALL.len()],
    block_number: usize,
    block: Vec<Place>,
    /// The place in the block behind the last one found: rows are asked for nearly in their order.
    next: usize,
    values: Store,
    record: Vec<u8>,
}

impl Args {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Visits the arguments of a row, in their order; `trace` is the number of its trace in the roster.
    pub fn visit(
        &mut self,
        table: Table,
        trace: usize,
        id: i64,
        mut visit: impl FnMut(Arg<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.owners[table as usize] {
            return Ok(());
        }
        let owner = Owner { table: table as u32, trace: trace as u32, id };
        if let Some(place) = self.likely(owner) {
            return self.visit_place(place, &mut visit);
        }
        // Arguments of one owner that did not come together have several entries, which may fill several blocks.
        let mut number = self.firsts.partition_point(|first| *first < owner).saturating_sub(1);
        while self.firsts.get(number).is_some_and(|first| *first <= owner) {
            self.load_block(number)?;
            let begin = self.block.partition_point(|place| place.owner < owner);
            for index in begin..self.block.len() {
                let place = self.block[index];
                if place.owner != owner {
                    return Ok(());
                }
                self.next = index + 1;
                self.visit_place(place, &mut visit)?;
            }
            number += 1;
        }
        Ok(())
    }

    /// The entry of an owner, where it is the next one and the only one.
    #[inline]
    fn likely(&mut self, owner: Owner) -> Option<Place> {
        let place = *self.block.get(self.next).filter(|place| place.owner == owner)?;
        self.block.get(self.next + 1).filter(|after| after.owner != owner)?;
        self.next += 1;
        Some(place)
    }

    fn visit_place(&mut self, place: Place, visit: &mut impl FnMut(Arg<'_>) -> Result<()>) -> Result<()> {
        self.record.resize(place.len as usize, 0);
        self.values.read(place.offset, &mut self.record)?;
        visit_record(&self.record, visit)
    }

    #[inline]
    fn load_block(&mut self, number: usize) -> Result<()> {
        if self.block_number == number {
            return Ok(());
        }
        let begin = number as u64 * BLOCK;
        let len = self.entries.saturating_sub(begin).min(BLOCK);
        let mut bytes = vec![0; len as usize * Place::BYTES];
        self.index.read(begin * Place::BYTES as u64, &mut bytes)?;
        let mut cursor = Cursor::new(&bytes, 0, ByteOrder::Little);
        self.block.clear();
        while !cursor.is_empty() {
            self.block.push(Place::take(&mut cursor)?);
        }
        self.block_number = number;
        Ok(())
    }
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
    use traceloom_bytes::{Limits, Loss};
    use traceloom_model::args::Arg as Row;

    use super::*;
    use crate::{Descriptor, Gathered, Need, Options, fixture::Synthetic};

    static ARGS: Descriptor = Descriptor {
        id: "args",
        name: "",
        about: "",
        extensions: &[],
        variants: &[],
        needs: &[Need::by_begin(Table::Spans, &[]), Need::of(Table::Args, &[])],
        is_text: false,
    };

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

    fn gathered(limit_bytes: u64, trace: &Synthetic) -> (Gathered, Loss) {
        let mut loss = Loss::default();
        let limits = Limits { tree_bytes: limit_bytes, ..Limits::default() };
        let gathered = Gathered::new(trace, &Options { limits, ..Options::default() }, &ARGS, &mut loss).unwrap();
        (gathered, loss)
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
        let (mut gathered, loss) = gathered(0, &trace);
        let mut of = |id: i64| {
            let mut values = Vec::new();
            gathered
                .args
                .visit(Table::Spans, 0, id, |arg| {
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
            let (mut gathered, _) = gathered(limit, &trace);
            for id in 0..OWNERS {
                let mut seen = 0;
                gathered
                    .args
                    .visit(Table::Spans, 0, id, |arg| {
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
