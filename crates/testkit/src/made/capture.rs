//! Captures with many threads or many values.

use std::{fs::File, io::BufWriter, path::Path};

use traceloom_core::{ByteOrder, Result};
use traceloom_easyprofiler::{
    Block, Descriptor, Header, Name, Record, Tally, Thread, Value, create,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
};

/// Ticks from one job of a thread to the next; a tick is a nanosecond.
const JOB: u64 = 10_000;

/// Writes a trace of `threads` threads, named `worker 0` and so on, with `jobs` jobs of two nested blocks each.
pub fn write_threads(path: &Path, threads: u32, jobs: u32) {
    write(path, JOB * (u64::from(jobs) + 2), &|emit| generate_threads(threads, jobs, emit));
}

/// Writes a capture of threads without names, with one block each: the fewest bytes per thread.
pub fn write_bare_threads(path: &Path, threads: u32) {
    write(path, 3 * JOB, &|emit| generate_bare_threads(threads, false, emit));
}

/// The same, and each block has a name that no other has.
pub fn write_named_blocks(path: &Path, threads: u32) {
    write(path, 3 * JOB, &|emit| generate_bare_threads(threads, true, emit));
}

/// Writes a capture of one thread with `values` values, each with a different id.
pub fn write_values(path: &Path, values: u32) {
    write(path, JOB * (u64::from(values) + 2), &|emit| generate_values(values, emit));
}

/// Writes a capture of one thread with `names` blocks of 1 µs, each with a name that no other has, and then the same
/// blocks again.
pub fn write_names(path: &Path, names: u32) {
    write(path, JOB * (2 * u64::from(names) + 2), &|emit| generate_names(names, emit));
}

/// Receives records.
type Emit<'e> = &'e mut dyn FnMut(&Record<'_>) -> Result<()>;

fn write(path: &Path, end_time: u64, generate: &dyn Fn(Emit<'_>) -> Result<()>) {
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut tally = Tally::default();
    let counted = generate(&mut |record| {
        tally.count(record, &layout);
        Ok(())
    });
    counted.expect("counting cannot fail");
    let mut header = Header::new(layout, Version::V2_1_0);
    tally.fill(&mut header);
    (header.pid, header.cpu_frequency) = (Some(1), 1_000_000_000);
    (header.begin_time, header.end_time) = (JOB, end_time);
    let file = File::create(path).expect("a file can be made");
    let mut writer = create(BufWriter::new(file), &header).expect("the header is whole");
    generate(&mut |record| writer.write(record)).expect("records can be written");
    writer.finish().expect("all is written");
}

fn descriptor(id: u32, name: &'static str, block_type: BlockType) -> Record<'static> {
    Record::Descriptor(Descriptor {
        id,
        line: 1,
        color: 0xff4c_af50,
        block_type,
        status: Status::ON,
        name: Name::new(name.as_bytes()),
        file: Name::new(b"pool.cpp"),
        odd_size: None,
        odd_name_size: None,
    })
}

fn generate_values(values: u32, emit: Emit<'_>) -> Result<()> {
    emit(&descriptor(0, "Level", BlockType::VALUE))?;
    emit(&Record::Thread(Thread { id: 1_000, name: Name::new(b"main"), switches: 0 }))?;
    emit(&Record::Blocks(values))?;
    for number in 0..values {
        let data = number.to_le_bytes();
        let value = Value::new(0, JOB * (u64::from(number) + 1), DataType::UINT32, &data);
        emit(&Record::Value(Value { value_id: 1 + u64::from(number), ..value }))?;
    }
    emit(&Record::Mark(EASY_PROFILER_SIGNATURE))
}

fn generate_bare_threads(threads: u32, has_names: bool, emit: Emit<'_>) -> Result<()> {
    emit(&descriptor(0, "Job", BlockType::BLOCK))?;
    for thread in 0..threads {
        emit(&Record::Thread(Thread { id: 1_000 + u64::from(thread), name: Name::new(b""), switches: 0 }))?;
        emit(&Record::Blocks(1))?;
        let name = if has_names { format!("job {thread:07}") } else { String::new() };
        let block = Block::new(0, JOB, JOB + 1_000);
        emit(&Record::Block(Block { name: Name::new(name.as_bytes()), ..block }))?;
    }
    emit(&Record::Mark(EASY_PROFILER_SIGNATURE))
}

fn generate_names(names: u32, emit: Emit<'_>) -> Result<()> {
    emit(&descriptor(0, "Job", BlockType::BLOCK))?;
    emit(&Record::Thread(Thread { id: 1_000, name: Name::new(b"main"), switches: 0 }))?;
    emit(&Record::Blocks(2 * names))?;
    for number in 0..2 * names {
        let (name, begin) = (format!("job {:07}", number % names), JOB * (u64::from(number) + 1));
        let block = Block::new(0, begin, begin + 1_000);
        emit(&Record::Block(Block { name: Name::new(name.as_bytes()), ..block }))?;
    }
    emit(&Record::Mark(EASY_PROFILER_SIGNATURE))
}

fn generate_threads(threads: u32, jobs: u32, emit: Emit<'_>) -> Result<()> {
    emit(&descriptor(0, "Job", BlockType::BLOCK))?;
    emit(&descriptor(1, "Step", BlockType::BLOCK))?;
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
