//! Traces of many threads.

use std::{fs::File, io::BufWriter, path::Path};

use traceloom_core::{ByteOrder, Result};
use traceloom_easyprofiler::{
    Block, Descriptor, Header, Name, Record, Tally, Thread, create,
    raw::{BlockType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
};

/// Ticks from one job of a thread to the next; a tick is a nanosecond.
const JOB: u64 = 10_000;

/// Writes a trace of `threads` threads, named `worker 0` and so on, with `jobs` jobs of two nested blocks each.
pub(crate) fn write(path: &Path, threads: u32, jobs: u32) {
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut tally = Tally::default();
    let counted = generate(threads, jobs, &mut |record| {
        tally.count(record, &layout);
        Ok(())
    });
    counted.expect("counting cannot fail");
    let mut header = Header::new(layout, Version::V2_1_0);
    tally.fill(&mut header);
    (header.pid, header.cpu_frequency) = (Some(1), 1_000_000_000);
    (header.begin_time, header.end_time) = (JOB, JOB * (u64::from(jobs) + 2));
    let file = File::create(path).expect("a file can be made");
    let mut writer = create(BufWriter::new(file), &header).expect("the header is whole");
    generate(threads, jobs, &mut |record| writer.write(record)).expect("records can be written");
    writer.finish().expect("all is written");
}

fn generate(threads: u32, jobs: u32, emit: &mut dyn FnMut(&Record<'_>) -> Result<()>) -> Result<()> {
    for (id, name) in ["Job", "Step"].iter().enumerate() {
        emit(&Record::Descriptor(Descriptor {
            id: id as u32,
            line: 1,
            color: 0xff4c_af50,
            block_type: BlockType::BLOCK,
            status: Status::ON,
            name: Name::new(name.as_bytes()),
            file: Name::new(b"pool.cpp"),
            odd_size: None,
            odd_name_size: None,
        }))?;
    }
    for thread in 0..threads {
        let name = format!("worker {thread}");
        emit(&Record::Thread(Thread { id: 1_000 + u64::from(thread), name: Name::new(name.as_bytes()), switches: 0 }))?;
        emit(&Record::Blocks(2 * jobs))?;
        for job in 0..jobs {
            let begin = JOB * (u64::from(job) + 1) + u64::from(thread % 97) * 20;
            emit(&Record::Block(Block::new(1, begin + 1_000, begin + 2_000 + u64::from(job % 7) * 300)))?;
            emit(&Record::Block(Block::new(0, begin, begin + 5_000)))?;
        }
    }
    emit(&Record::Mark(EASY_PROFILER_SIGNATURE))
}
