//! Tables of stores, whose Parquet files the engine reads itself.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use datafusion::{
    catalog::TableProvider,
    common::{Result, plan_datafusion_err},
    datasource::{
        file_format::parquet::ParquetFormat,
        listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl},
    },
};
use traceloom_core::{Error, Limits};
use traceloom_model::Table;

use crate::{
    fleet::{Fleet, FleetTable},
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

/// The damage of a store that made the engine fail, which does not name the file; `None` if there is no store.
pub(crate) fn damage(stores: &[PathBuf], reason: &str) -> Option<Error> {
    let found = stores.iter().find_map(|store| damaged_file(store).unwrap_or_else(Some));
    let unknown = || {
        let message = format!("a Parquet file of the store cannot be read: {reason}");
        stores.first().map(|store| Error::unrecognized(message).in_file(store))
    };
    found.or_else(unknown)
}

/// Looks at the lengths and at both ends of all files, which shows most damage without decoding anything.
fn damaged_file(store: &Path) -> Result<Option<Error>, Error> {
    // A store checks the lengths itself.
    let files: Vec<(PathBuf, Option<u64>)> = match (Store::open(store)?, Fleet::open(store)?) {
        (Some(store), _) => Shelf::all().flat_map(|shelf| store.files(shelf)).map(|path| (path, None)).collect(),
        (None, Some(fleet)) => {
            let files = FleetTable::all().flat_map(|table| fleet.manifest().files(table));
            files.map(|file| (store.join(&file.file), Some(file.bytes))).collect()
        }
        (None, None) => Vec::new(),
    };
    for (path, expected) in files {
        if let Some(message) = damage_of(&path, expected)? {
            return Ok(Some(Error::unrecognized(message).in_file(path)));
        }
    }
    Ok(None)
}

fn damage_of(path: &Path, expected: Option<u64>) -> Result<Option<String>, Error> {
    const MAGIC: &[u8; 4] = b"PAR1";
    let source = location::source(path, &Limits::default()).map_err(|error| error.in_file(path))?;
    let bytes = source.len()?;
    if let Some(expected) = expected.filter(|expected| *expected != bytes) {
        return Ok(Some(format!("the file has {bytes} bytes, but the manifest of the store says {expected}")));
    }
    let mut ends = [[0; 4]; 2];
    source.read_full(0, &mut ends[0])?;
    source.read_full(bytes.saturating_sub(4), &mut ends[1])?;
    Ok(ends.iter().any(|end| end != MAGIC).then(|| "not a Parquet file, or damaged".to_owned()))
}
