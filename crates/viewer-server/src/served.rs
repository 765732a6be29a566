//! The contents of the pages: the given traces, or a store and its traces that are open in a page.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::State,
    http::{HeaderMap, Uri},
    response::Response,
};
use tokio::task::spawn_blocking;
#[cfg(not(feature = "sql"))]
use traceloom_core::Error;
use traceloom_core::Result;
use traceloom_viewer::{self as viewer, Request, Router};

use crate::{answer::shown, server::StoreOptions};

/// The header with the trace of the store that a page shows.
const TRACE_HEADER: &str = "x-traceloom-trace";
/// Max number of traces of a store in memory.
const MAX_OPENED: usize = 4;
/// A visible page sends requests more often than this.
const IN_USE: Duration = Duration::from_secs(5);

/// The routers that answer pages.
#[derive(Debug)]
pub(crate) struct Served {
    main: Arc<Router>,
    opened: Mutex<Vec<Opened>>,
    /// Held while a trace is opened, so that it is opened only once.
    opening: tokio::sync::Mutex<()>,
}

/// A trace of the store.
#[derive(Debug)]
struct Opened {
    trace: String,
    router: Arc<Router>,
    asked: Instant,
}

impl Served {
    pub(crate) fn new(main: Arc<Router>) -> Self {
        Self { main, opened: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    /// The router for a request: a page of one trace names it, and it is opened if needed.
    pub(crate) async fn router(&self, headers: &HeaderMap) -> Result<Arc<Router>, viewer::Response> {
        match headers.get(TRACE_HEADER) {
            Some(trace) => self.trace(trace.to_str().unwrap_or_default()).await,
            None => Ok(Arc::clone(&self.main)),
        }
    }

    async fn trace(&self, trace: &str) -> Result<Arc<Router>, viewer::Response> {
        if let Some(router) = self.known(trace) {
            return Ok(router);
        }
        let _turn = self.opening.lock().await;
        if let Some(router) = self.known(trace) {
            return Ok(router);
        }
        let (main, id) = (Arc::clone(&self.main), trace.to_owned());
        // Reads the whole file to check that it is unchanged.
        let opened = spawn_blocking(move || open(&main, &id)).await;
        let router = Arc::new(opened.unwrap_or_else(|_| Err(viewer::Response::failed()))?);
        self.keep(Opened { trace: trace.to_owned(), router: Arc::clone(&router), asked: Instant::now() })?;
        Ok(router)
    }

    fn known(&self, trace: &str) -> Option<Arc<Router>> {
        let mut opened = self.opened();
        let known = opened.iter_mut().find(|known| known.trace == trace)?;
        known.asked = Instant::now();
        Some(Arc::clone(&known.router))
    }

    /// Keeps a trace; the least recently used one is closed.
    fn keep(&self, new: Opened) -> Result<(), viewer::Response> {
        let mut opened = self.opened();
        if opened.len() >= MAX_OPENED {
            let idle = opened.iter().enumerate().filter(|(_, known)| known.asked.elapsed() > IN_USE);
            let oldest = idle.min_by_key(|(_, known)| known.asked).map(|(number, _)| number);
            let Some(oldest) = oldest else {
                close(&new.router);
                return Err(viewer::Response::refused(
                    503,
                    "four traces of the store are already open; close one of their tabs",
                ));
            };
            close(&opened.swap_remove(oldest).router);
        }
        opened.push(new);
        Ok(())
    }

    fn opened(&self) -> MutexGuard<'_, Vec<Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a trace of the store before a page navigates to it; refuses if it cannot be opened.
pub(crate) async fn open_stored(State(served): State<Arc<Served>>, uri: Uri) -> Response {
    let trace = uri.query().and_then(|query| query.strip_prefix("trace=")).unwrap_or_default();
    match served.trace(trace).await {
        Ok(_) => shown(viewer::Response::done()),
        Err(refusal) => shown(refusal),
    }
}

/// Stops reading a trace that no page shows.
fn close(router: &Router) {
    let _done = router.answer(&Request { method: "POST", path: "close", query: "trace=0", body: &[] });
}

/// A router that also answers queries about a store.
#[cfg(feature = "sql")]
pub(crate) fn with_store(router: Router, store: &StoreOptions) -> Result<Router> {
    router.with_store(&store.path, &store.sources)
}

#[cfg(not(feature = "sql"))]
pub(crate) fn with_store(_: Router, store: &StoreOptions) -> Result<Router> {
    Err(Error::unsupported("this build cannot open stores").in_file(&store.path))
}

#[cfg(feature = "sql")]
fn open(main: &Router, trace: &str) -> Result<Router, viewer::Response> {
    main.of_stored(trace)
}

#[cfg(not(feature = "sql"))]
fn open(_: &Router, _: &str) -> Result<Router, viewer::Response> {
    Err(viewer::Response::refused(404, "this build cannot open stores"))
}
