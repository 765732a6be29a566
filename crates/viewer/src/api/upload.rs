//! A file that was dropped on the page.

use std::{
    future::poll_fn,
    io::{self, Read},
    pin::Pin,
    thread,
};

use axum::{
    Json,
    body::{Body, Bytes, HttpBody},
    extract::State,
    http::{HeaderMap, header},
};
use serde::Deserialize;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use traceloom_core::{Limits, Source};

use super::{Answer, Asked, Done, Refusal};
use crate::{connections::PATIENCE, server::App};

/// A larger file can be named on the command line, which needs no copy.
const MAX_BYTES: u64 = 4 << 30;
/// Longer than any file system allows.
const MAX_NAME: usize = 255;

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OpenQuery {
    name: String,
}

/// Puts a file that comes into a temporary one, and loads it when all of it is there and it is a trace.
pub(crate) async fn open(
    State(app): State<App>,
    Asked(query): Asked<OpenQuery>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Json<Done>> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BYTES) {
        return Err(Refusal::too_large(format!("files of up to {MAX_BYTES} bytes can be dropped")));
    }
    let name: String = query.name.chars().filter(|letter| !letter.is_control()).take(MAX_NAME).collect();
    let (sender, parts) = mpsc::channel(16);
    let (done, recognized) = oneshot::channel();
    let loader = app.loader.clone();
    // A thread of its own: a client that sends slowly keeps none of those that answer queries.
    thread::spawn(move || {
        let limits = Limits::with(|limits| limits.spool_bytes = MAX_BYTES);
        let source = Source::spool(Parts { parts, rest: Bytes::new() }, &limits);
        // Nobody waits if the page is gone.
        let _ = done.send(source.and_then(|source| loader.recognize(&name, source)));
    });
    let (_, trace) = tokio::join!(send(body, sender), recognized);
    app.loader.load_trace(trace.map_err(|_| Refusal::broken())??);
    Ok(Json(Done {}))
}

/// Sends the parts of a body; an error is sent too, so that half a file is not taken for a whole.
async fn send(mut body: Body, sender: mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let frame = timeout(PATIENCE, poll_fn(|context| Pin::new(&mut body).poll_frame(context))).await;
        let part = match frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.into_data()))) {
            Ok(Some(Ok(Ok(data)))) => Ok(data),
            // Trailers say nothing about the file.
            Ok(Some(Ok(Err(_)))) => continue,
            Ok(Some(Err(error))) => Err(io::Error::other(error)),
            Ok(None) => return,
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the rest of the file did not come")),
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
