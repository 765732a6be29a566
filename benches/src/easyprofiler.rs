//! EasyProfiler: decoding, and decoding with the call tree.

use std::{fs::File, io::BufWriter};

use traceloom_core::{Error, Limits, Options, Records, Result, Source};
use traceloom_easyprofiler::{Record, TreeBuilder, sample};

use crate::measure::{baseline, cpu_times, peak_bytes, row};

const BLOCKS: u64 = 5_000_000;
/// Number of records per frame of the sample, on both threads.
const RECORDS_PER_FRAME: u64 = 19;

pub(crate) fn make(out: BufWriter<File>, records: u64) -> Result<()> {
    sample::write(out, records / RECORDS_PER_FRAME).map(drop)
}

pub(crate) fn run() -> Result<bool> {
    let mut met = memory_is_constant()?;
    let (file, source) = generated(BLOCKS)?;
    let blocks = decode(&source)?;
    println!("easyprofiler: {blocks} blocks, {} MB", source.len()? / 1_000_000);
    let (resident, spilled) = (tree(&source, u64::MAX)?, tree(&source, 1 << 20)?);
    let [base, decoding, nesting] =
        cpu_times([&mut || baseline(&source), &mut || decode(&source).map(drop), &mut || {
            tree(&source, u64::MAX).map(drop)
        }])?;
    let seconds = base.as_secs_f64();
    println!("  baseline: {:.1} ms, {:.2} ns per block", seconds * 1e3, seconds * 1e9 / blocks as f64);
    drop(file);
    met &= row("decode", decoding.div_duration_f64(base), "x baseline", 2.5);
    met &= row("decode and tree", nesting.div_duration_f64(base), "x baseline", 5.0);
    met &= row("tree, resident", resident as f64 / blocks as f64, "bytes per block", 24.0);
    met &= row("tree of a thread without nesting", flat_tree()?, "bytes per block", 48.0);
    met &= row("tree, limited to 1 MB", spilled as f64 / 1e6, "MB", 4.0);
    Ok(met)
}

pub(crate) fn generated(blocks: u64) -> Result<(tempfile::NamedTempFile, Source)> {
    let file = tempfile::NamedTempFile::new()?;
    make(BufWriter::new(file.reopen()?), blocks)?;
    let source = Source::open(file.path(), &Limits::default())?;
    Ok((file, source))
}

/// Decodes 50 MB and 2 GB; the peak must not change.
fn memory_is_constant() -> Result<bool> {
    let mut peaks = Vec::new();
    for blocks in [1_800_000, 74_000_000] {
        let (_file, source) = generated(blocks)?;
        decode(&source)?;
        peaks.push((source.len()?, peak_bytes()));
    }
    let ((small, before), (large, after)) = (peaks[0], peaks[1]);
    println!("easyprofiler: {} MB and {} MB side by side", small / 1_000_000, large / 1_000_000);
    Ok(row("growth of the peak memory", (after - before) as f64 / 1e6, "MB", 1.0))
}

/// Bytes per block without nesting: every block stays a candidate for a parent that never comes.
fn flat_tree() -> Result<f64> {
    const BLOCKS: u64 = 1_000_000;
    let mut builder = TreeBuilder::new(&Limits::with(|limits| limits.tree_bytes = u64::MAX));
    builder.thread(1)?;
    (0..BLOCKS).try_for_each(|index| builder.push(2 * index, 2 * index + 1))?;
    Ok(builder.resident_bytes() as f64 / BLOCKS as f64)
}

fn decode(source: &Source) -> Result<u64> {
    let mut reader = traceloom_easyprofiler::open(source.clone(), &Options::default())?;
    let (mut blocks, mut sum) = (0, 0u64);
    reader.walk(|located| {
        if let Some((begin, end)) = located.record.times() {
            sum = sum.wrapping_add(begin ^ end);
            blocks += u64::from(!matches!(located.record, Record::Switch(_)));
        }
        Ok::<_, Error>(())
    })?;
    std::hint::black_box(sum);
    Ok(blocks)
}

/// Builds the tree and reads every parent, depth and self time; returns its peak memory.
fn tree(source: &Source, limit_bytes: u64) -> Result<u64> {
    let limits = Limits::with(|limits| limits.tree_bytes = limit_bytes);
    let mut reader = traceloom_easyprofiler::open(source.clone(), &Options::default().with_limits(limits.clone()))?;
    let clock = reader.clock();
    let mut builder = TreeBuilder::new(&limits);
    reader.walk(|located| {
        let (begin, end) = match &located.record {
            Record::Block(block) => (block.begin, block.end),
            Record::Value(value) => (value.begin, value.end),
            Record::Thread(thread) => {
                return builder.thread(thread.id);
            }
            _ => return Ok::<_, Error>(()),
        };
        let (begin, end) = clock.span(begin, end);
        builder.push(begin, end)
    })?;
    let built = builder.resident_bytes();
    let tree = builder.finish()?;
    let finished = tree.resident_bytes();
    let mut sum = 0u64;
    for node in tree.nodes() {
        let node = node?;
        sum = sum.wrapping_add(node.children_ns ^ u64::from(node.depth) ^ u64::from(node.parent.unwrap_or(0)));
    }
    std::hint::black_box(sum);
    Ok(built.max(finished))
}
