//! Limits the number of connections, and how long each waits for its client.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    extract::{ConnectInfo, Request, connect_info::Connected},
    middleware::Next,
    response::Response,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, Sleep, sleep},
};

/// Max number of connections; far more than a browser opens.
const MAX_CONNECTIONS: usize = 128;
/// How long a client may take to send a whole request, the next part of a file, or to read more of an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Accepts connections up to a limit; others wait until one ends.
pub(crate) struct Connections {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Connections {
    pub(crate) fn new(listener: TcpListener) -> Self {
        Self { listener, free: Arc::new(Semaphore::new(MAX_CONNECTIONS)) }
    }
}

impl Listener for Connections {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let deadline = Box::pin(sleep(PATIENCE));
        (Connection { stream, deadline, activity: Activity::default(), _permit: permit }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends if its client is too slow.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Restarts at the end of a request, and whenever bytes are sent.
    deadline: Pin<Box<Sleep>>,
    activity: Activity,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    fn restart(&mut self) {
        self.deadline.as_mut().reset(Instant::now() + PATIENCE);
    }

    /// Ready when the client is too slow; the time to answer a request does not count.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        if self.activity.is_working.load(SeqCst) {
            return Poll::Pending;
        }
        if self.activity.has_ended.swap(false, SeqCst) {
            self.restart();
        }
        ready!(self.deadline.as_mut().poll(context));
        Poll::Ready(io::ErrorKind::TimedOut.into())
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending => self.poll_late(context).map(Err),
            done => done,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(context, bytes) {
            Poll::Pending => self.poll_late(context).map(Err),
            done => {
                self.restart();
                done
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Whether a request of a connection is being worked on.
#[derive(Clone, Default)]
pub(crate) struct Activity(Arc<Flags>);

#[derive(Default)]
pub(crate) struct Flags {
    is_working: AtomicBool,
    has_ended: AtomicBool,
}

impl std::ops::Deref for Activity {
    type Target = Flags;

    fn deref(&self) -> &Flags {
        &self.0
    }
}

impl Connected<IncomingStream<'_, Connections>> for Activity {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        stream.io().activity.clone()
    }
}

/// Held while a request is worked on.
struct Working(Activity);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.has_ended.store(true, SeqCst);
        self.0.is_working.store(false, SeqCst);
    }
}

/// Marks a connection as waiting for the server, not for the client.
pub(crate) async fn note_work(ConnectInfo(activity): ConnectInfo<Activity>, request: Request, next: Next) -> Response {
    activity.is_working.store(true, SeqCst);
    let _working = Working(activity);
    next.run(request).await
}
