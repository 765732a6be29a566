//! Arbitrary files as owned data, for properties that every file has.

use proptest::{collection::vec, option, prelude::*, sample::select};
use traceloom_core::ByteOrder;
use traceloom_easyprofiler::{
    Block, Bookmark, Descriptor, Header, Name, Record, Switch, Tally, Thread, Value,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
};

use super::{BLOCK, EVENT, VALUE};

/// A file as owned data; see [`File::records`].
#[derive(Clone, Debug)]
pub(crate) struct File {
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

impl File {
    fn layout(&self) -> Layout {
        Layout::real(self.version, self.order)
    }

    pub(crate) fn header(&self, records: &[Record<'_>]) -> Header {
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

    pub(crate) fn records(&self) -> Vec<Record<'_>> {
        let fixed = [BlockType::BLOCK, BlockType::EVENT, BlockType::VALUE]
            .map(|block_type| Record::Descriptor(Descriptor::new(0, block_type, b"name")));
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
            // Read in the other order, a switch outside the capture could make more sense.
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

pub(crate) fn file() -> impl Strategy<Value = File> {
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
