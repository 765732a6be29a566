//! Starts, runs and stops the server.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    thread,
};

use axum::{
    Router, middleware,
    routing::{any, get, post},
};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot};
use traceloom_core::Result;
use traceloom_viewer::{Keep, Watching};

use crate::{
    answer, assets,
    connections::{Activity, Connections, note_work},
    guard::Guard,
    live::{self, Live},
    served::{self, Served},
    upload,
};

/// Options of the server.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The traces.
    pub paths: Vec<PathBuf>,
    /// A live trace.
    pub live: Option<Live>,
    /// A store, whose list is shown.
    pub store: Option<StoreOptions>,
    /// The input format (default: detect).
    pub from: Option<String>,
    /// The port; 0 means any free port.
    pub port: u16,
    /// How to read the traces.
    pub ingest: traceloom_mapping::Options,
}

/// A store to show.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// Path of the store.
    pub path: PathBuf,
    /// Folders of traces: a trace of the store is opened if its file is below one of them, with the same content.
    pub sources: Vec<PathBuf>,
}

/// A running server; dropping it ends it.
#[derive(Debug)]
pub struct Viewer {
    address: String,
    url: String,
    guard: Arc<Guard>,
    runtime: Option<Runtime>,
    stop: Option<oneshot::Sender<()>>,
    viewer: Arc<traceloom_viewer::Router>,
}

/// Threads that serve requests.
const ANSWERING: usize = 2;
/// Threads for long queries; few, because each may keep the memory of its largest query.
const WORKING: usize = 3;

/// Starts serving and loading; returns at once.
pub fn start(options: Options) -> Result<Viewer> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(ANSWERING).max_blocking_threads(WORKING).enable_all().build()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let listener = runtime.block_on(TcpListener::bind(address))?;
    let port = listener.local_addr()?.port();
    let guard = Guard::new(port)?;
    let guard = Arc::new(if options.store.is_some() { guard.of_store() } else { guard });
    let address = format!("http://127.0.0.1:{port}");
    let url = format!("{address}{}", guard.page());
    let viewer = traceloom_viewer::Router::new(options.ingest, |work| drop(thread::spawn(work)));
    let viewer = Arc::new(match &options.store {
        Some(store) => served::with_store(viewer, store)?,
        None => viewer,
    });
    for path in options.paths {
        viewer.load(path, options.from.clone());
    }
    if let Some(live) = options.live {
        live::watch(live, &viewer)?;
    }
    let app = router(Arc::clone(&viewer), Arc::clone(&guard)).into_make_service_with_connect_info::<Activity>();
    let (stop, stopped) = oneshot::channel::<()>();
    runtime.spawn(async move {
        let ended = async { stopped.await.unwrap_or_default() };
        // An error here means that the listener has ended, and nobody is left to receive it.
        let _ = axum::serve(Connections::new(listener), app).with_graceful_shutdown(ended).await;
    });
    Ok(Viewer { address, url, guard, runtime: Some(runtime), stop: Some(stop), viewer })
}

fn router(viewer: Arc<traceloom_viewer::Router>, guard: Arc<Guard>) -> Router {
    let api = Router::new()
        .route("/open", post(upload::open))
        .route("/store/open", post(served::open_stored))
        .route("/{*path}", any(answer::answer))
        .with_state(Arc::new(Served::new(viewer)))
        .layer(middleware::from_fn_with_state(Arc::clone(&guard), Guard::check_token));
    Router::new()
        .nest("/api", api)
        .route("/start/{ticket}", get(Guard::redeem).with_state(Arc::clone(&guard)))
        .fallback(assets::serve)
        .layer(middleware::from_fn_with_state(guard, Guard::check_host))
        .layer(middleware::from_fn(note_work))
}

impl Viewer {
    /// The URL of the page, with its token.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A URL that works once, for the command line of a browser, which others on this machine can read.
    pub fn one_time_url(&self) -> Result<String> {
        Ok(format!("{}/start/{}", self.address, self.guard.ticket()?))
    }

    /// Shows a growing file.
    pub fn watch(&self, path: PathBuf, keep: Keep) -> Watching {
        self.viewer.watch(path, None, keep)
    }

    /// Serves until the process ends.
    pub fn wait(&self) {
        if let Some(runtime) = &self.runtime {
            runtime.block_on(std::future::pending::<()>());
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        // Running requests must not delay the end of the program.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
