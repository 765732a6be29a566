//! Tables of stores, as the engine reads Parquet itself.

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

use crate::store::{Shelf, Store};

/// All traces of the stores; one that is in two of them would be counted twice.
pub(crate) fn trace_ids(stores: &[Store]) -> Result<HashSet<u64>, Error> {
    let mut seen = HashSet::new();
    for store in stores {
        for trace in store.traces() {
            if !seen.insert(trace.trace_id) {
                return Err(Error::unsupported(format!("{} is in another of the stores as well", trace.path))
                    .in_file(store.path()));
            }
        }
    }
    Ok(seen)
}

/// What all stores have of a table; none where they have nothing.
pub(crate) fn table(stores: &[Store], shelf: Shelf) -> Result<Option<Arc<dyn TableProvider>>> {
    let mut urls = Vec::new();
    for path in stores.iter().flat_map(|store| store.files(shelf)) {
        let path = std::path::absolute(&path)?;
        let text = path
            .to_str()
            .ok_or_else(|| plan_datafusion_err!("{} is not a name that the engine takes", path.display()))?;
        urls.push(ListingTableUrl::parse(url(text))?);
    }
    if urls.is_empty() {
        return Ok(None);
    }
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new_with_multi_paths(urls)
        .with_listing_options(options)
        .with_schema(shelf.table().schema());
    Ok(Some(Arc::new(ListingTable::try_new(config)?)))
}

/// A bare path would be taken for a pattern where it has a star in it.
fn url(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().fold("file://".to_owned(), |url, byte| match is_plain(byte) {
        true => url + char::from(byte).encode_utf8(&mut [0; 4]),
        false => url + &format!("%{byte:02X}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_pattern() {
        assert_eq!(url("/a b/*.x"), "file:///a%20b/%2A.x");
    }
}
