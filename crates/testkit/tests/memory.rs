//! No file makes a reader use memory out of proportion to its length.

use peak_alloc::PeakAlloc;
use traceloom_core::{ByteOrder, Limits, Mode, Options, Source};
use traceloom_easyprofiler::{
    Block, Descriptor, Header, Name, Record, Thread, create,
    raw::{BlockType, Layout, Status, Version},
};
use traceloom_testkit::{EasyProfiler, Noise, SUBJECTS, Subject, cases, default_roots};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Memory that a walk may use for any file: its windows and its findings.
const FREE_BYTES: usize = 1 << 20;

// A single test, because the peak is that of the whole process.
#[test]
fn memory_follows_the_length_of_the_file() {
    for subject in SUBJECTS {
        for case in cases(*subject, &default_roots()).unwrap() {
            let bytes = case.bytes().unwrap();
            let mut noise = Noise::new(bytes.len() as u64);
            for _ in 0..16 {
                let end = noise.below(bytes.len() + 1);
                assert_modest(*subject, &bytes[..end], &format!("{}: first {end} bytes", case.name));
            }
            for _ in 0..if bytes.is_empty() { 0 } else { 32 } {
                let mut changed = bytes.clone();
                let at = noise.below(bytes.len());
                changed[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff);
                assert_modest(*subject, &changed, &format!("{}: ff at {at}", case.name));
            }
        }
    }
    for (name, bytes) in hostile() {
        assert_modest(&EasyProfiler, &bytes, &name);
    }
}

fn assert_modest(subject: &dyn Subject, bytes: &[u8], name: &str) {
    for mode in [Mode::Lenient, Mode::Strict] {
        let options =
            Options::default().with_mode(mode).with_limits(Limits::with(|limits| limits.tree_bytes = 1 << 16));
        let source = Source::bytes(bytes);
        ALLOCATOR.reset_peak_usage();
        let before = ALLOCATOR.current_usage();
        let _ = subject.drain(source, &options);
        let taken = ALLOCATOR.peak_usage().saturating_sub(before);
        // The most expensive bytes are those of a thread with one block, because it needs a separate stack.
        let allowed = FREE_BYTES + 16 * bytes.len();
        assert!(taken <= allowed, "{name}: {} bytes long, {taken} taken", bytes.len());
    }
}

/// Headers that promise the most, followed by bodies that repeat one byte.
fn hostile() -> Vec<(String, Vec<u8>)> {
    const BODY: usize = 100_000;
    let mut files = Vec::new();
    for version in ["0.1.0", "1.2.0", "1.3.0", "2.0.0", "2.1.0", "255.255.65535"] {
        let version = Version::parse(version).unwrap();
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for (descriptors, blocks) in [(u32::MAX, u32::MAX), (1, u32::MAX), (0, u32::MAX), (u32::MAX, 0)] {
                for byte in [0, 1, 0x10, 0xff] {
                    let mut header = Header::new(Layout::real(version, order), version);
                    header.descriptors_count = descriptors;
                    header.blocks_count = blocks;
                    header.memory_size = u64::MAX;
                    header.descriptors_memory_size = u64::MAX;
                    header.cpu_frequency = -1;
                    header.begin_time = u64::MAX;
                    header.threads_count = header.threads_count.map(|_| u32::MAX);
                    header.bookmarks_count = header.bookmarks_count.map(|_| u16::MAX);
                    let mut bytes = create(Vec::new(), &header).unwrap().finish().unwrap();
                    bytes.resize(bytes.len() + BODY, byte);
                    files.push((format!("{version} {order:?} {descriptors} {blocks} {byte:#04x}"), bytes));
                }
            }
        }
    }
    files.push(("many threads".into(), many_threads()));
    files
}

/// As many threads as fit, each with one block.
fn many_threads() -> Vec<u8> {
    const COUNT: u32 = 20_000;
    let layout = Layout::real(Version::V2_0_0, ByteOrder::Little);
    let mut header = Header::new(layout, Version::V2_0_0);
    (header.descriptors_count, header.descriptors_memory_size) = (1, 18);
    (header.blocks_count, header.memory_size) = (COUNT, u64::MAX);
    let (name, block_type, status) = (Name::new(b""), BlockType::BLOCK, Status::ON);
    let (odd_size, odd_name_size) = (None, None);
    let mut writer = create(Vec::new(), &header).unwrap();
    let descriptor =
        Descriptor { id: 0, line: 1, color: 2, block_type, status, name, file: name, odd_size, odd_name_size };
    writer.write(&Record::Descriptor(descriptor)).unwrap();
    for id in 0..COUNT.into() {
        writer.write(&Record::Thread(Thread { id, name: Name::default(), switches: 0 })).unwrap();
        writer.write(&Record::Blocks(1)).unwrap();
        writer.write(&Record::Block(Block { begin: 1, end: 2, descriptor: 0, block_type, name, odd_size })).unwrap();
    }
    writer.finish().unwrap()
}
