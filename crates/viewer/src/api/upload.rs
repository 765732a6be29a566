//! A file that was dropped on the page.

use std::{
    future::poll_fn,
    io::{self, Read},
    pin::Pin,
};

use axum::{
    Json,
    body::{Body, Bytes, HttpBody},
    extract::State,
    http::{HeaderMap, header},
};
use serde::Deserialize;
use tokio::sync::mpsc;
use traceloom_core::{Limits, Source};

use super::{Answer, Asked, Done, Refusal, work};
use crate::server::App;

/// A larger file can be named on the command line, which needs no copy.
const MAX_BYTES: u64 = 4 << 30;
/// Longer than any file system allows.
const MAX_NAME: usize = 255;

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OpenQuery {
    name: String,
}

/// Puts what comes into a temporary file, and loads it when all of it is there.
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
    let spooled = work::run(move || {
        let limits = Limits::with(|limits| limits.spool_bytes = MAX_BYTES);
        Ok(Source::spool(Parts { parts, rest: Bytes::new() }, &limits)?)
    });
    let (_, source) = tokio::join!(send(body, sender), spooled);
    app.loader.load_source(name, source?);
    Ok(Json(Done {}))
}

/// Sends the parts of a body; an error is sent too, so that half a file is not taken for a whole.
async fn send(mut body: Body, sender: mpsc::Sender<io::Result<Bytes>>) {
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let part = match frame.map(|frame| frame.into_data()) {
            Ok(Ok(data)) => Ok(data),
            // Trailers say nothing about the file.
            Ok(Err(_)) => continue,
            Err(error) => Err(io::Error::other(error)),
        };
        if sender.send(part).await.is_err() {
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
