//! Writes a trace from scratch: a `.prof` that EasyProfiler opens, with two blocks on one thread.
//!
//! `cargo run --example write_trace -- own.prof`; without a file, it only reads back the written trace.

use std::{ffi::OsString, io::Write};

use traceloom::{
    OpenOptions, Result, Source,
    core::ByteOrder,
    easyprofiler::{
        Block, Descriptor, Header, Name, Record, Tally, Thread, create,
        raw::{BlockType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
    },
};

fn main() -> Result<()> {
    run(std::env::args_os().nth(1), &mut std::io::stdout())
}

/// The example, which the tests also run.
pub fn run(path: Option<OsString>, out: &mut dyn Write) -> Result<()> {
    // Descriptors come first, then a section per thread. A block follows the blocks inside it.
    let records = [
        Record::Descriptor(descriptor(0, b"Frame")),
        Record::Descriptor(descriptor(1, b"Draw")),
        Record::Thread(Thread { id: 1, name: Name::new(b"Main"), switches: 0 }),
        Record::Blocks(2),
        Record::Block(Block::new(1, 2_000_000, 9_000_000)),
        Record::Block(Block::new(0, 1_000_000, 17_000_000)),
        Record::Mark(EASY_PROFILER_SIGNATURE),
        Record::Mark(EASY_PROFILER_SIGNATURE),
    ];

    // The header holds counts and sizes of everything that follows it.
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut header = Header { begin_time: 1_000_000, end_time: 17_000_000, ..Header::new(layout, Version::V2_1_0) };
    let mut tally = Tally::default();
    records.iter().for_each(|record| tally.count(record, &layout));
    tally.fill(&mut header);

    let mut bytes = Vec::new();
    let mut writer = create(&mut bytes, &header)?;
    records.iter().try_for_each(|record| writer.write(record))?;
    writer.finish()?;
    if let Some(path) = &path {
        std::fs::write(path, &bytes)?;
    }

    // Strict reading rejects every file that EasyProfiler would reject.
    let trace = OpenOptions::new().strict(true).open_source("own.prof", Source::bytes(bytes))?;
    trace.check()?;
    trace.records(|record| writeln!(out, "{:>4} {record}", record.offset).map_err(Into::into))?;
    Ok(())
}

fn descriptor(id: u32, name: &'static [u8]) -> Descriptor<'static> {
    let (block_type, status, file) = (BlockType::BLOCK, Status::ON, Name::new(b"own.cpp"));
    let name = Name::new(name);
    Descriptor { id, line: 1, color: 0xff4c_af50, block_type, status, name, file, odd_size: None, odd_name_size: None }
}
