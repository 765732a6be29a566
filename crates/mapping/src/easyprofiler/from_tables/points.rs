//! Events, values of counters and log entries as records, and bookmarks.

use traceloom_core::Result;
use traceloom_easyprofiler::raw::{BlockType, DataType};

use super::{
    Draft,
    entry::{Bookmark, Entry, Kind, NO_TEXT, RECORD},
};
use traceloom_passes::{
    CounterRows, Datum, EventRows, Found, Layer, LogRows, NameId, Owner, Pass, PointSink, lose_arg,
};

/// Pushes all points.
pub(super) fn push(pass: &mut Pass<'_>, file: &mut Draft) -> Result<()> {
    let rest = pass.rest();
    rest.pour_points(&mut Points { pass, file, number: 0 })
}

struct Points<'a, 'p> {
    pass: &'a mut Pass<'p>,
    file: &'a mut Draft,
    number: u64,
}

/// A record without its time and section.
struct Content {
    kind: u32,
    /// The offset of its text.
    text: u64,
    /// The id of a value.
    number: u64,
    /// Whether it comes before spans that end at the same time.
    is_inside: bool,
}

impl PointSink for Points<'_, '_> {
    fn events(&mut self, rows: &EventRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let is_bookmark = rows.is_mark(row);
            let mut point = rows.point(row);
            point.thread_id = point.thread_id.filter(|_| !is_bookmark);
            let Some(found) = self.pass.find(&point)? else { continue };
            let name = self.pass.names.intern(rows.name.get(row))?;
            let color = self.lose_args(found.owner, is_bookmark)?;
            let entries = &mut self.file.entries;
            if is_bookmark && entries.bookmarks.len() < usize::from(u16::MAX) {
                let ts_ns = self.pass.timeline.at(found.ts_ns);
                entries.bookmarks.push(Bookmark { ts_ns, color, name });
                entries.last_ns = entries.last_ns.max(ts_ns);
                continue;
            }
            let kind = self.kind(BlockType::EVENT, name, None, None)?;
            let is_inside = rows.span_id.get(row).is_some();
            self.push(&found, &Content { kind, text: NO_TEXT, number: 0, is_inside })?;
        }
        Ok(())
    }

    fn counters(&mut self, rows: &CounterRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.pass.find(&rows.point(row))? else { continue };
            let mut bytes = Vec::new();
            let Pass { args, names, loss, .. } = &mut *self.pass;
            args.visit(found.owner, |arg| {
                let (_, word) = put_datum(arg.value, &mut bytes);
                if names.resident(arg.kind) != Some(word) || arg.idx.is_some() {
                    loss.lose("exact types of values", || found.owner.to_string());
                }
                Ok(())
            })?;
            if bytes.is_empty() {
                match rows.text.get(row) {
                    Some(text) => put_datum(Datum::Text(text), &mut bytes),
                    None => put_datum(Datum::Float(rows.value.get(row).unwrap_or(f64::NAN)), &mut bytes),
                };
            }
            let text = self.file.entries.keep(&bytes)?;
            let name = names.intern(rows.name.get(row))?;
            let kind = self.kind(BlockType::VALUE, name, None, None)?;
            let number = rows.value_id.get(row).unwrap_or(0);
            self.push(&found, &Content { kind, text, number, is_inside: true })?;
        }
        Ok(())
    }

    fn logs(&mut self, rows: &LogRows<'_>) -> Result<()> {
        for row in 0..rows.rows {
            let Some(found) = self.pass.find(&rows.point(row))? else { continue };
            self.lose_args(found.owner, false)?;
            let Pass { names, loss, .. } = &mut *self.pass;
            loss.lose("levels of log entries", || rows.level_name.get(row).to_owned());
            let name = names.intern(rows.format.get(row).unwrap_or("log"))?;
            let file = rows.file.get(row).map(|file| names.intern(file)).transpose()?;
            let kind = self.kind(BlockType::EVENT, name, file, rows.line.get(row))?;
            let text = self.file.entries.keep(rows.message.get(row).as_bytes())?;
            self.push(&found, &Content { kind, text, number: 0, is_inside: true })?;
        }
        Ok(())
    }
}

impl Points<'_, '_> {
    fn kind(&mut self, block_type: BlockType, name: NameId, file: Option<NameId>, line: Option<u32>) -> Result<u32> {
        self.file.entries.kind(Kind { block_type, name, file, line, color: None })
    }

    fn push(&mut self, found: &Found, content: &Content) -> Result<()> {
        let Draft { sections, entries } = &mut *self.file;
        let section = match found.thread {
            Some(thread) => sections.of(thread, Layer::Stack, 0, &self.pass.roster),
            None => sections.whole(),
        };
        self.number += 1;
        let order = self.number + if content.is_inside { 0 } else { 1 << 63 };
        let ts_ns = self.pass.timeline.at(found.ts_ns);
        let &Content { kind, text, number, .. } = content;
        entries.push(Entry { section, part: RECORD, end_ns: ts_ns, order, begin_ns: ts_ns, kind, text, number })
    }

    /// Counts arguments, which the format cannot hold; the color of a bookmark is one of them.
    fn lose_args(&mut self, owner: Owner, has_color: bool) -> Result<Option<u32>> {
        let Pass { args, names, loss, .. } = &mut *self.pass;
        let mut color = None;
        args.visit(owner, |arg| {
            match (arg.value, names.resident(arg.key)) {
                (Datum::Unsigned(argb), Some("color")) if has_color && argb <= u32::MAX.into() => {
                    color = Some(argb as u32);
                }
                _ => lose_arg(owner, &arg, names, loss),
            }
            Ok(())
        })?;
        Ok(color)
    }
}

/// Bytes that are not a value of another type become an array of this type; no other value does.
pub(super) const BYTES: DataType = DataType::UINT8;

/// Appends the bytes of a value; returns its type and the name of the type.
fn put_datum(value: Datum<'_>, bytes: &mut Vec<u8>) -> (DataType, &'static str) {
    bytes.clear();
    let (kind, word) = match value {
        Datum::Float(_) | Datum::Null => (DataType::DOUBLE, "double"),
        Datum::Int(_) => (DataType::INT64, "int64"),
        Datum::Unsigned(_) => (DataType::UINT64, "uint64"),
        Datum::Text(_) => (DataType::STRING, "string"),
        Datum::Bytes(_) => (BYTES, "uint8"),
    };
    bytes.push(kind.0);
    match value {
        Datum::Float(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Datum::Int(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Datum::Unsigned(number) => bytes.extend_from_slice(&number.to_le_bytes()),
        Datum::Bytes(stored) => bytes.extend_from_slice(stored),
        Datum::Text(text) => bytes.extend_from_slice(text.as_bytes()),
        Datum::Null => bytes.extend_from_slice(&f64::NAN.to_le_bytes()),
    }
    if kind == DataType::STRING {
        bytes.push(0);
    }
    (kind, word)
}
