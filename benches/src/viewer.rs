//! The viewer: time to the first picture, cost of a window, smoothness of the page, and memory.

use std::{
    env, fs,
    io::{self, Read, Write},
    net::TcpStream,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use traceloom_core::{Error, Result};
use traceloom_testkit::Browser;
use traceloom_viewer_server::{Options, Viewer, start};

use crate::{
    easyprofiler,
    measure::{forget_peak, peak_bytes, process_time, row},
};

/// Number of records, of which about five in six are spans.
const RECORDS: u64 = 5_760_000;
const WINDOWS: u32 = 1_000;
/// Wider than the visible part, because the page requests a margin on both sides.
const PIXELS: u32 = 2 * 1_280;

/// Max size of an answer.
const MAX_BYTES: u64 = 256 << 20;

pub(crate) fn run() -> Result<bool> {
    let (file, source) = easyprofiler::generated(RECORDS)?;
    let bytes = source.len()?;
    let mut met = server(file.path(), bytes, WINDOWS)?;
    met &= browser(file.path(), bytes)?;
    drop(file);
    // Ten times as much data must still be usable, and the cost of a window must not grow with it.
    let (huge, source) = easyprofiler::generated(10 * RECORDS)?;
    met &= server(huge.path(), source.len()?, WINDOWS / 10)?;
    Ok(met)
}

/// Serves a file until the process is killed; used to measure the time to the first picture.
pub(crate) fn serve(file: &str) -> Result<bool> {
    let viewer = start(Options { paths: vec![file.into()], ..Options::default() })?;
    println!("{}", viewer.url());
    viewer.wait();
    Ok(true)
}

/// The cost of loading and of windows, without a browser.
fn server(file: &Path, bytes: u64, windows: u32) -> Result<bool> {
    forget_peak();
    let resting = peak_bytes();
    let before = process_time();
    let viewer = start(Options { paths: vec![file.to_owned()], ..Options::default() })?;
    let client = Client::of(&viewer)?;
    let state = client.wait()?;
    let spans: u64 = state["tracks"].as_array().into_iter().flatten().filter_map(|track| track["spans"].as_u64()).sum();
    println!("viewer: easyprofiler, {spans} spans, {} MB", bytes / 1_000_000);
    println!("  loading: {:.2} s of processor time", (process_time() - before).as_secs_f64());
    let mut times = client.windows(&state, windows)?;
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 1_000).min(times.len() - 1)].as_secs_f64() * 1e3;
    println!("  a window: {:.2} ms in the middle", at(500));
    let held = peak_bytes().saturating_sub(resting) as f64 / bytes as f64;
    let mut met = row("a window, 99th percentile, CPU time", at(990), "ms", 50.0);
    met &= row("server, memory", held, "x the file", 3.0);
    Ok(met)
}

/// The times that a user sees, in a browser that is already running.
fn browser(file: &Path, bytes: u64) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let Some(browser) = Browser::or_skip(folder.path()) else { return Ok(true) };
    let told = folder.path().join("told.json");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("viewer.mjs");
    browser.run(&script, &json!({ "program": env::current_exe()?, "file": file, "told": told }));
    let told: Value = serde_json::from_slice(&fs::read(&told)?).map_err(|error| Error::usage(error.to_string()))?;
    let number = |key: &str| told[key].as_f64().unwrap_or(f64::INFINITY);
    println!("  everything read after {:.2} s; {} frames", number("loaded_ms") / 1e3, number("frames"));
    let mut met = row("first picture after the command", number("picture_ms") / 1e3, "s", 2.5);
    met &= row("between frames, 95th percentile", number("frame_ms"), "ms", 33.0);
    met &= row("page, heap and buffers", number("page_bytes") / 1e6, "MB", 100.0);
    met &= row("server with a page, memory", number("server_bytes") / bytes as f64, "x the file", 3.0);
    Ok(met)
}

/// Sends a request to the server, as the page does.
struct Client {
    address: String,
    token: String,
}

impl Client {
    fn of(viewer: &Viewer) -> Result<Self> {
        let rest = viewer.url().trim_start_matches("http://");
        let (address, token) = rest.split_once("/?token=").ok_or_else(|| Error::usage("the address has no token"))?;
        Ok(Self { address: address.to_owned(), token: token.to_owned() })
    }

    fn get(&self, question: &str) -> Result<Vec<u8>> {
        let mut stream = TcpStream::connect(&self.address)?;
        let (address, token) = (&self.address, &self.token);
        let head = format!("GET /api/{question} HTTP/1.0\r\nhost: {address}\r\nx-traceloom-token: {token}\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        let mut answer = Vec::new();
        io::copy(&mut stream.take(MAX_BYTES), &mut answer)?;
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(0, |end| end + 4);
        if answer.starts_with(b"HTTP/1.0 200") || answer.starts_with(b"HTTP/1.1 200") {
            Ok(answer.split_off(end))
        } else {
            Err(Error::usage(String::from_utf8_lossy(&answer).into_owned()))
        }
    }

    fn state(&self) -> Result<Value> {
        serde_json::from_slice(&self.get("state")?).map_err(|error| Error::usage(error.to_string()))
    }

    fn wait(&self) -> Result<Value> {
        let end = Instant::now() + Duration::from_secs(600);
        while Instant::now() < end {
            let state = self.state()?;
            let traces = state["traces"].as_array().into_iter().flatten();
            if traces.clone().count() > 0 && traces.clone().all(|trace| trace["state"] == "ready") {
                return Ok(state);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(Error::usage("the trace was not loaded within ten minutes"))
    }

    /// CPU time of random windows: any position, any width from the whole trace to ten nanoseconds.
    fn windows(&self, state: &Value, windows: u32) -> Result<Vec<Duration>> {
        let (first, last) = (state["from_ns"].as_i64().unwrap_or(0), state["to_ns"].as_i64().unwrap_or(1));
        let tracks = state["tracks"].as_array().map_or(0, Vec::len);
        let list = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let counters = list(state["counters"].as_array().map_or(0, Vec::len));
        let (whole, mut seed) = ((last - first).max(11) as f64, 7_u64);
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut times = Vec::new();
        for _ in 0..windows {
            let width = (10_f64.ln() + random() * (whole / 10.0).ln()).exp();
            let from = first + (random() * (whole - width).max(0.0)) as i64;
            let window = format!("from={from}&to={}&px={PIXELS}&tracks={}", from + width as i64, list(tracks));
            let before = process_time();
            self.get(&format!("picture?{window}"))?;
            self.get(&format!("extras?{window}&counters={counters}"))?;
            times.push(process_time() - before);
        }
        Ok(times)
    }
}
