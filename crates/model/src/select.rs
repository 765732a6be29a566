//! `select!` requests and reads some columns of a table through one type; `sink!` makes a sink of such types.

use arrow_array::RecordBatch;
use traceloom_core::{Error, Result};

use crate::{Columns, Kind, Table};

/// A column as a type: `spans::column::ts_ns`.
pub trait SelectColumn {
    /// The kind of the column.
    type Kind: Kind;
    /// The table of the column.
    const TABLE: Table;
    /// The name in SQL.
    const NAME: &'static str;
    /// The index in the schema.
    const NUMBER: usize;
}

/// Columns of one table, chosen with [`crate::select!`].
pub trait Selection {
    /// The table.
    const TABLE: Table;
    /// The chosen columns.
    const COLUMNS: Columns;
}

/// The reader of a column.
pub type ReaderOf<'b, C> = <<C as SelectColumn>::Kind as Kind>::Reader<'b>;

/// Reads one column of a batch; fails if the column was not requested.
pub fn read_column<C: SelectColumn>(batch: &RecordBatch) -> Result<ReaderOf<'_, C>> {
    match batch.column_by_name(C::NAME) {
        Some(array) => Ok(<C::Kind as Kind>::reader(Some(array))),
        None => Err(Error::internal(format!("the column {}.{} was not requested", C::TABLE.name(), C::NAME))),
    }
}

/// Chooses columns of a table: the resulting type reads exactly these columns, and lists them for the sink to request.
///
/// ```
/// use traceloom_model::{Table, Wanted, select};
///
/// select! {
///     /// When and how long.
///     struct Times of spans { ts_ns, dur_ns }
/// }
///
/// let wanted = Wanted::nothing().and(Table::Spans, Times::COLUMNS);
/// assert!(wanted.columns(Table::Spans).has(5));
/// let sum = |batch: &_| -> traceloom_core::Result<i64> {
///     let times = Times::of(batch)?;
///     Ok((0..times.rows).filter_map(|row| times.dur_ns.get(row)).sum())
/// };
/// # let _ = sum;
/// ```
#[macro_export]
macro_rules! select {
    ($(#[$meta:meta])* $vis:vis struct $name:ident of $table:ident { $($column:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name<'b> {
            /// Number of rows.
            #[allow(dead_code)]
            $vis rows: usize,
            $(
                #[doc = concat!("`", stringify!($table), ".", stringify!($column), "`")]
                $vis $column: $crate::ReaderOf<'b, $crate::$table::column::$column>,
            )+
        }

        impl<'b> $name<'b> {
            /// The chosen columns.
            $vis const COLUMNS: $crate::Columns =
                $crate::Columns::of(&[$(<$crate::$table::column::$column as $crate::SelectColumn>::NUMBER),+]);

            /// Reads a batch; fails if a column was not requested.
            $vis fn of(batch: &'b $crate::select_uses::RecordBatch) -> $crate::select_uses::Result<Self> {
                Ok(Self {
                    rows: batch.num_rows(),
                    $($column: $crate::read_column::<$crate::$table::column::$column>(batch)?,)+
                })
            }
        }

        impl $crate::Selection for $name<'_> {
            const TABLE: $crate::Table = <$crate::$table::column::id as $crate::SelectColumn>::TABLE;
            const COLUMNS: $crate::Columns = Self::COLUMNS;
        }
    };
}

/// Makes a type a [`crate::TableSink`] that wants these selections, and takes the rows of each with an expression.
///
/// ```
/// use traceloom_model::{select, sink};
///
/// select! {
///     struct Times of spans { ts_ns, dur_ns }
/// }
///
/// struct Longest {
///     is_wanted: bool,
///     dur_ns: i64,
/// }
///
/// sink! {
///     impl for Longest as longest {
///         Times(rows) if longest.is_wanted =>
///             longest.dur_ns = (0..rows.rows).filter_map(|row| rows.dur_ns.get(row)).fold(longest.dur_ns, i64::max),
///     }
/// }
/// ```
#[macro_export]
macro_rules! sink {
    (impl for $sink:ty as $this:ident { $($rows:ident($view:ident) $(if $wanted:expr)? => $take:expr),+ $(,)? }) => {
        impl $crate::TableSink for $sink {
            fn wants(&self, table: $crate::Table) -> $crate::Columns {
                let $this = self;
                let _ = $this;
                match table {
                    $(<$rows as $crate::Selection>::TABLE $(if $wanted)? => $rows::COLUMNS,)+
                    _ => $crate::Columns::NONE,
                }
            }

            fn batch(
                &mut self,
                table: $crate::Table,
                batch: $crate::select_uses::RecordBatch,
            ) -> $crate::select_uses::Result<$crate::Flow> {
                let $this = self;
                match table {
                    $(<$rows as $crate::Selection>::TABLE => {
                        let $view = &$rows::of(&batch)?;
                        $take;
                    })+
                    _ => {}
                }
                Ok($crate::Flow::Continue)
            }
        }
    };
}
