//! `table!`: generates a table from its columns, so that schema, row, builder, view and reference page cannot differ.

/// Defines a table in its module: the row, its `Builder`, its `View`, and the columns as data.
///
/// A column is `name: Kind`, followed by `=> table` if it holds the `id` of a row in that table. Every table starts
/// with `trace_id` and `id`, which are implicit. The default row holds zeros, empty texts and NULLs; a mapper names
/// every column instead, so that a new one cannot be forgotten.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $table:ident $module:ident: $row:ident {
            $($(#[doc = $doc:literal])+ $column:ident: $kind:ty $(=> $target:ident)?,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $row<'a> {
            /// Unique per table and trace.
            pub id: i64,
            $($(#[doc = $doc])+ pub $column: <$kind as $crate::Kind>::Cell<'a>,)+
        }

        impl $crate::Row for $row<'_> {
            const TABLE: $crate::Table = $crate::Table::$table;
            type Builder = Builder;

            #[inline]
            fn builder(builders: &mut $crate::Builders) -> &mut Builder {
                &mut builders.$module
            }

            #[inline(always)]
            fn append(self, builder: &mut Builder) {
                use $crate::define::append;
                append(&mut builder.id, self.id);
                builder.text_bytes += 0 $(+ append(&mut builder.$column, self.$column))+;
                builder.rows += 1;
            }
        }

        /// Columns under construction; a column that no one wants is absent.
        #[derive(Debug, Default)]
        pub struct Builder {
            rows: usize,
            text_bytes: usize,
            wants_trace: bool,
            id: Option<<$crate::Int as $crate::Kind>::Column>,
            $($column: Option<<$kind as $crate::Kind>::Column>,)+
        }

        impl $crate::BuildTable for Builder {
            fn new(wanted: $crate::Columns) -> Self {
                #[allow(unused_assignments)]
                let mut number = 1;
                let mut next = || {
                    number += 1;
                    wanted.has(number - 1)
                };
                Self {
                    rows: 0,
                    text_bytes: 0,
                    wants_trace: wanted.has(0),
                    id: next().then(Default::default),
                    $($column: next().then(Default::default),)+
                }
            }

            #[inline]
            fn rows(&self) -> usize {
                self.rows
            }

            #[inline]
            fn text_bytes(&self) -> usize {
                self.text_bytes
            }

            fn finish(&mut self, trace_id: u64, strings: &$crate::trackers::Strings) -> Vec<arrow_array::ArrayRef> {
                use $crate::define::finish;
                let mut arrays = Vec::new();
                if self.wants_trace {
                    let ids = arrow_array::UInt64Array::from_value(trace_id, self.rows);
                    arrays.push(std::sync::Arc::new(ids) as arrow_array::ArrayRef);
                }
                finish(&mut self.id, strings, &mut arrays);
                $(finish(&mut self.$column, strings, &mut arrays);)+
                (self.rows, self.text_bytes) = (0, 0);
                arrays
            }
        }

        /// Reads all columns of a batch.
        #[derive(Clone, Copy, Debug)]
        pub struct View<'b> {
            /// Number of rows.
            pub rows: usize,
            /// The trace that the row belongs to.
            pub trace_id: <$crate::Unsigned as $crate::Kind>::Reader<'b>,
            /// Unique per table and trace.
            pub id: <$crate::Int as $crate::Kind>::Reader<'b>,
            $($(#[doc = $doc])+ pub $column: <$kind as $crate::Kind>::Reader<'b>,)+
        }

        impl<'b> View<'b> {
            /// Reads a batch; fails if a column was not requested. [`crate::select!`] reads only some columns.
            pub fn of(batch: &'b arrow_array::RecordBatch) -> traceloom_core::Result<Self> {
                Ok(Self {
                    rows: batch.num_rows(),
                    trace_id: $crate::read_column::<column::trace_id>(batch)?,
                    id: $crate::read_column::<column::id>(batch)?,
                    $($column: $crate::read_column::<column::$column>(batch)?,)+
                })
            }
        }

        /// The columns as types, for [`crate::select!`].
        #[allow(non_camel_case_types)]
        pub mod column {
            /// Indices of the columns in the schema.
            #[allow(dead_code)]
            enum Number {
                trace_id,
                id,
                $($column,)+
            }

            $crate::define::column!($table trace_id ($crate::Unsigned) "The trace that a row belongs to.");
            $crate::define::column!($table id ($crate::Int) "Unique per table and trace.");
            $($crate::define::column!($table $column ($kind) $($doc)+);)+
            #[allow(unused_imports)]
            use $crate::{Blob, Float, Int, Maybe, Name, Steady, Text, TextList, Unsigned, Word};
        }

        pub(crate) static ABOUT: &str = concat!($($about, "\n"),+);
        pub(crate) static COLUMNS: &[$crate::ColumnDef] = &[
            $crate::define::TRACE_ID,
            $crate::define::ID,
            $($crate::ColumnDef {
                name: $crate::define::plain(stringify!($column)),
                about: concat!($($doc, "\n"),+),
                label: <$kind as $crate::Kind>::LABEL,
                nullable: <$kind as $crate::Kind>::NULLABLE,
                data_type: <$kind as $crate::Kind>::data_type,
                target: $crate::define::target!($($target)?),
            },)+
        ];
    };
}

/// A column as a type.
macro_rules! column {
    ($table:ident $column:ident ($kind:ty) $($doc:literal)+) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $column;

        impl $crate::SelectColumn for $column {
            type Kind = $kind;
            const TABLE: $crate::Table = $crate::Table::$table;
            const NAME: &'static str = $crate::define::plain(stringify!($column));
            const NUMBER: usize = Number::$column as usize;
        }
    };
}

/// The table that a column refers to.
macro_rules! target {
    () => {
        None
    };
    ($target:ident) => {
        Some($crate::Table::$target)
    };
}

pub(crate) use {column, table, target};

use arrow_array::ArrayRef;

use crate::{
    ColumnDef, Int, Kind, Unsigned,
    kind::{Append, Column},
    trackers::Strings,
};

pub(crate) const TRACE_ID: ColumnDef = ColumnDef {
    name: "trace_id",
    about: " Identifies the trace: a hash of its length and of its first and last 64 KiB.",
    label: Unsigned::LABEL,
    nullable: false,
    data_type: Unsigned::data_type,
    target: None,
};

pub(crate) const ID: ColumnDef = ColumnDef {
    name: "id",
    about: " Unique per table and trace.",
    label: Int::LABEL,
    nullable: false,
    data_type: Int::data_type,
    target: None,
};

/// A column whose name is a Rust keyword is written `r#name`.
pub(crate) const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

#[inline(always)]
pub(crate) fn append<C, B: Append<C>>(column: &mut Option<B>, cell: C) -> usize {
    match column {
        Some(column) => column.append(cell),
        None => 0,
    }
}

pub(crate) fn finish(column: &mut Option<impl Column>, strings: &Strings, arrays: &mut Vec<ArrayRef>) {
    if let Some(column) = column {
        arrays.push(column.finish(strings));
    }
}
