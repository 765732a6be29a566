//! Answers requests of the page without a socket, for the local server and for a worker in the browser.

#[cfg(feature = "sql")]
use std::path::Path;
use std::{
    path::PathBuf,
    sync::{Arc, RwLock},
};

use serde::{Serialize, de::DeserializeOwned};
use traceloom_core::{Result, Source};
use traceloom_mapping::Options;

#[cfg(feature = "sql")]
use crate::api::store::{self, Stored};
use crate::{
    api::{self, Answer, Refusal, open},
    app::App,
    live::{Keep, Watching},
    load::{Loader, Spawn},
    scene::Scene,
    work::{Over, Reply},
};

/// A request of the page.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// `GET` or `POST`.
    pub method: &'r str,
    /// Such as `source/file`.
    pub path: &'r str,
    /// The query of the URL, without the question mark.
    pub query: &'r str,
    /// JSON, for queries that are too long for a URL.
    pub body: &'r [u8],
}

impl Request<'_> {
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Answer<T> {
        serde_urlencoded::from_str(self.query).map_err(|error| Refusal::bad(format!("invalid query: {error}")))
    }

    pub(crate) fn body<T: DeserializeOwned>(&self) -> Answer<T> {
        serde_json::from_slice(self.body).map_err(|error| Refusal::bad(format!("invalid query: {error}")))
    }
}

/// An answer to the page.
#[derive(Clone, Debug)]
pub struct Response {
    /// An HTTP status.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// JSON, or the bytes of a picture.
    pub body: Vec<u8>,
}

impl Response {
    /// Refuses a request with an HTTP status and a sentence.
    pub fn refused(status: u16, reason: impl Into<String>) -> Self {
        let refused = api::Refused { error: reason.into() };
        Self { status, ..Self::json(&refused) }
    }

    /// The work on a request panicked; others continue.
    pub fn failed() -> Self {
        Self::refused(500, "this query failed because of a bug in Traceloom; please report it")
    }

    /// Reports that a command is done.
    pub fn done() -> Self {
        Self::json(&api::Done {})
    }

    fn json<T: Serialize>(answer: &T) -> Self {
        let content_type = "application/json";
        match serde_json::to_vec(answer) {
            Ok(body) => Self { status: 200, content_type, body },
            Err(_) => Self::failed(),
        }
    }
}

impl From<Refusal> for Response {
    fn from(Refusal(status, reason): Refusal) -> Self {
        Self::refused(status, reason)
    }
}

/// An answer, or the work that leads to it.
pub enum Started {
    /// The answer.
    Done(Response),
    /// Long work, for a separate thread.
    Work(Box<dyn FnOnce(&Over) -> Response + Send>),
}

impl std::fmt::Debug for Started {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done(response) => response.fmt(formatter),
            Self::Work(_) => formatter.write_str("Work"),
        }
    }
}

/// Answers the page: the traces that it shows, and every endpoint.
#[derive(Debug)]
pub struct Router {
    app: App,
    routes: Routes,
    #[cfg(feature = "sql")]
    stored: Option<Arc<Stored>>,
}

impl Router {
    /// A router without traces; `spawn` runs the loading of traces.
    pub fn new(options: Options, spawn: Spawn) -> Self {
        let scene: Arc<RwLock<Scene>> = Arc::default();
        let loader = Arc::new(Loader::new(Arc::clone(&scene), options, spawn));
        let mut routes = Routes::default();
        api::routes(&mut routes);
        Self {
            app: App { scene, loader },
            routes,
            #[cfg(feature = "sql")]
            stored: None,
        }
    }

    /// Also answers queries about a store, whose traces are opened only from files below `sources`.
    #[cfg(feature = "sql")]
    pub fn with_store(mut self, folder: &Path, sources: &[PathBuf]) -> Result<Self> {
        let stored = Arc::new(Stored::open(folder, sources)?);
        store::routes(&mut self.routes, Arc::clone(&stored));
        Ok(Self { stored: Some(stored), ..self })
    }

    /// A router that shows only one trace of the store, or the reason why it cannot be shown.
    #[cfg(feature = "sql")]
    pub fn of_stored(&self, trace: &str) -> Result<Self, Response> {
        let stored = self.stored.as_ref().ok_or_else(|| Response::refused(404, "no store is shown"))?;
        let Loader { options, spawn, .. } = self.app.loader.as_ref();
        let opened = stored.trace(trace, options)?;
        let router = Self::new(options.clone(), *spawn);
        router.app.loader.load_trace(opened);
        Ok(router)
    }

    /// Loads a local file.
    pub fn load(&self, path: PathBuf, from: Option<String>) {
        self.app.loader.load(path, from);
    }

    /// Shows a growing local file.
    pub fn watch(&self, path: PathBuf, from: Option<String>, keep: Keep) -> Watching {
        self.app.loader.watch(path, from, keep)
    }

    /// Answers `open`: loads a file that the page sent, if it is a trace.
    pub fn open(&self, query: &str, source: impl FnOnce() -> Result<Source>) -> Response {
        let request = Request { method: "POST", path: "open", query, body: &[] };
        let opened = request.query().and_then(|query| open::open(&self.app, &query, source));
        opened.map_or_else(Response::from, |done| Response::json(&done))
    }

    /// Answers at once if possible; otherwise returns the work.
    pub fn start(&self, request: &Request<'_>) -> Started {
        let mut of_path = self.routes.0.iter().filter(|route| route.path == request.path).peekable();
        let Some(first) = of_path.peek() else {
            return Started::Done(Response::refused(404, "unknown query"));
        };
        let allowed = first.method;
        match of_path.find(|route| route.method == request.method) {
            Some(route) => (route.handler)(self.app.clone(), request),
            None => Started::Done(Response::refused(405, format!("this query needs the method {allowed}"))),
        }
    }

    /// The answer, even if it takes long.
    pub fn answer(&self, request: &Request<'_>) -> Response {
        match self.start(request) {
            Started::Done(response) => response,
            Started::Work(work) => work(&Over::default()),
        }
    }
}

type Handler = Box<dyn Fn(App, &Request<'_>) -> Started + Send + Sync>;

struct Route {
    method: &'static str,
    path: &'static str,
    handler: Handler,
}

/// Every endpoint.
#[derive(Default)]
pub(crate) struct Routes(Vec<Route>);

impl std::fmt::Debug for Routes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.0.iter().map(|route| route.path)).finish()
    }
}

impl Routes {
    pub(crate) fn get<A: Answered>(
        &mut self,
        path: &'static str,
        handler: impl Fn(App, &Request<'_>) -> Answer<A> + Send + Sync + 'static,
    ) {
        self.add("GET", path, handler);
    }

    pub(crate) fn post<A: Answered>(
        &mut self,
        path: &'static str,
        handler: impl Fn(App, &Request<'_>) -> Answer<A> + Send + Sync + 'static,
    ) {
        self.add("POST", path, handler);
    }

    /// Adds routes whose handlers share a state.
    pub(crate) fn sharing<K>(&mut self, kept: Arc<K>) -> Sharing<'_, K> {
        Sharing { routes: self, kept }
    }

    fn add<A: Answered>(
        &mut self,
        method: &'static str,
        path: &'static str,
        handler: impl Fn(App, &Request<'_>) -> Answer<A> + Send + Sync + 'static,
    ) {
        let handler: Handler = Box::new(move |app, request| match handler(app, request) {
            Ok(answer) => answer.started(),
            Err(refusal) => Started::Done(refusal.into()),
        });
        self.0.push(Route { method, path, handler });
    }
}

/// Adds routes that share a state.
pub(crate) struct Sharing<'r, K> {
    routes: &'r mut Routes,
    kept: Arc<K>,
}

impl<K: Send + Sync + 'static> Sharing<'_, K> {
    pub(crate) fn get<A: Answered>(
        &mut self,
        path: &'static str,
        handler: impl Fn(App, Arc<K>, &Request<'_>) -> Answer<A> + Send + Sync + 'static,
    ) {
        let kept = Arc::clone(&self.kept);
        self.routes.get(path, move |app, request| handler(app, Arc::clone(&kept), request));
    }

    pub(crate) fn post<A: Answered>(
        &mut self,
        path: &'static str,
        handler: impl Fn(App, Arc<K>, &Request<'_>) -> Answer<A> + Send + Sync + 'static,
    ) {
        let kept = Arc::clone(&self.kept);
        self.routes.post(path, move |app, request| handler(app, Arc::clone(&kept), request));
    }
}

/// The result of a handler: JSON, bytes, or work that leads to JSON.
pub(crate) trait Answered {
    fn started(self) -> Started;
}

impl<T: Serialize> Answered for T {
    fn started(self) -> Started {
        Started::Done(Response::json(&self))
    }
}

/// An answer that is not JSON.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Answered for Bytes {
    fn started(self) -> Started {
        Started::Done(Response { status: 200, content_type: "application/octet-stream", body: self.0 })
    }
}

impl<T: Serialize + 'static> Answered for Reply<T> {
    fn started(self) -> Started {
        match self {
            Self::Now(answer) => answer.started(),
            Self::Later(work) => Started::Work(Box::new(move |over| match work(over) {
                Ok(answer) => Response::json(&answer),
                Err(refusal) => refusal.into(),
            })),
        }
    }
}
