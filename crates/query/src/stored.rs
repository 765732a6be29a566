//! Tables of stores, whose Parquet files the engine reads itself.

use std::{collections::HashSet, sync::Arc};

use datafusion::{
    catalog::TableProvider,
    common::{Result, plan_datafusion_err},
    datasource::{
        file_format::parquet::ParquetFormat,
        listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl},
    },
};
use traceloom_core::Error;
use traceloom_model::Table;

use crate::{
    location,
    store::{Shelf, Store},
};

/// All traces of the stores; fails for a trace that is in two of them, because it would be counted twice.
pub(crate) fn trace_ids(stores: &[Store]) -> Result<HashSet<u64>, Error> {
    let mut seen = HashSet::new();
    for store in stores {
        for trace in store.traces() {
            if !seen.insert(trace.trace_id) {
                return Err(Error::unsupported(format!("{} is also in another of the stores", trace.path))
                    .in_file(store.path()));
            }
        }
    }
    Ok(seen)
}

/// A table of all stores; `None` if it is empty.
pub(crate) fn table(stores: &[Store], shelf: Shelf) -> Result<Option<Arc<dyn TableProvider>>> {
    let mut urls = Vec::new();
    for path in stores.iter().flat_map(|store| store.files(shelf)) {
        let url = location::url(&path);
        urls.push(url.ok_or_else(|| plan_datafusion_err!("the engine does not accept the name {}", path.display()))?);
    }
    listing(&urls, shelf.table())
}

/// The Parquet files of a table at these URLs; `None` if there are none.
pub(crate) fn listing(urls: &[String], table: Table) -> Result<Option<Arc<dyn TableProvider>>> {
    if urls.is_empty() {
        return Ok(None);
    }
    let urls = urls.iter().map(ListingTableUrl::parse).collect::<Result<_>>()?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config =
        ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(table.schema());
    Ok(Some(Arc::new(ListingTable::try_new(config)?)))
}
