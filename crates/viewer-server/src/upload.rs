//! A file that was dropped on the page.

use std::{
    future::poll_fn,
    io::{self, Read},
    pin::Pin,
    sync::Arc,
    thread,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::Response,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use traceloom_core::{Limits, Source};
use traceloom_viewer as viewer;

use crate::{
    answer::{refused, shown},
    connections::PATIENCE,
    served::Served,
};

/// A larger file can be given on the command line, which needs no copy.
const MAX_BYTES: u64 = 4 << 30;

/// Copies an uploaded file to a temporary one, and loads it if it is complete and a trace.
pub(crate) async fn open(State(served): State<Arc<Served>>, uri: Uri, headers: HeaderMap, body: Body) -> Response {
    let router = match served.router(&headers).await {
        Ok(router) => router,
        Err(refusal) => return shown(refusal),
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BYTES) {
        return refused(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the file is larger than {} GiB; open it with `traceloom view FILE`", MAX_BYTES >> 30),
        );
    }
    let (sender, parts) = mpsc::channel(16);
    let (done, opened) = oneshot::channel();
    // On a separate thread, so that a slow client does not block those that answer queries.
    thread::spawn(move || {
        let limits = Limits::with(|limits| limits.spool_bytes = MAX_BYTES);
        let source = || Source::spool(Parts { parts, rest: Bytes::new() }, &limits);
        // This fails if the page was closed.
        let _ = done.send(router.open(uri.query().unwrap_or_default(), source));
    });
    let (_, opened) = tokio::join!(send(body, sender), opened);
    shown(opened.unwrap_or_else(|_| viewer::Response::failed()))
}

/// Sends the parts of a body; an error is sent too, so that a partial file is not mistaken for a complete one.
async fn send(mut body: Body, sender: mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let frame = timeout(PATIENCE, poll_fn(|context| Pin::new(&mut body).poll_frame(context))).await;
        let part = match frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.into_data()))) {
            Ok(Some(Ok(Ok(data)))) => Ok(data),
            // Trailers are not part of the file.
            Ok(Some(Ok(Err(_)))) => continue,
            Ok(Some(Err(error))) => Err(io::Error::other(error)),
            Ok(None) => return,
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "timed out while receiving the file")),
        };
        let is_last = part.is_err();
        if sender.send(part).await.is_err() || is_last {
            return;
        }
    }
}

/// The parts as a stream.
struct Parts {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.parts.blocking_recv() {
                Some(part) => self.rest = part?,
                None => return Ok(0),
            }
        }
        let length = self.rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.rest.split_to(length));
        Ok(length)
    }
}
