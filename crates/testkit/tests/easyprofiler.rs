//! What only EasyProfiler has to prove: arbitrary files, both byte orders, nesting, dialects.

use proptest::{collection::vec, option, prelude::*, sample::select};
use traceloom_core::{ByteOrder, Limits, Options, Records, Source};
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, Header, Name, Node, Record, Switch, Tally, Thread, TreeBuilder, Value, create, open,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, SizeRule, Status, Version},
};
use traceloom_testkit::{Case, Digest, EasyProfiler, Noise, Subject, cases, default_roots};

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_records_come_back(file in file()) {
        let records = file.records();
        let header = file.header(&records);
        let bytes = write(&header, &records);
        let mut reader = open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
        prop_assert_eq!(reader.header(), &header);
        for record in &records {
            let found = reader.next().unwrap().map(|located| located.record);
            prop_assert_eq!(found, Some(*record));
        }
        prop_assert_eq!(reader.next().unwrap(), None);
        prop_assert_eq!(EasyProfiler.rewrite(Source::bytes(bytes.clone()), &Options::default()).unwrap(), bytes);
    }

    #[test]
    fn arbitrary_bytes_behind_a_header_come_back(file in file(), tail in vec(any::<u8>(), 0..400), keep in 0..200usize) {
        let records = file.records();
        let mut bytes = write(&file.header(&records), &records);
        bytes.truncate(keep + 40);
        bytes.extend(tail);
        EasyProfiler.walk(Source::bytes(bytes.clone()), &Options::default()).unwrap();
        let _ = EasyProfiler.walk(Source::bytes(bytes.clone()), &Options::strict());
        prop_assert_eq!(EasyProfiler.rewrite(Source::bytes(bytes.clone()), &Options::default()).unwrap(), bytes);
    }
}

#[test]
fn big_endian_files_hold_the_same() {
    for (case, bytes) in accepted() {
        let turned = turn_around(&bytes);
        let (little, big) = (lenient(&bytes), lenient(&turned));
        let codes = big.codes();
        assert_eq!(codes.first(), Some(&"easyprofiler.big-endian"), "{}", case.name);
        assert_eq!(codes[1..], little.codes(), "{}", case.name);
        // The header tells its byte order.
        assert_eq!(little.entries[1..], big.entries[1..], "{}", case.name);
        assert_eq!(EasyProfiler.rewrite(Source::bytes(turned.clone()), &Options::default()).unwrap(), turned);
    }
}

#[test]
fn a_damaged_real_file_never_passes_for_one_of_the_document() {
    for (case, bytes) in accepted() {
        let mut noise = Noise::new(bytes.len() as u64);
        for step in 0..400 {
            let mut damaged = bytes.clone();
            if step % 2 == 0 {
                damaged.truncate(8 + noise.below(bytes.len() - 8));
            } else {
                // The first eight bytes decide on the layouts to try.
                let at = 8 + noise.below(bytes.len() - 8);
                damaged[at] = noise.number() as u8;
            }
            let reader = open(Source::bytes(damaged), &Options::default()).unwrap();
            let header = reader.header();
            let mut real = Layout::real(header.version, ByteOrder::Little);
            if step % 2 == 1 {
                // One wrong SIZE is mended by the NULs, and one wrong time can speak for the other order.
                real.switch = header.layout.switch;
                real.size = if header.layout.size == SizeRule::Unreliable { SizeRule::Unreliable } else { real.size };
            }
            assert_eq!(header.layout, real, "{}: step {step}", case.name);
        }
    }
}

#[test]
fn a_spilled_tree_is_the_resident_one() {
    const COUNT: u64 = 25_000;
    let flat = |index: u64| (10 * index, 10 * index + 5);
    let deep = |index: u64| (COUNT - index, COUNT + index);
    let mut noise = Noise::new(7);
    let mixed: Vec<_> =
        (0..COUNT).map(|index| (10 * index - noise.below(10 * index as usize + 1) as u64, 10 * index)).collect();
    for times in [(0..COUNT).map(flat).collect(), (0..COUNT).map(deep).collect(), mixed] {
        let (resident, spilled) = (nodes(&times, u64::MAX), nodes(&times, 0));
        assert_eq!(resident.len(), 2 * times.len());
        assert!(resident == spilled);
    }
    let chain = nodes(&(0..COUNT).map(deep).collect::<Vec<_>>(), 0);
    assert_eq!(chain.iter().map(|node| u64::from(node.depth)).max(), Some(COUNT - 1));
}

#[test]
fn an_unknown_descriptor_type_is_no_hole() {
    let (_, bytes) = accepted().into_iter().find(|(case, _)| case.name.ends_with("syn_baseline.prof")).unwrap();
    for unknown in [3, 254, 255] {
        let mut reader = open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
        let mut writer = create(Vec::new(), reader.header()).unwrap();
        while let Some(mut located) = reader.next().unwrap() {
            if let Record::Descriptor(descriptor) = &mut located.record {
                descriptor.block_type = BlockType(unknown);
            }
            writer.write(&located.record).unwrap();
        }
        let bytes = writer.finish().unwrap();
        EasyProfiler.walk(Source::bytes(bytes), &Options::strict()).unwrap();
    }
}

#[test]
fn the_longest_records_come_back_and_longer_ones_are_refused() {
    let long = vec![b'n'; usize::from(u16::MAX)];
    let text = |len: usize| Name::new(&long[..len - 1]);
    let block =
        |len| Block { begin: 1, end: 2, descriptor: 0, block_type: BlockType::BLOCK, name: text(len), odd_size: None };
    let thread = |len| Thread { id: 1, name: text(len), switches: 0 };
    let version = Version::V2_1_0;
    let write_both = |thread_len, block_len| {
        let layout = Layout::real(version, ByteOrder::Little);
        let header = Header { threads_count: Some(1), blocks_count: 1, ..Header::new(layout, version) };
        let mut writer = create(Vec::new(), &header)?;
        writer.write(&Record::Thread(thread(thread_len)))?;
        writer.write(&Record::Blocks(1))?;
        writer.write(&Record::Block(block(block_len)))?;
        writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        Ok::<_, traceloom_core::Error>(writer.finish()?)
    };
    let most = usize::from(u16::MAX);
    let bytes = write_both(most, most - 20).unwrap();
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    assert_eq!(reader.next().unwrap().map(|it| it.record), Some(Record::Thread(thread(most))));
    assert_eq!(reader.next().unwrap().map(|it| it.record), Some(Record::Blocks(1)));
    assert_eq!(reader.next().unwrap().map(|it| it.record), Some(Record::Block(block(most - 20))));
    assert!(write_both(most + 1, 1).is_err());
    assert!(write_both(1, most - 19).is_err());
}

#[test]
fn odd_sizes_behind_the_probe_come_out_as_they_were() {
    for size in [SizeRule::Payload, SizeRule::WithPrefix, SizeRule::Unreliable] {
        for odd in [0u16, 1, 2, 3, 15, 21, 22, 23, 24, 700, u16::MAX] {
            let bytes = long_file(size, odd);
            let reader = open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
            assert_eq!(reader.header().layout.size, size);
            let rewritten = EasyProfiler.rewrite(Source::bytes(bytes.clone()), &Options::default()).unwrap();
            assert!(rewritten == bytes, "{size:?} with SIZE {odd}");
        }
    }
}

/// More blocks than are looked at to find the layout; the SIZE of one of the last ones is replaced.
fn long_file(size: SizeRule, odd: u16) -> Vec<u8> {
    const COUNT: u32 = 60_000;
    let name = Name::new(b"");
    let layout = Layout { size, ..Layout::real(Version::V2_1_0, ByteOrder::Little) };
    let mut header = Header::new(layout, Version::V2_1_0);
    (header.threads_count, header.blocks_count, header.memory_size) = (Some(1), COUNT, u64::MAX);
    (header.descriptors_count, header.descriptors_memory_size) = (1, u64::MAX);
    let mut writer = create(Vec::new(), &header).unwrap();
    let (block_type, status, odd_name_size) = (BlockType::BLOCK, Status::ON, None);
    let descriptor =
        Descriptor { id: 0, line: 1, color: 2, block_type, status, name, file: name, odd_size: None, odd_name_size };
    writer.write(&Record::Descriptor(descriptor)).unwrap();
    writer.write(&Record::Thread(Thread { id: 1, name, switches: 0 })).unwrap();
    writer.write(&Record::Blocks(COUNT)).unwrap();
    for index in 0..COUNT {
        let usual = (size == SizeRule::Unreliable).then_some(28);
        let odd_size = if index == COUNT - 50 { Some(odd) } else { usual };
        let (begin, end) = (u64::from(index), u64::from(index) + 1);
        writer.write(&Record::Block(Block { begin, end, descriptor: 0, block_type, name, odd_size })).unwrap();
    }
    writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE)).unwrap();
    writer.finish().unwrap()
}

fn lenient(bytes: &[u8]) -> Digest {
    EasyProfiler.walk(Source::bytes(bytes), &Options::default()).unwrap()
}

fn accepted() -> Vec<(Case, Vec<u8>)> {
    let cases = cases(&EasyProfiler, &default_roots()).unwrap().into_iter();
    let accepted = cases.filter(|case| case.golden().unwrap().is_some_and(|golden| EasyProfiler.accepts(&golden)));
    accepted.map(|case| (case.clone(), case.bytes().unwrap())).collect()
}

/// The same file as a big-endian machine would write it.
fn turn_around(bytes: &[u8]) -> Vec<u8> {
    let mut reader = open(Source::bytes(bytes), &Options::default()).unwrap();
    let layout = Layout { order: ByteOrder::Big, ..reader.header().layout };
    let mut writer = create(Vec::new(), &Header { layout, ..reader.header().clone() }).unwrap();
    while let Some(located) = reader.next().unwrap() {
        let Record::Value(value) = located.record else {
            writer.write(&located.record).unwrap();
            continue;
        };
        let width = value.data_type.width().unwrap_or(1);
        let data: Vec<u8> = value.data.chunks(width).flat_map(|element| element.iter().rev()).copied().collect();
        writer.write(&Record::Value(Value { data: &data, order: ByteOrder::Big, ..value })).unwrap();
    }
    writer.finish().unwrap()
}

/// The same blocks in two threads that take turns, so that sections alternate.
fn nodes(times: &[(u64, u64)], tree_bytes: u64) -> Vec<Node> {
    let mut builder = TreeBuilder::new(&Limits::with(|limits| limits.tree_bytes = tree_bytes));
    for section in times.chunks(9_000) {
        for thread in [1, 2] {
            builder.thread(thread);
            section.iter().for_each(|(begin, end)| builder.push(*begin, *end).unwrap());
        }
    }
    assert_eq!(builder.has_spilled(), tree_bytes == 0);
    builder.finish().unwrap().nodes().collect::<Result<_, _>>().unwrap()
}

fn write(header: &Header, records: &[Record<'_>]) -> Vec<u8> {
    let mut writer = create(Vec::new(), header).unwrap();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap()
}

/// A file as owned data; see [`File::records`].
#[derive(Clone, Debug)]
struct File {
    version: Version,
    order: ByteOrder,
    pid: u32,
    cpu_frequency: i64,
    times: (u32, u64),
    descriptors: Vec<Option<OwnedDescriptor>>,
    threads: Vec<OwnedThread>,
    bookmarks: Vec<(u64, u32, Text)>,
}

#[derive(Clone, Debug)]
struct OwnedDescriptor {
    numbers: (u32, i32, u32),
    kind: u8,
    status: u8,
    name: Text,
    file: Text,
}

#[derive(Clone, Debug)]
struct OwnedThread {
    id: u32,
    name: Option<Text>,
    switches: Vec<(u32, u16, u32, Text)>,
    items: Vec<Item>,
}

#[derive(Clone, Debug)]
enum Item {
    Block { times: (u64, u64), event: bool, name: Text },
    Value { time: u64, filler: [u8; 2], kind: u8, array: u8, id: u64, data: Vec<u8>, surplus: Vec<u8> },
}

#[derive(Clone, Debug)]
struct Text {
    text: Vec<u8>,
    tail: Vec<u8>,
}

impl Text {
    fn name(&self) -> Name<'_> {
        Name { text: &self.text, tail: &self.tail }
    }
}

/// Positions of one descriptor of each kind; arbitrary ones follow.
const BLOCK: u32 = 0;
const EVENT: u32 = 1;
const VALUE: u32 = 2;

impl File {
    fn layout(&self) -> Layout {
        Layout::real(self.version, self.order)
    }

    fn header(&self, records: &[Record<'_>]) -> Header {
        let layout = self.layout();
        let mut header = Header::new(layout, self.version);
        let mut tally = Tally::default();
        records.iter().for_each(|record| tally.count(record, &layout));
        tally.fill(&mut header);
        header.pid = (layout.pid.bytes() > 0).then_some(self.pid.into());
        header.cpu_frequency = self.cpu_frequency;
        header.begin_time = self.times.0.into();
        header.end_time = self.times.1;
        header
    }

    fn records(&self) -> Vec<Record<'_>> {
        let fixed = [BlockType::BLOCK, BlockType::EVENT, BlockType::VALUE].map(|block_type| {
            let (name, file) = (Name::new(b"name"), Name::new(b"file.cpp"));
            let (status, odd_size, odd_name_size) = (Status::ON, None, None);
            Record::Descriptor(Descriptor {
                id: 0,
                line: 1,
                color: 2,
                block_type,
                status,
                name,
                file,
                odd_size,
                odd_name_size,
            })
        });
        let mut records = fixed.to_vec();
        records.extend(self.descriptors.iter().map(|it| it.as_ref().map_or(Record::Hole, OwnedDescriptor::record)));
        self.threads.iter().for_each(|thread| thread.put(self, &mut records));
        if self.layout().marks {
            records.push(Record::Mark(EASY_PROFILER_SIGNATURE));
            for (position_ns, color, text) in &self.bookmarks {
                let (position_ns, color, text) = (*position_ns, *color, text.name());
                records.push(Record::Bookmark(Bookmark { position_ns, color, text, odd_size: None }));
            }
            records.extend((!self.bookmarks.is_empty()).then_some(Record::Mark(EASY_PROFILER_SIGNATURE)));
        }
        records
    }
}

impl OwnedDescriptor {
    fn record(&self) -> Record<'_> {
        let (id, line, color) = self.numbers;
        let (block_type, status) = (BlockType(self.kind), Status(self.status));
        let (name, file) = (self.name.name(), self.file.name());
        let (odd_size, odd_name_size) = (None, None);
        Record::Descriptor(Descriptor { id, line, color, block_type, status, name, file, odd_size, odd_name_size })
    }
}

impl OwnedThread {
    fn put<'a>(&'a self, file: &File, records: &mut Vec<Record<'a>>) {
        let name = self.name.as_ref().map_or_else(Name::default, Text::name);
        records.push(Record::Thread(Thread { id: self.id.into(), name, switches: self.switches.len() as u32 }));
        for (after, duration, target, name) in &self.switches {
            // Read the other way round, a switch outside of the capture could make more sense.
            let begin = u64::from(file.times.0) + u64::from(*after);
            let end = begin + u64::from(*duration) + 1;
            let (target, name) = (u64::from(*target), name.name());
            records.push(Record::Switch(Switch { begin, end, target, name, odd_size: None }));
        }
        records.push(Record::Blocks(self.items.len() as u32));
        records.extend(self.items.iter().map(|item| item.record(file.order)));
    }
}

impl Item {
    fn record(&self, order: ByteOrder) -> Record<'_> {
        match self {
            Self::Block { times: (begin, end), event, name } => Record::Block(Block {
                begin: *begin,
                end: *end,
                descriptor: if *event { EVENT } else { BLOCK },
                block_type: if *event { BlockType::EVENT } else { BlockType::BLOCK },
                name: name.name(),
                odd_size: None,
            }),
            Self::Value { time, filler, kind, array, id, data, surplus } => Record::Value(Value {
                begin: *time,
                end: *time,
                descriptor: VALUE,
                filler: *filler,
                data_type: DataType(*kind),
                is_array: *array,
                value_id: *id,
                data,
                order,
                surplus,
                odd_data_size: None,
                odd_size: None,
            }),
        }
    }
}

fn file() -> impl Strategy<Value = File> {
    let versions = ["0.1.0", "1.0.0", "1.0.1", "1.2.0", "1.3.0", "2.0.0", "2.0.1", "2.1.0", "9.9.9"];
    let version = select(versions.to_vec()).prop_map(|text| Version::parse(text).unwrap());
    let order = select(&[ByteOrder::Big, ByteOrder::Little][..]);
    let numbers = (any::<u32>(), any::<i64>(), (any::<u32>(), any::<u64>()));
    let bookmark = (any::<u64>(), any::<u32>(), text(&[b"\0", b"\0more\0"]));
    let lists = (vec(option::of(descriptor()), 0..4), vec(thread(), 0..4), vec(bookmark, 0..3));
    (version, order, numbers, lists).prop_map(|(version, order, (pid, cpu_frequency, times), lists)| {
        let (descriptors, threads, bookmarks) = lists;
        File { version, order, pid, cpu_frequency, times, descriptors, threads, bookmarks }
    })
}

fn descriptor() -> impl Strategy<Value = OwnedDescriptor> {
    let texts = (text(&[b"\0", b"\0inner\0"]), text(&[b"", b"\0", b"\0rest"]));
    (any::<(u32, i32, u32)>(), any::<u8>(), any::<u8>(), texts)
        .prop_map(|(numbers, kind, status, (name, file))| OwnedDescriptor { numbers, kind, status, name, file })
}

fn thread() -> impl Strategy<Value = OwnedThread> {
    let name = option::of(text(&[b"", b"\0", b"\0rest"]));
    let switch = (any::<u32>(), any::<u16>(), any::<u32>(), text(&[b"", b"\0", b"\0rest"]));
    (any::<u32>(), name, vec(switch, 0..3), vec(item(), 0..6))
        .prop_filter("reads as the end of the threads", |(id, ..)| *id != EASY_PROFILER_SIGNATURE)
        .prop_map(|(id, name, switches, items)| OwnedThread { id, name, switches, items })
}

fn item() -> impl Strategy<Value = Item> {
    let block = (any::<(u64, u64)>(), any::<bool>(), text(&[b"", b"\0", b"\0rest"]));
    let block = block.prop_map(|(times, event, name)| Item::Block { times, event, name });
    let numbers = (any::<u64>(), any::<[u8; 2]>(), 0..15u8, any::<u8>(), any::<u64>());
    let value = (numbers, vec(any::<u8>(), 0..40), vec(any::<u8>(), 0..2));
    let value = value.prop_map(|((time, filler, kind, array, id), data, surplus)| Item::Value {
        time,
        filler,
        kind,
        array,
        id,
        data,
        surplus,
    });
    prop_oneof![block, value]
}

fn text(tails: &'static [&'static [u8]]) -> impl Strategy<Value = Text> {
    (vec(1..=u8::MAX, 0..20), select(tails)).prop_map(|(text, tail)| Text { text, tail: tail.to_vec() })
}
