//! Collections and markers: the rows of `events`, and the arguments of collections.

use std::fmt::Write;

use traceloom_memlyze::{Gc, Marker};
use traceloom_model::{EventCategory, Halt, Named, Table, Tables, events::Event, trackers::Symbol};

use super::names::{Names, row_id};
use crate::shared::{Args, Argument, Datum};

/// Pushes collections and markers; their ids are the numbers of the events in the file.
#[derive(Debug)]
pub(super) struct Events {
    args: Args,
    gc: Symbol,
    marker: Symbol,
    objects: Symbol,
    bytes: Symbol,
    /// The type of all numbers.
    varint: Symbol,
    /// The name of a marker that is not in the metadata.
    unnamed: String,
}

impl Events {
    pub(super) fn new(tables: &mut Tables<'_>) -> Self {
        let mut intern = |text| tables.strings.intern(text);
        Self {
            args: Args::default(),
            gc: intern(EventCategory::Gc.as_str()),
            marker: intern(EventCategory::Marker.as_str()),
            objects: intern("objects"),
            bytes: intern("bytes"),
            varint: intern("varint"),
            unnamed: String::new(),
        }
    }

    pub(super) fn gc(&mut self, id: i64, ts_ns: i64, gc: &Gc, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if !tables.filter().takes_time(ts_ns) {
            self.args.skip(2);
            return Ok(());
        }
        tables.push(row(id, ts_ns, self.gc.into(), self.gc, None))?;
        for (key, value) in [(self.objects, gc.objects), (self.bytes, gc.size_bytes)] {
            let argument = Argument {
                owner_table: Table::Events,
                owner_id: id,
                key: key.into(),
                idx: None,
                kind: self.varint.into(),
                value: Datum::Unsigned(value),
            };
            self.args.push(&argument, tables)?;
        }
        Ok(())
    }

    pub(super) fn marker(
        &mut self,
        id: i64,
        ts_ns: i64,
        marker: &Marker,
        names: &Names,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        if !tables.filter().takes_time(ts_ns) {
            return Ok(());
        }
        match names.functions.get(marker.name) {
            Some(name) => tables.push(row(id, ts_ns, name.into(), self.marker, Some(row_id(marker.name)))),
            None => {
                self.unnamed.clear();
                // Writing to memory cannot fail.
                _ = write!(self.unnamed, "marker {}", marker.name);
                tables.push(row(id, ts_ns, Named::Text(&self.unnamed), self.marker, None))
            }
        }
    }
}

fn row(id: i64, ts_ns: i64, name: Named<'_>, category: Symbol, definition_id: Option<i64>) -> Event<'_> {
    Event { id, ts_ns, thread_id: None, span_id: None, name, category: category.into(), definition_id }
}
