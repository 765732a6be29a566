//! Logs and flushes until it is killed; the test that kills it reads what it left behind.
//!
//! `victim PATH` writes the kind of file that the path ends in. After each flush it prints the number of entries that are
//! safe. With the argument `exit` or `panic` it ends by itself after forty entries, without an orderly end of its recorder.

use std::{io::Write, path::Path};

use traceloom_record::{Level, Recorder, flush, info, log};

const AUDIT: Level = Level::custom(9, 35, "AUDIT");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the log to write is missing")?;
    let recorder = match Path::new(&path).extension().and_then(|extension| extension.to_str()) {
        Some("wtf-trace") => Recorder::new().wtf_trace(path),
        _ => Recorder::new().clog(path),
    };
    let _guard = recorder.ring_bytes(64 << 10).start()?;
    if let Some(end) = std::env::args().nth(2) {
        (0..40).for_each(|number| info!("entry %d", number));
        assert!(end == "exit", "expected by the test");
        flush()?;
        exit_without_an_end();
    }
    let noise = std::thread::spawn(|| {
        loop {
            info!("noise");
            std::thread::yield_now();
        }
    });
    let mut out = std::io::stdout();
    for number in 0u64.. {
        match number % 3 {
            0 => info!("entry %u", number),
            1 => log!(AUDIT, "entry %u", number),
            _ => info!("%s %u", "entry", number),
        }
        if number % 7 == 0 {
            flush()?;
            writeln!(out, "{}", number + 1)?;
            out.flush()?;
        }
    }
    let _ = noise.join();
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "destructors and buffers are skipped on purpose")]
fn exit_without_an_end() -> ! {
    std::process::exit(7)
}
