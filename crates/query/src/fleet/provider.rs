//! The tables of a fleet store in an engine session, on this machine or on a cluster.

use std::{collections::HashMap, pin::Pin, sync::Arc, time::SystemTime};

use arrow_schema::{DataType, Field, FieldRef, SchemaRef};
use datafusion::{
    catalog::{Session, TableProvider},
    common::{DFSchema, Result, Statistics, plan_datafusion_err, project_schema, stats::Precision},
    datasource::{
        file_format::{FileFormat, parquet::ParquetFormat},
        listing::{
            ListingTableUrl, PartitionedFile,
            helpers::{expr_applicable_for_cols, filter_partitioned_file, parse_partitions_for_path},
        },
        physical_plan::{FileGroup, FileScanConfigBuilder},
        table_schema::TableSchema,
    },
    logical_expr::{Expr, TableProviderFilterPushDown, TableType},
    object_store::{ObjectMeta, path::Path as Key},
    physical_plan::{ExecutionPlan, empty::EmptyExec},
    prelude::SessionContext,
    scalar::ScalarValue,
};

use super::{FleetFile, FleetTable, snapshot::Snapshot};

/// Registers the tables of the store at a URL, such as `file:///runs/` or `s3://bucket/runs/`.
pub(crate) fn register(context: &SessionContext, url: &str, snapshot: &Arc<Snapshot>) -> Result<()> {
    for table in FleetTable::all() {
        let provider = FleetProvider::new(url.to_owned(), table, Arc::clone(snapshot));
        context.register_table(table.name(), Arc::new(provider))?;
    }
    Ok(())
}

/// A table of a fleet store: the Parquet files that the manifest lists.
///
/// Folders are not listed: in the middle of a commit, they lack rows.
#[derive(Debug)]
pub(crate) struct FleetProvider {
    pub(crate) url: String,
    pub(crate) table: FleetTable,
    pub(crate) snapshot: Arc<Snapshot>,
    columns: TableSchema,
}

impl FleetProvider {
    pub(crate) fn new(url: String, table: FleetTable, snapshot: Arc<Snapshot>) -> Self {
        let fleet = snapshot.fleet();
        let partitions = fleet.manifest().partitions.iter();
        let fields: Vec<FieldRef> =
            partitions.map(|column| Arc::new(Field::new(column, DataType::Utf8, false))).collect();
        let columns = TableSchema::builder(table.schema()).with_table_partition_cols(fields).build();
        Self { url, table, snapshot, columns }
    }

    fn partitions(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.table_partition_cols().iter().map(|field| field.name().as_str())
    }

    /// Whether a filter decides about whole files.
    fn is_about_files(&self, filter: &Expr) -> bool {
        expr_applicable_for_cols(&self.partitions().collect::<Vec<_>>(), filter)
    }

    /// The files that a query reads, and their number of rows.
    fn files(&self, folder: &ListingTableUrl, filters: &[Expr]) -> Result<(Vec<PartitionedFile>, usize)> {
        let filters: Vec<Expr> = filters.iter().filter(|filter| self.is_about_files(filter)).cloned().collect();
        let partitions = self.columns.table_partition_cols().clone();
        let partitions = DFSchema::from_unqualified_fields(partitions, HashMap::new())?;
        let fleet = self.snapshot.fleet();
        let (mut files, mut rows) = (Vec::new(), 0u64);
        for file in fleet.manifest().files(self.table) {
            let partitioned = self.partitioned(folder, file, fleet.changed())?;
            if let Some(partitioned) = filter_partitioned_file(partitioned, &filters, &partitions)? {
                files.push(partitioned);
                rows = rows.saturating_add(file.rows);
            }
        }
        Ok((files, usize::try_from(rows).unwrap_or(usize::MAX)))
    }

    /// A file for the engine, with the values of the partition columns.
    fn partitioned(&self, folder: &ListingTableUrl, file: &FleetFile, changed: SystemTime) -> Result<PartitionedFile> {
        let invalid =
            || plan_datafusion_err!("the manifest of the store contains an invalid file name, {:?}", file.file);
        let inside = file.file.strip_prefix(self.table.name()).ok_or_else(invalid)?;
        let location = Key::parse(format!("{}{inside}", folder.prefix())).map_err(|_| invalid())?;
        let values = parse_partitions_for_path(folder, &location, self.partitions());
        let values = values.filter(|values| values.len() == self.partitions().len()).ok_or_else(invalid)?;
        let values = values.iter().map(|value| ScalarValue::from(value.as_ref())).collect();
        // The engine keeps what it knows about a file as long as the size and this time are the same.
        let last_modified = changed.into();
        let meta = ObjectMeta { location, last_modified, size: file.bytes, e_tag: None, version: None };
        Ok(PartitionedFile::new_from_meta(meta).with_partition_values(values))
    }

    async fn plan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let folder = ListingTableUrl::parse(format!("{}/{}/", self.url.trim_end_matches('/'), self.table.name()))?;
        let (files, rows) = self.files(&folder, filters)?;
        if files.is_empty() {
            return Ok(Arc::new(EmptyExec::new(project_schema(&self.schema(), projection)?)));
        }
        let mut statistics = Statistics::new_unknown(&self.schema());
        statistics.num_rows = Precision::Exact(rows);
        let format = ParquetFormat::default();
        let config = FileScanConfigBuilder::new(folder.object_store(), format.file_source(self.columns.clone()))
            .with_file_groups(FileGroup::new(files).split_files(state.config().target_partitions()))
            .with_statistics(statistics)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        format.create_physical_plan(state, config).await
    }
}

impl TableProvider for FleetProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.columns.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let push = |filter: &&Expr| {
            if self.is_about_files(filter) {
                TableProviderFilterPushDown::Exact
            } else {
                TableProviderFilterPushDown::Inexact
            }
        };
        Ok(filters.iter().map(push).collect())
    }

    fn scan<'s, 'a, 'p, 'f, 'async_trait>(
        &'s self,
        state: &'a dyn Session,
        projection: Option<&'p Vec<usize>>,
        filters: &'f [Expr],
        limit: Option<usize>,
    ) -> Pin<Box<dyn Future<Output = Result<Arc<dyn ExecutionPlan>>> + Send + 'async_trait>>
    where
        's: 'async_trait,
        'a: 'async_trait,
        'p: 'async_trait,
        'f: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(self.plan(state, projection, filters, limit))
    }
}
