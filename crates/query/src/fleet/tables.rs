//! The tables of a fleet store.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::store::Shelf;

/// A table of a fleet store: a table of traces, or one about traces.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum FleetTable {
    /// A table that ordinary stores have as well.
    Of(Shelf),
    /// One row per trace: its file, its content and its problems.
    Ingested,
    /// One row per file that cannot be read as a trace.
    Quarantine,
    /// One row per trace and name: sums, percentiles and a histogram of its durations.
    Sums,
}

impl FleetTable {
    /// All tables.
    pub fn all() -> impl Iterator<Item = Self> {
        Shelf::all().map(Self::Of).chain([Self::Ingested, Self::Quarantine, Self::Sums])
    }

    /// Name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Of(shelf) => shelf.name(),
            Self::Ingested => "ingested",
            Self::Quarantine => "quarantine",
            Self::Sums => "sums",
        }
    }

    /// The table with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|table| table.name() == name)
    }

    /// The columns of its files, without the partition columns.
    pub fn schema(self) -> SchemaRef {
        let columns = match self {
            Self::Of(shelf) => return shelf.table().schema(),
            Self::Ingested => INGESTED,
            Self::Quarantine => QUARANTINE,
            Self::Sums => SUMS,
        };
        let keys = [("trace_id", Kind::Unsigned, false), ("id", Kind::Integer, false)];
        let field = |(name, kind, is_nullable): &(&str, Kind, bool)| Field::new(*name, kind.data_type(), *is_nullable);
        Arc::new(Schema::new(keys.iter().chain(columns).map(field).collect::<Vec<_>>()))
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Flag,
    Float,
    Integer,
    Integers,
    Name,
    Text,
    Unsigned,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::Flag => DataType::Boolean,
            Self::Float => DataType::Float64,
            Self::Integer => DataType::Int64,
            Self::Integers => DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true))),
            Self::Name => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::Text => DataType::Utf8,
            Self::Unsigned => DataType::UInt64,
        }
    }
}

type Columns = &'static [(&'static str, Kind, bool)];

const INGESTED: Columns = &[
    ("path", Kind::Text, false),
    ("content_hash", Kind::Text, false),
    ("bytes", Kind::Unsigned, false),
    ("errors", Kind::Unsigned, false),
    ("warnings", Kind::Unsigned, false),
    ("is_damaged", Kind::Flag, false),
];

const QUARANTINE: Columns = &[
    ("path", Kind::Text, false),
    ("content_hash", Kind::Text, false),
    ("bytes", Kind::Unsigned, false),
    ("finding", Kind::Text, false),
];

const SUMS: Columns = &[
    ("name", Kind::Name, false),
    ("calls", Kind::Integer, false),
    ("total_ns", Kind::Integer, false),
    ("self_ns", Kind::Integer, false),
    ("min_ns", Kind::Integer, true),
    ("max_ns", Kind::Integer, true),
    ("p50_ns", Kind::Float, true),
    ("p95_ns", Kind::Float, true),
    ("p99_ns", Kind::Float, true),
    ("deviation_ns", Kind::Float, true),
    ("durations", Kind::Integers, true),
    ("counts", Kind::Integers, true),
];
