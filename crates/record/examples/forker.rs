//! Forks while it records; the test reads the files of both processes.
//!
//! `forker PATH` writes the kind of file that the path ends in. With the argument `panic`, the child flushes and panics before
//! it has recorded anything. Prints the id of the child and for how many milliseconds it lived.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use traceloom_record::{Recorder, flush_within, info, span};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the file to write is missing")?;
    let panics = std::env::args().nth(2).is_some_and(|end| end == "panic");
    let recorder = match Path::new(&path).extension().and_then(|extension| extension.to_str()) {
        Some("prof") => Recorder::new().prof(path),
        Some("wtf-trace") => Recorder::new().wtf_trace(path),
        _ => Recorder::new().clog(path),
    };
    let guard = recorder.panic_deadline(Some(Duration::from_secs(20))).start()?;
    let _busy = std::thread::spawn(|| {
        (0..100).for_each(|_| {
            info!("busy");
            std::thread::sleep(Duration::from_micros(100));
        });
    });
    info!("before");
    drop(span!("span of the parent"));
    std::thread::sleep(Duration::from_millis(20));
    let started = Instant::now();
    match fork::fork() {
        Ok(fork::Fork::Child) if panics => {
            assert!(flush_within(Duration::from_secs(20)), "nobody answers");
            panic!("expected by the test");
        }
        Ok(fork::Fork::Child) => (0..1000).for_each(|number| {
            info!("child %d", number);
            drop(span!("span of the child"));
        }),
        Ok(fork::Fork::Parent(child)) => {
            fork::waitpid(child).map_err(|_| "the child cannot be waited for")?;
            println!("{child} {}", started.elapsed().as_millis());
            info!("after");
            drop(span!("span of the parent"));
        }
        Err(_) => return Err("no fork".into()),
    }
    guard.close()?;
    Ok(())
}
