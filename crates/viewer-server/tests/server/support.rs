//! A server with traces, and a client that sends whatever a test wants.

use std::{
    fs,
    io::{self, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use traceloom_open::FORMATS;
use traceloom_testkit::client::host_and_token;
use traceloom_viewer_server::{Options, Viewer, start};

/// More than any answer needs.
const MAX_BYTES: u64 = 256 << 20;

/// A running server.
pub(crate) struct Server {
    viewer: Viewer,
    address: String,
    token: String,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The sentence of a refusal.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// Asserts that the question was refused with a sentence.
    pub(crate) fn assert_refused(&self, question: &str) {
        let is_refused = (400..500).contains(&self.status) && self.error().len() > 10;
        assert!(is_refused, "{question}: {} {:?}", self.status, self.error());
    }
}

impl Server {
    /// Serves traces, and waits until all are read.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        Self::with(Options { paths: paths.to_vec(), ..Options::default() })
    }

    pub(crate) fn of_one(path: &Path) -> Self {
        Self::of(&[path.to_owned()])
    }

    /// Serves the sample of a format.
    pub(crate) fn of_sample(format: &str) -> (Sample, Self) {
        let sample = sample(format);
        let server = Self::of_one(&sample.path);
        (sample, server)
    }

    pub(crate) fn with(options: Options) -> Self {
        let viewer = start(options).expect("a port is free");
        let (address, token) = host_and_token(viewer.url());
        let token = token.split('&').next().expect("a token");
        let (address, token) = (address.to_owned(), token.to_owned());
        let server = Self { viewer, address, token };
        server.wait();
        server
    }

    /// The path of an address that leads to the page once.
    pub(crate) fn one_time_path(&self) -> String {
        let url = self.viewer.one_time_url().expect("the system has random bytes");
        url.strip_prefix("http://")
            .and_then(|rest| rest.strip_prefix(&self.address))
            .expect("its own address")
            .to_owned()
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Waits until all traces are loaded.
    pub(crate) fn wait(&self) -> Value {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let state = self.get("state").json();
            let traces = state["traces"].as_array().expect("a list");
            if traces.iter().all(|trace| trace["state"] != "loading") {
                return state;
            }
            assert!(Instant::now() < end, "still loading");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Asks the API, as the page does.
    pub(crate) fn get(&self, question: &str) -> Response {
        self.send(&format!("GET /api/{question} HTTP/1.1"), &[("x-traceloom-token", &self.token)], &[])
    }

    /// Asserts that these questions are refused.
    pub(crate) fn refuses(&self, questions: &[&str]) {
        questions.iter().for_each(|question| self.get(question).assert_refused(question));
    }

    pub(crate) fn post(&self, question: &str, body: &[u8]) -> Response {
        let length = body.len().to_string();
        let headers = [("x-traceloom-token", self.token.as_str()), ("content-length", &length)];
        self.send(&format!("POST /api/{question} HTTP/1.1"), &headers, body)
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Sends a request with its own `Host`, unless another one is given.
    pub(crate) fn send(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let mut request = format!("{line}\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request += &format!("host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.write_all(request.as_bytes()).and_then(|()| stream.write_all(b"\r\n")).expect("it reads");
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = io::copy(&mut stream.take(MAX_BYTES), &mut answer);
        parse(&answer)
    }
}

fn parse(answer: &[u8]) -> Response {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = answer[end + 4..].to_vec();
    let body = if head.contains("transfer-encoding: chunked") { unchunked(&body) } else { body };
    Response { status, head, body }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|bytes| bytes == b"\r\n") {
        let size = usize::from_str_radix(&String::from_utf8_lossy(&body[..end]), 16).expect("a size");
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    whole
}

/// A fixture by format and name.
pub(crate) fn fixture(format: &str, name: &str) -> PathBuf {
    traceloom_testkit::fixture(Path::new(format).join(name))
}

/// The sample of a format, in a folder that is removed at the end of the test.
pub(crate) struct Sample {
    pub(crate) path: PathBuf,
    _folder: tempfile::TempDir,
}

pub(crate) fn sample(format: &str) -> Sample {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let format = FORMATS.iter().find(|known| known.descriptor().id == format).expect("the format is known");
    let sample = format.sample().expect("a sample");
    let path = folder.path().join(sample.file_name);
    fs::write(&path, &sample.bytes).expect("the sample can be written");
    Sample { path, _folder: folder }
}
