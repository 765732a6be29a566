//! Reads an EasyProfiler `.prof` record by record, and prints the number of blocks and the longest block of each
//! thread.
//!
//! `cargo run --example read_prof -- capture.prof`; without a file it reads the built-in sample.

use std::{ffi::OsString, io::Write};

use traceloom::{
    Records, Result, Trace,
    core::Text,
    easyprofiler::{EasyProfiler, Record},
};

fn main() -> Result<()> {
    run(std::env::args_os().nth(1), &mut std::io::stdout())
}

/// The example, which the tests also run.
pub fn run(path: Option<OsString>, out: &mut dyn Write) -> Result<()> {
    let trace = path.map_or_else(|| Trace::sample("easyprofiler"), Trace::open)?;

    // The reader of the format returns typed records.
    let mut reader = trace.reader::<EasyProfiler>()?;
    let clock = reader.header().clock();
    let mut threads: Vec<Thread> = Vec::new();

    // A record borrows from the reader until the next call, so memory does not grow with the file.
    while let Some(located) = reader.next()? {
        match located.record {
            Record::Thread(thread) => {
                threads.push(Thread { name: Text(thread.name.text).to_string(), ..Thread::default() });
            }
            Record::Block(block) => {
                let (start_ns, end_ns) = clock.span(block.begin, block.end);
                if let Some(thread) = threads.last_mut() {
                    thread.blocks += 1;
                    thread.longest_ns = thread.longest_ns.max(end_ns - start_ns);
                }
            }
            _ => {}
        }
    }

    for Thread { name, blocks, longest_ns } in threads {
        writeln!(out, "{name}: {blocks} blocks, the longest took {longest_ns} ns")?;
    }
    Ok(())
}

#[derive(Default)]
struct Thread {
    name: String,
    blocks: u64,
    longest_ns: u64,
}
