//! The tables and views of a fleet store in an engine session, on this machine or on a cluster.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::{
    catalog::TableProvider,
    common::Result,
    datasource::{
        empty::EmptyTable,
        file_format::parquet::ParquetFormat,
        listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl},
    },
    prelude::SessionContext,
};

use super::{FleetTable, Manifest};

/// Registers the tables of the store at a URL, such as `file:///runs/` or `s3://bucket/runs/`.
///
/// They are plain listing tables: the folders determine which files are read, and partitions that a query excludes are
/// not listed.
pub fn register(context: &SessionContext, url: &str, manifest: &Manifest) -> Result<()> {
    for table in FleetTable::all() {
        context.register_table(table.name(), provider(url, manifest, table)?)?;
    }
    Ok(())
}

fn provider(url: &str, manifest: &Manifest, table: FleetTable) -> Result<Arc<dyn TableProvider>> {
    let columns: Vec<_> = manifest.partitions.iter().map(|column| (column.clone(), DataType::Utf8)).collect();
    if manifest.files(table).next().is_none() {
        let mut fields: Vec<_> = table.schema().fields().iter().cloned().collect();
        fields.extend(columns.into_iter().map(|(name, kind)| Arc::new(arrow_schema::Field::new(name, kind, false))));
        return Ok(Arc::new(EmptyTable::new(Arc::new(arrow_schema::Schema::new(fields)))));
    }
    let folder = ListingTableUrl::parse(format!("{}/{}/", url.trim_end_matches('/'), table.name()))?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
        .with_file_extension(".parquet")
        .with_table_partition_cols(columns);
    let config = ListingTableConfig::new(folder).with_listing_options(options).with_schema(table.schema());
    Ok(Arc::new(ListingTable::try_new(config)?))
}
