//! A small service that records itself: it logs every request, and each request is a flow from the listener to a worker.
//!
//! `cargo run -p traceloom-cli --example service`, then `traceloom log service.clog`. `traceloom demo` runs it as well.

use std::{path::Path, sync::mpsc, thread, time::Duration};

use traceloom_core::Result;
use traceloom_record::{Flow, Level, Recorder, error, flow, info, log, span, stats, thread_name, value, warn};

/// For entries that an auditor reads.
const AUDIT: Level = Level::custom(8, 35, "AUDIT");
const WORKERS: usize = 3;
const REQUESTS: u32 = 200;

struct Request {
    number: u32,
    path: &'static str,
    flow: Flow,
}

fn main() -> Result<()> {
    record(Path::new(&std::env::args().nth(1).unwrap_or_else(|| "service".to_owned())))
}

/// Runs the service and writes a log and a trace named `base`.
pub(crate) fn record(base: &Path) -> Result<()> {
    let file = |extension| base.with_extension(extension);
    let guard = Recorder::new().clog(file("clog")).wtf_trace(file("wtf-trace")).start()?;
    thread_name!("listener");
    info!("service orders starting, %u workers", WORKERS);
    serve();
    let seen = stats();
    info!("service stopped after %u records, %u dropped", seen.records, seen.dropped);
    guard.close()
}

fn serve() {
    thread::scope(|scope| {
        let workers: Vec<mpsc::Sender<Request>> = (0..WORKERS)
            .map(|worker| {
                let (sender, requests) = mpsc::channel();
                scope.spawn(move || work(worker, &requests));
                sender
            })
            .collect();
        for number in 0..REQUESTS {
            let _accept = span!("accept");
            let path = ["/orders", "/orders/7", "/login", "/missing"][number as usize * 7 % 4];
            let request = Request { number, path, flow: flow!("request") };
            info!("request %u: GET %s", number, path);
            if workers[number as usize % WORKERS].send(request).is_err() {
                error!("worker %u is gone", number as usize % WORKERS);
            }
            thread::sleep(Duration::from_micros(200));
        }
    });
}

fn work(worker: usize, requests: &mpsc::Receiver<Request>) {
    thread_name!(format!("worker {worker}"));
    for request in requests {
        let _handle = span!("handle", text: request.path);
        flow!(request.flow, "handle");
        let micros = 100 + u64::from(request.number) * 37 % 400;
        {
            let _query = span!("query database");
            thread::sleep(Duration::from_micros(micros));
        }
        value!("database time, µs", micros);
        match request.path {
            "/missing" => warn!("request %u: 404 in %.1f ms", request.number, micros as f64 / 1e3),
            "/login" => log!(AUDIT, "request %u: somebody logged in", request.number),
            _ => info!("request %u: 200 in %.1f ms", request.number, micros as f64 / 1e3),
        }
        flow!(end request.flow, "answer");
    }
}
