//! A web server on loopback that supports ranges and counts the bytes that it sends.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

/// One file under any path, for requests with this query only. The threads end with the process.
pub struct WebServer {
    port: u16,
    sent: Arc<AtomicU64>,
    whole: Arc<AtomicU64>,
}

impl WebServer {
    /// Like a signature of an object store, the query allows no other method than GET.
    pub fn start(bytes: Vec<u8>, query: Option<&'static str>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let server = Self {
            port: listener.local_addr().expect("an address").port(),
            sent: Arc::default(),
            whole: Arc::default(),
        };
        let (bytes, counts) = (Arc::new(bytes), [&server.sent, &server.whole].map(Arc::clone));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (bytes, counts) = (Arc::clone(&bytes), counts.clone());
                // A client may disconnect at any time.
                thread::spawn(move || while serve(&stream, &bytes, query, &counts).is_ok_and(|goes_on| goes_on) {});
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// How often the file was sent without a range.
    pub fn whole(&self) -> u64 {
        self.whole.load(Ordering::Relaxed)
    }

    /// Bytes of the file that were sent so far.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

/// Answers one request; false at the end of the connection.
fn serve(
    stream: &TcpStream,
    bytes: &[u8],
    query: Option<&str>,
    [sent, whole]: &[Arc<AtomicU64>; 2],
) -> std::io::Result<bool> {
    let mut lines = BufReader::new(stream).lines();
    let Some(request) = lines.next().transpose()? else { return Ok(false) };
    let mut range = None;
    for line in lines {
        let line = line?.to_lowercase();
        if line.is_empty() {
            break;
        }
        range = line.strip_prefix("range: bytes=").and_then(parsed).or(range);
    }
    let words: Vec<&str> = request.split(' ').collect();
    let (method, target) = (words[0], words.get(1).copied().unwrap_or_default());
    let is_allowed = target.split_once('?').map(|(_, query)| query) == query && (query.is_none() || method == "GET");
    let mut out = stream;
    if !is_allowed {
        write!(out, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")?;
        return Ok(true);
    }
    let length = bytes.len();
    let (first, end) = range.map_or((0, length), |(first, last): (usize, usize)| (first, length.min(last + 1)));
    let part = bytes.get(first..end).unwrap_or_default();
    match range {
        Some(_) => {
            write!(out, "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{}/{length}\r\n", end - 1)?;
        }
        None => write!(out, "HTTP/1.1 200 OK\r\n")?,
    }
    write!(out, "Accept-Ranges: bytes\r\nContent-Length: {}\r\n\r\n", part.len())?;
    if method == "GET" {
        sent.fetch_add(part.len() as u64, Ordering::Relaxed);
        whole.fetch_add(u64::from(range.is_none()), Ordering::Relaxed);
        out.write_all(part)?;
    }
    Ok(true)
}

fn parsed(range: &str) -> Option<(usize, usize)> {
    let (first, last) = range.split_once('-')?;
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}
