//! The files that the engine reads itself, with errors that are one sentence with the URL.

use std::{fmt, io, ops::Range, sync::Arc};

use async_trait::async_trait;
use datafusion::{
    common::Result,
    execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry},
    object_store::{
        CopyOptions, Error as StoreError, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload,
        ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions,
        Result as StoreResult, path::Path as Key,
    },
};
use futures::{StreamExt, stream::BoxStream};
use traceloom_core::Error;
use url::{Position, Url};

/// Finds the store of any URL for the engine.
pub fn object_stores() -> Arc<dyn ObjectStoreRegistry> {
    Arc::new(Registry(DefaultObjectStoreRegistry::new()))
}

#[derive(Debug)]
struct Registry(DefaultObjectStoreRegistry);

impl ObjectStoreRegistry for Registry {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.0.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        let found = self.0.get_store(url);
        #[cfg(feature = "remote")]
        let found = found.or_else(|_| {
            let created = crate::remote::store(url);
            created.map_err(|error| datafusion::common::DataFusionError::External(Box::new(error)))
        });
        let base = url[..Position::BeforePath].to_owned();
        found.map(|inner| Arc::new(Named { inner, base }) as Arc<dyn ObjectStore>)
    }
}

/// Prefix of a message about an input; engines pass errors of other processes as text.
pub(crate) const UNREADABLE: &str = "unreadable input: ";

/// End of the message about an object that does not exist.
pub(crate) const MISSING: &str = "the object does not exist";

/// Parts of messages about a range beyond the end of a file, which have no separate kind.
const SHORT: [&str; 3] = ["Out of range of file", "Wanted range starting at", "416 Range Not Satisfiable"];

/// Why an object cannot be read. Both texts have the prefix, because engines use one or the other.
pub(crate) struct Unreadable {
    kind: io::ErrorKind,
    sentence: String,
}

impl Unreadable {
    /// The error without the prefix.
    pub(crate) fn error(&self) -> Error {
        Error::from(io::Error::new(self.kind, self.sentence.clone()))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{UNREADABLE}{}", self.sentence)
    }
}

impl fmt::Debug for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Unreadable").field(&self.to_string()).finish()
    }
}

impl std::error::Error for Unreadable {}

/// Condenses the error of a store, which may be a page of XML, into one sentence.
pub(crate) fn explained(error: &StoreError) -> io::Error {
    // The kind of an error while listing is lost.
    let is_denied = |text: &str| ["401 Unauthorized", "403 Forbidden"].iter().any(|status| text.contains(status));
    let (kind, text) = match error {
        StoreError::NotFound { .. } => (io::ErrorKind::NotFound, MISSING.to_owned()),
        error
            if matches!(error, StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. })
                || is_denied(&root(error)) =>
        {
            (io::ErrorKind::PermissionDenied, "the object store denied access; check the credentials".to_owned())
        }
        StoreError::Precondition { .. } => {
            (io::ErrorKind::InvalidData, "the object changed while it was being read".to_owned())
        }
        other if SHORT.iter().any(|text| root(other).contains(text)) => (
            io::ErrorKind::UnexpectedEof,
            "the file is shorter than expected; it is damaged or was replaced".to_owned(),
        ),
        other => (io::ErrorKind::HostUnreachable, root(other)),
    };
    io::Error::new(kind, text)
}

/// The innermost cause, on one line.
fn root(error: &dyn std::error::Error) -> String {
    let mut reason = error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    let line = reason.to_string();
    let line = line.lines().next().unwrap_or_default();
    format!("cannot read from the object store: {line}")
}

/// A store whose errors name the URL of the object.
#[derive(Debug)]
struct Named {
    inner: Arc<dyn ObjectStore>,
    /// The URL up to the path.
    base: String,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Keeps the kinds of errors that callers distinguish.
fn named(base: &str, key: Option<&Key>, error: StoreError) -> StoreError {
    let reason = explained(&error);
    let path = format!("{base}/{}", key.map(Key::as_ref).unwrap_or_default());
    let source = Box::new(Unreadable { kind: reason.kind(), sentence: format!("{path}: {reason}") });
    match error {
        StoreError::NotFound { .. } => StoreError::NotFound { path, source },
        StoreError::PermissionDenied { .. } => StoreError::PermissionDenied { path, source },
        StoreError::Unauthenticated { .. } => StoreError::Unauthenticated { path, source },
        StoreError::Precondition { .. } => StoreError::Precondition { path, source },
        _ => StoreError::Generic { store: "object store", source },
    }
}

impl Named {
    fn failed(&self, key: &Key) -> impl Fn(StoreError) -> StoreError + Send + 'static {
        let (base, key) = (self.base.clone(), key.clone());
        move |error| named(&base, Some(&key), error)
    }
}

#[async_trait]
impl ObjectStore for Named {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> StoreResult<PutResult> {
        self.inner.put_opts(key, payload, options).await.map_err(self.failed(key))
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> StoreResult<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(key, options).await.map_err(self.failed(key))
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> StoreResult<GetResult> {
        let mut got = self.inner.get_opts(key, options).await.map_err(self.failed(key))?;
        got.payload = match got.payload {
            GetResultPayload::Stream(stream) => {
                let failed = self.failed(key);
                GetResultPayload::Stream(stream.map(move |bytes| bytes.map_err(&failed)).boxed())
            }
            file => file,
        };
        Ok(got)
    }

    async fn get_ranges(&self, key: &Key, ranges: &[Range<u64>]) -> StoreResult<Vec<bytes::Bytes>> {
        self.inner.get_ranges(key, ranges).await.map_err(self.failed(key))
    }

    fn delete_stream(&self, keys: BoxStream<'static, StoreResult<Key>>) -> BoxStream<'static, StoreResult<Key>> {
        self.inner.delete_stream(keys)
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, StoreResult<ObjectMeta>> {
        let (base, key) = (self.base.clone(), prefix.cloned());
        self.inner.list(prefix).map(move |listed| listed.map_err(|error| named(&base, key.as_ref(), error))).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> StoreResult<ListResult> {
        self.inner.list_with_delimiter(prefix).await.map_err(|error| named(&self.base, prefix, error))
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> StoreResult<()> {
        self.inner.copy_opts(from, to, options).await.map_err(self.failed(from))
    }

    async fn rename_opts(&self, from: &Key, to: &Key, options: RenameOptions) -> StoreResult<()> {
        self.inner.rename_opts(from, to, options).await.map_err(self.failed(from))
    }
}
