//! The list of tables, and the rows on their way to a sink.

use std::sync::{Arc, OnceLock};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::{Columns, Filter, Flow, Halt, TableSink, trackers::Strings};

macro_rules! tables {
    ($($table:ident $module:ident $name:literal,)+) => {
        $(pub mod $module;)+

        /// A table.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Table {
            $(#[doc = concat!("[`", stringify!($module), "`]")] $table,)+
        }

        impl Table {
            /// All tables, in the order of the reference page.
            pub const ALL: [Self; [$(Self::$table),+].len()] = [$(Self::$table),+];

            /// The name in SQL.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$table => $name,)+
                }
            }

            /// A description, as Markdown.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$table => $module::ABOUT,)+
                }
            }

            /// The columns, `trace_id` and `id` first.
            pub fn columns(self) -> &'static [ColumnDef] {
                match self {
                    $(Self::$table => $module::COLUMNS,)+
                }
            }
        }

        /// One builder per table.
        #[derive(Debug)]
        pub struct Builders {
            $(pub(crate) $module: $module::Builder,)+
        }

        impl Builders {
            fn new(sink: &dyn TableSink) -> Self {
                Self { $($module: BuildTable::new(sink.wants(Table::$table)),)+ }
            }

            fn get(&mut self, table: Table) -> &mut dyn BuildTable {
                match table {
                    $(Table::$table => &mut self.$module,)+
                }
            }
        }
    };
}

tables! {
    Traces traces "traces",
    Attributes attributes "attributes",
    Processes processes "processes",
    Threads threads "threads",
    Definitions definitions "definitions",
    Files files "files",
    Sources sources "sources",
    Spans spans "spans",
    Events events "events",
    Counters counters "counters",
    Logs logs "logs",
    Allocations allocations "allocations",
    Frees frees "frees",
    Switches switches "switches",
    Frames frames "frames",
    Stacks stacks "stacks",
    LineTimes line_times "line_times",
    Calls calls "calls",
    CallsMerged calls_merged "calls_merged",
    Links links "links",
    Resources resources "resources",
    Args args "args",
    Findings findings "findings",
}

impl Table {
    /// The table with this name in SQL.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The schema of the table.
    pub fn schema(self) -> SchemaRef {
        static SCHEMAS: OnceLock<Vec<SchemaRef>> = OnceLock::new();
        let schemas = SCHEMAS.get_or_init(|| Self::ALL.iter().map(|table| table.schema_of(Columns::ALL)).collect());
        Arc::clone(&schemas[self as usize])
    }

    /// The schema of some of the columns.
    pub fn partial_schema(self, columns: Columns) -> SchemaRef {
        // All schemas together take as long as reading a small trace.
        if columns == Columns::ALL { self.schema() } else { self.schema_of(columns) }
    }

    fn schema_of(self, columns: Columns) -> SchemaRef {
        let wanted = self.columns().iter().enumerate().filter(|(number, _)| columns.has(*number));
        Arc::new(Schema::new(wanted.map(|(_, column)| column.field()).collect::<Vec<_>>()))
    }
}

/// A column as data.
#[derive(Debug)]
pub struct ColumnDef {
    /// The name in SQL.
    pub name: &'static str,
    /// A description, as Markdown.
    pub about: &'static str,
    /// The type, for people.
    pub label: &'static str,
    /// Whether a cell may be NULL.
    pub nullable: bool,
    /// The Arrow type.
    pub data_type: fn() -> DataType,
    /// The table whose `id` the column holds.
    pub target: Option<Table>,
}

impl ColumnDef {
    /// The column as a field of a schema.
    pub fn field(&self) -> Field {
        Field::new(self.name, (self.data_type)(), self.nullable)
    }
}

/// A row of a table.
pub trait Row {
    /// The table of the row.
    const TABLE: Table;
    /// The builder of the table.
    type Builder: BuildTable;

    /// Selects the builder of the table.
    fn builder(builders: &mut Builders) -> &mut Self::Builder;

    /// Appends the row.
    fn append(self, builder: &mut Self::Builder);
}

/// Builds the columns of one table.
pub trait BuildTable {
    /// Builds only these columns.
    fn new(wanted: Columns) -> Self
    where
        Self: Sized;

    /// Number of rows held.
    fn rows(&self) -> usize;

    /// Bytes of text held.
    fn text_bytes(&self) -> usize;

    /// Returns the arrays and starts new ones.
    fn finish(&mut self, trace_id: u64, strings: &Strings) -> Vec<arrow_array::ArrayRef>;
}

/// A batch is sent when it has this many rows, the batch size of common query engines.
pub const BATCH_ROWS: usize = 8192;
/// A batch is also sent when it has this many bytes of text.
pub const BATCH_BYTES: usize = 4 << 20;

/// The tables of one trace, on their way to a sink.
///
/// Call order: `push* finish`. After [`Halt::Stopped`] nothing more may be pushed.
pub struct Tables<'s> {
    trace_id: u64,
    sink: &'s mut dyn TableSink,
    wanted: [Columns; Table::ALL.len()],
    schemas: [SchemaRef; Table::ALL.len()],
    builders: Builders,
    filter: Filter,
    /// The strings that rows refer to by symbol.
    pub strings: Strings,
}

impl std::fmt::Debug for Tables<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("trace_id", &self.trace_id).field("filter", &self.filter).finish_non_exhaustive()
    }
}

impl<'s> Tables<'s> {
    /// Empty tables of a trace.
    pub fn new(trace_id: u64, filter: Filter, sink: &'s mut dyn TableSink) -> Self {
        let wanted = Table::ALL.map(|table| sink.wants(table));
        let schemas = Table::ALL.map(|table| table.partial_schema(wanted[table as usize]));
        let builders = Builders::new(sink);
        Self { trace_id, wanted, schemas, builders, sink, filter, strings: Strings::default() }
    }

    /// The filter: rows outside it may be left out.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Whether any column of a table is wanted.
    #[inline]
    pub fn wants(&self, table: Table) -> bool {
        !self.wanted[table as usize].is_empty()
    }

    /// Whether any of these columns is wanted.
    pub fn wants_any(&self, table: Table, columns: &[&str]) -> bool {
        let wanted = self.wanted[table as usize];
        let named = |number: usize| table.columns().get(number).is_some_and(|column| columns.contains(&column.name));
        (0..table.columns().len()).any(|number| wanted.has(number) && named(number))
    }

    /// Adds a row; cells that no one wants cost almost nothing.
    // A row has many cells. Only if this is inlined does the compiler skip building the unwanted ones.
    #[inline(always)]
    pub fn push<R: Row>(&mut self, row: R) -> Result<(), Halt> {
        if self.wanted[R::TABLE as usize].is_empty() {
            return Ok(());
        }
        let builder = R::builder(&mut self.builders);
        row.append(builder);
        if builder.rows() >= BATCH_ROWS || builder.text_bytes() >= BATCH_BYTES {
            return self.flush(R::TABLE);
        }
        Ok(())
    }

    /// Number of rows of a table that wait to be sent.
    pub fn waiting(&mut self, table: Table) -> usize {
        self.builders.get(table).rows()
    }

    /// Sends the remaining rows.
    pub fn finish(mut self) -> Result<(), Halt> {
        Table::ALL.into_iter().try_for_each(|table| self.flush(table))
    }

    /// Sends the buffered rows of a table.
    #[cold]
    pub fn flush(&mut self, table: Table) -> Result<(), Halt> {
        let builder = self.builders.get(table);
        let rows = builder.rows();
        if rows == 0 {
            return Ok(());
        }
        let arrays = builder.finish(self.trace_id, &self.strings);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schemas[table as usize]);
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options)
            .expect("a builder makes the columns of its schema, all of one length");
        match self.sink.batch(table, batch)? {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(Halt::Stopped),
        }
    }
}
