//! Objects in object stores and on web servers, read in ranges.

use std::{
    collections::{HashMap, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError, mpsc},
    time::Duration,
};

use object_store::{
    ClientOptions, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig, aws::AmazonS3Builder,
    http::HttpBuilder, path::Path as Key,
};
use tokio::runtime::Runtime;
use traceloom_core::{Error, ReadAt, Result, Source};
use url::Url;

use crate::objects::explained;

/// The bytes of an object.
pub(crate) fn open(url: &Url) -> Result<Source> {
    find(url)?.ok_or_else(|| Error::from(io::Error::from(io::ErrorKind::NotFound)).in_file(url.as_str()))
}

/// The bytes of an object; `None` if it does not exist.
pub(crate) fn find(url: &Url) -> Result<Option<Source>> {
    let (store, key) = (STORES.store(url)?, key(url)?);
    let found = wait({
        let (store, key, is_signed) = (Arc::clone(&store), key.clone(), url.query().is_some());
        async move {
            // A signature in a URL is valid for one method.
            if is_signed {
                let first = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
                return store.get_opts(&key, first).await.map(|got| got.meta);
            }
            store.head(&key).await
        }
    });
    match found {
        Ok(meta) => Ok(Some(Source::custom(Object { store, meta, read: Mutex::default() }))),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(Error::from(explained(&error)).in_file(url.as_str())),
    }
}

/// The objects directly in a folder, sorted by name, without hidden ones.
pub(crate) fn list(folder: &Url) -> Result<Vec<PathBuf>> {
    let (store, prefix) = (STORES.store(folder)?, key(folder)?);
    let listed = wait(async move { store.list_with_delimiter(Some(&prefix)).await });
    let listed = listed.map_err(|error| Error::from(explained(&error)).in_file(folder.as_str()))?;
    let name = |meta: &ObjectMeta| meta.location.filename().map(str::to_owned);
    let mut names: Vec<String> = listed.objects.iter().filter_map(name).filter(|name| !name.starts_with('.')).collect();
    names.sort();
    let folder = folder.as_str().trim_end_matches('/');
    Ok(names.into_iter().map(|name| Path::new(folder).join(name)).collect())
}

fn key(url: &Url) -> Result<Key> {
    Key::from_url_path(url.path()).map_err(|_| Error::usage("invalid object name").in_file(url.as_str()))
}

/// Bytes of the first read, and of a read that does not continue the previous one.
const MIN_AHEAD: u64 = 256 << 10;
/// Max bytes of a read, after many consecutive reads.
const MAX_AHEAD: u64 = 8 << 20;
/// Number of cached ranges; a parser alternates between a few offsets.
const MAX_RANGES: usize = 4;

/// An object that is usually read forward.
struct Object {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    read: Mutex<ReadAhead>,
}

#[derive(Default)]
struct ReadAhead {
    /// Offsets and bytes, newest last.
    ranges: VecDeque<(u64, Vec<u8>)>,
    /// End of the last read.
    end: u64,
    ahead: u64,
}

impl ReadAhead {
    /// The cached bytes at an offset.
    fn at(&self, offset: u64) -> Option<&[u8]> {
        self.ranges.iter().rev().find_map(|(start, bytes)| {
            let skipped = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(skipped..).filter(|rest| !rest.is_empty())
        })
    }

    /// Bytes to read at an offset; doubles each time a read continues the previous one.
    fn next_bytes(&mut self, offset: u64) -> u64 {
        self.ahead = if offset == self.end { (self.ahead * 2).clamp(MIN_AHEAD, MAX_AHEAD) } else { MIN_AHEAD };
        self.ahead
    }

    fn keep(&mut self, offset: u64, bytes: Vec<u8>) {
        self.end = offset + bytes.len() as u64;
        self.ranges.push_back((offset, bytes));
        if self.ranges.len() > MAX_RANGES {
            self.ranges.pop_front();
        }
    }
}

impl Object {
    fn fetch(&self, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let end = self.meta.size.min(offset.saturating_add(bytes));
        let (store, key) = (Arc::clone(&self.store), self.meta.location.clone());
        // If the object was replaced, the data would be a mix of both.
        let if_match = self.meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        let options = GetOptions { range: Some(GetRange::Bounded(offset..end)), if_match, ..GetOptions::default() };
        let got = wait(async move { store.get_opts(&key, options).await?.bytes().await });
        got.map(Vec::from).map_err(|error| explained(&error))
    }
}

impl ReadAt for Object {
    fn len(&self) -> io::Result<u64> {
        Ok(self.meta.size)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if offset >= self.meta.size || buffer.is_empty() {
            return Ok(0);
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.at(offset).is_none() {
            let bytes = read.next_bytes(offset);
            let fetched = self.fetch(offset, bytes)?;
            read.keep(offset, fetched);
        }
        let known = read.at(offset).unwrap_or_default();
        let taken = known.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&known[..taken]);
        Ok(taken)
    }
}

/// Waits for work on a separate thread, because the caller may be inside another runtime.
fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("remote").enable_all().build().expect("a thread can be started")
    });
    let (done, result) = mpsc::sync_channel(1);
    RUNTIME.spawn(async move { done.send(work.await) });
    result.recv().expect("the work sends its result")
}

/// All object stores of the process; each is created for its first URL, with credentials from the environment.
static STORES: LazyLock<Stores> = LazyLock::new(Stores::default);

/// The store of a URL.
pub(crate) fn store(url: &Url) -> Result<Arc<dyn ObjectStore>> {
    STORES.store(url)
}

#[derive(Default)]
struct Stores(Mutex<HashMap<String, Arc<dyn ObjectStore>>>);

impl Stores {
    fn store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let base = url[..url::Position::BeforePath].to_owned();
        if let ("http" | "https", Some(query)) = (url.scheme(), url.query()) {
            // Each signed URL is a store, which is not used again.
            return created(url, &format!("{base}/?{query}"));
        }
        let mut stores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(&base) {
            return Ok(Arc::clone(store));
        }
        let store = created(url, &base)?;
        stores.insert(base, Arc::clone(&store));
        Ok(store)
    }
}

fn created(url: &Url, base: &str) -> Result<Arc<dyn ObjectStore>> {
    let store = create(url, base).map_err(|error| Error::from(explained(&error)).in_file(url.as_str()))?;
    store.ok_or_else(|| {
        Error::usage(format!("unsupported scheme {}; supported are file, http, https and s3", url.scheme()))
            .in_file(url.as_str())
    })
}

/// `None` for another kind of store.
fn create(url: &Url, base: &str) -> object_store::Result<Option<Arc<dyn ObjectStore>>> {
    // By default, it waits for minutes for a server that does not exist.
    let retry = RetryConfig { max_retries: 4, retry_timeout: Duration::from_secs(15), ..RetryConfig::default() };
    Ok(match url.scheme() {
        "s3" | "s3a" => {
            let builder = AmazonS3Builder::from_env().with_url(base).with_retry(retry);
            Some(Arc::new(builder.build()?))
        }
        "http" | "https" => {
            let options = ClientOptions::new().with_allow_http(true);
            let builder = HttpBuilder::new().with_url(base).with_retry(retry).with_client_options(options);
            Some(Arc::new(builder.build()?))
        }
        _ => None,
    })
}
