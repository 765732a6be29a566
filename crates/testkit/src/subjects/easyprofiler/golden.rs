//! Rebuilds the golden of a `.prof` file: what easy_profiler's reader reports about it, computed by ours.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use traceloom_core::{ByteOrder, Limits, Located, Options, Records, Result, Source};
use traceloom_easyprofiler::{
    Block, Clock, Descriptor, Element, Header, Node, Record, Switch, Thread, TreeBuilder, Value as Stored,
    findings::{RECORDS_MISSING, THREADS_MISSING, TRUNCATED},
    open,
    raw::{BlockType, DataType, Version},
};

use crate::subjects::hex;

const LONGEST_HEADER: usize = 72;

/// The golden, except for the file's name and easy_profiler's message.
pub(super) fn reproduce(source: &Source, golden: &Value) -> Result<Value> {
    let accepted = strict_blocks(source);
    // A file cut to its header has nothing that could indicate another layout than easy_profiler's.
    let header = match open(Source::bytes(source.prefix(LONGEST_HEADER)?), &Options::default()) {
        Ok(reader) if is_native(reader.header()) => header_raw(reader.header()),
        _ => Value::Null,
    };
    let mut all = json!({
        "file": golden["file"],
        "file_size": source.len()?,
        "upstream_reader": {
            "accepted": accepted.is_some(),
            "blocks": accepted.unwrap_or(0),
            "log": golden["upstream_reader"]["log"],
        },
        "header_raw": header,
    });
    if accepted.is_some()
        && let Value::Object(all) = &mut all
    {
        Walked::of(source)?.print(source, all)?;
    }
    Ok(all)
}

/// The number of records that easy_profiler would keep, if it accepts the file.
fn strict_blocks(source: &Source) -> Option<u64> {
    let mut reader = open(source.clone(), &Options::strict()).ok()?;
    let clock = reader.clock();
    let mut blocks = 0;
    while let Some(located) = reader.next().ok()? {
        blocks += u64::from(is_kept(&located.record, clock));
    }
    Some(blocks)
}

fn is_kept(record: &Record<'_>, clock: Clock) -> bool {
    match record {
        Record::Switch(switch) => clock.keeps_switch(switch.end),
        Record::Block(block) => clock.keeps_block(block.end),
        Record::Value(value) => clock.keeps_block(value.end),
        _ => false,
    }
}

/// Whether easy_profiler, on the machines of the corpus, accepts the signature.
fn is_native(header: &Header) -> bool {
    !header.layout.swapped_signature && header.layout.order == ByteOrder::Little
}

fn header_raw(header: &Header) -> Value {
    json!({
        "version": header.version.to_string(),
        "version_int": header.version.0,
        "pid": header.pid,
        "cpu_frequency": header.cpu_frequency,
        "begin_time": header.begin_time,
        "end_time": header.end_time,
        "memory_size": header.memory_size,
        "descriptors_memory_size": header.descriptors_memory_size,
        "blocks_count": header.blocks_count,
        "descriptors_count": header.descriptors_count,
        "threads_count": header.threads_count,
        "bookmarks_count": header.bookmarks_count,
        "padding": header.padding,
        "header_size": header.stored_bytes,
    })
}

/// Everything that one walk over the records collects.
struct Walked {
    header: Header,
    clock: Clock,
    complete: bool,
    descriptors: Vec<Option<OwnedDescriptor>>,
    descriptor_bytes: u64,
    record_bytes: u64,
    threads_end: u64,
    runtime: HashMap<Vec<u8>, usize>,
    runtime_ids: Vec<Value>,
    threads: BTreeMap<u64, ThreadRows>,
    thread: u64,
    kept: u64,
    blocks: Vec<BlockRow>,
    tree: TreeBuilder,
    bookmarks: Vec<Value>,
}

struct OwnedDescriptor {
    name: Vec<u8>,
    block_type: BlockType,
    golden: Value,
}

#[derive(Default)]
struct ThreadRows {
    name: Vec<u8>,
    switches: Vec<Value>,
    wait_ns: u64,
    /// Numbers of its blocks, in file order.
    blocks: Vec<usize>,
}

#[derive(Default)]
struct BlockRow {
    begin_ns: u64,
    end_ns: u64,
    times: (u64, u64),
    descriptor: u32,
    id: usize,
    file_index: u64,
    runtime_name: Vec<u8>,
    value: Option<Value>,
}

impl BlockRow {
    fn duration_ns(&self) -> u64 {
        // easy_profiler subtracts unsigned numbers: a block that ends before it starts wraps.
        self.end_ns.wrapping_sub(self.begin_ns)
    }
}

impl Walked {
    fn of(source: &Source) -> Result<Self> {
        let mut reader = open(source.clone(), &Options::default())?;
        let mut walked = Self {
            header: reader.header().clone(),
            clock: reader.clock(),
            complete: true,
            descriptors: Vec::new(),
            descriptor_bytes: 0,
            record_bytes: 0,
            threads_end: reader.header().stored_bytes as u64,
            runtime: HashMap::new(),
            runtime_ids: Vec::new(),
            threads: BTreeMap::new(),
            thread: 0,
            kept: 0,
            blocks: Vec::new(),
            tree: TreeBuilder::new(&Limits::default()),
            bookmarks: Vec::new(),
        };
        while let Some(located) = reader.next()? {
            walked.take(&located)?;
        }
        let cut = [&RECORDS_MISSING, &THREADS_MISSING, &TRUNCATED];
        walked.complete = cut.iter().all(|rule| !reader.findings().counts().contains_key(rule.code));
        Ok(walked)
    }

    fn take(&mut self, located: &Located<Record<'_>>) -> Result<()> {
        match &located.record {
            Record::Mark(_) | Record::Residue(_) => return Ok(()),
            Record::Bookmark(bookmark) => {
                let mut golden = Map::new();
                golden.insert("pos".into(), bookmark.position_ns.into());
                golden.insert("color".into(), color(bookmark.color));
                insert_text(&mut golden, "text", bookmark.text.text);
                self.bookmarks.push(golden.into());
                return Ok(());
            }
            Record::Descriptor(_) | Record::Hole => self.descriptor_bytes += located.len - 2,
            Record::Thread(_) | Record::Blocks(_) => {}
            Record::Switch(_) | Record::Block(_) | Record::Value(_) => self.record_bytes += located.len - 2,
            Record::Malformed(_) if self.threads.is_empty() => self.descriptor_bytes += located.len - 2,
            _ => self.record_bytes += located.len - 2,
        }
        self.threads_end = located.offset + located.len;
        let is_kept = is_kept(&located.record, self.clock);
        match &located.record {
            Record::Descriptor(descriptor) => self.descriptors.push(Some(own_descriptor(descriptor))),
            Record::Hole => self.descriptors.push(None),
            Record::Malformed(_) if self.threads.is_empty() => self.descriptors.push(None),
            Record::Thread(thread) => self.take_thread(thread)?,
            Record::Switch(switch) if is_kept => self.take_switch(switch),
            Record::Block(block) if is_kept => self.take_block(block)?,
            Record::Value(value) if is_kept => self.take_value(value)?,
            _ => {}
        }
        self.kept += u64::from(is_kept);
        Ok(())
    }

    fn take_thread(&mut self, thread: &Thread<'_>) -> Result<()> {
        self.thread = thread.id;
        self.tree.thread(thread.id)?;
        let rows = self.threads.entry(thread.id).or_default();
        if !thread.name.is_empty() {
            rows.name = thread.name.text.to_vec();
        }
        Ok(())
    }

    fn take_switch(&mut self, switch: &Switch<'_>) {
        let (begin, end) = self.clock.span(switch.begin, switch.end);
        let mut golden = Map::new();
        golden.insert("begin".into(), begin.into());
        golden.insert("end".into(), end.into());
        golden.insert("tid".into(), switch.target.into());
        insert_text(&mut golden, "name", switch.name.text);
        let rows = self.threads.entry(self.thread).or_default();
        rows.wait_ns = rows.wait_ns.wrapping_add(end.wrapping_sub(begin));
        rows.switches.push(golden.into());
    }

    fn take_block(&mut self, block: &Block<'_>) -> Result<()> {
        let id = self.runtime_id(block);
        let runtime_name = block.name.text.to_vec();
        let times = (block.begin, block.end);
        self.take_row(BlockRow { times, descriptor: block.descriptor, id, runtime_name, ..BlockRow::default() })
    }

    fn take_value(&mut self, value: &Stored<'_>) -> Result<()> {
        let (descriptor, id) = (value.descriptor, value.descriptor as usize);
        let (times, value) = ((value.begin, value.end), Some(print_value(value)));
        self.take_row(BlockRow { times, descriptor, id, value, ..BlockRow::default() })
    }

    /// Adds a row as stored, converted to the time and order of the file.
    fn take_row(&mut self, mut row: BlockRow) -> Result<()> {
        (row.begin_ns, row.end_ns) = self.clock.span(row.times.0, row.times.1);
        row.file_index = self.kept;
        self.tree.push(row.begin_ns, row.end_ns)?;
        self.threads.entry(self.thread).or_default().blocks.push(self.blocks.len());
        self.blocks.push(row);
        Ok(())
    }

    /// easy_profiler gives every distinct runtime name in the file an id after those of the descriptors.
    fn runtime_id(&mut self, block: &Block<'_>) -> usize {
        if block.name.text.is_empty() {
            return block.descriptor as usize;
        }
        if let Some(id) = self.runtime.get(block.name.text) {
            return *id;
        }
        let id = self.header.descriptors_count as usize + self.runtime.len();
        self.runtime.insert(block.name.text.to_vec(), id);
        let mut golden = Map::new();
        golden.insert("id".into(), id.into());
        golden.insert("descriptor".into(), block.descriptor.into());
        insert_text(&mut golden, "name", block.name.text);
        self.runtime_ids.push(golden.into());
        id
    }

    fn print(self, source: &Source, all: &mut Map<String, Value>) -> Result<()> {
        let Self { header, clock, descriptors, threads, blocks, complete, .. } = self;
        let after = if complete { source.len()? - self.threads_end } else { 0 };
        all.insert(
            "raw_checks".into(),
            json!({
                "complete": complete,
                "sum_of_record_sizes": self.record_bytes,
                "sum_of_descriptor_sizes": self.descriptor_bytes,
                "bytes_after_threads": after,
            }),
        );
        all.insert("begin_ns".into(), clock.ns(header.begin_time).into());
        all.insert("end_ns".into(), clock.ns(header.end_time).into());
        all.insert("pid".into(), header.pid.unwrap_or(0).into());
        let golden = |descriptor: &Option<OwnedDescriptor>| descriptor.as_ref().map(|it| it.golden.clone());
        all.insert("descriptors".into(), descriptors.iter().map(golden).collect());
        all.insert("runtime_ids".into(), self.runtime_ids.into());
        let nodes = self.tree.finish()?.nodes().collect::<Result<Vec<_>>>()?;
        let printer = Printer { descriptors, blocks, nodes, complete, old_switches: header.version < Version::V1_3_0 };
        let threads = threads.iter().map(|(id, rows)| printer.thread(*id, rows));
        all.insert("threads".into(), threads.collect());
        all.insert("bookmarks".into(), self.bookmarks.into());
        Ok(())
    }
}

fn own_descriptor(descriptor: &Descriptor<'_>) -> OwnedDescriptor {
    let mut golden = Map::new();
    golden.insert("id".into(), descriptor.id.into());
    insert_text(&mut golden, "name", descriptor.name.text);
    insert_text(&mut golden, "file", descriptor.file.text);
    golden.insert("line".into(), descriptor.line.into());
    golden.insert("color".into(), color(descriptor.color));
    golden.insert("type".into(), descriptor.block_type.0.into());
    golden.insert("status".into(), descriptor.status.0.into());
    OwnedDescriptor { name: descriptor.name.text.to_vec(), block_type: descriptor.block_type, golden: golden.into() }
}

/// Prints the threads once the positions of all blocks are known.
struct Printer {
    descriptors: Vec<Option<OwnedDescriptor>>,
    blocks: Vec<BlockRow>,
    nodes: Vec<Node>,
    complete: bool,
    old_switches: bool,
}

impl Printer {
    fn thread(&self, id: u64, rows: &ThreadRows) -> Value {
        let mut roots = Vec::new();
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for block in &rows.blocks {
            match self.nodes[*block].parent {
                Some(parent) => children.entry(parent as usize).or_default().push(*block),
                None => roots.push(*block),
            }
        }
        let is_frame = |block: &&usize| self.block_type(**block) == BlockType::BLOCK;
        let profiled = roots.iter().fold(0u64, |sum, block| sum.wrapping_add(self.blocks[*block].duration_ns()));
        let deepest = rows.blocks.iter().map(|block| self.nodes[*block].depth).max().unwrap_or(0);
        let mut golden = Map::new();
        golden.insert("id".into(), id.into());
        insert_text(&mut golden, "name", &rows.name);
        golden.insert("depth".into(), (deepest + 1).into());
        golden.insert("frames".into(), roots.iter().filter(is_frame).count().into());
        golden.insert("blocks".into(), rows.blocks.len().into());
        golden.insert("profiled_ns".into(), profiled.into());
        golden.insert("wait_ns".into(), rows.wait_ns.into());
        golden.insert("context_switches".into(), rows.switches.clone().into());
        if self.old_switches && !rows.switches.is_empty() {
            golden.insert("upstream_misreads_switches".into(), true.into());
        }
        golden.insert("tree".into(), self.tree(&roots, &children));
        golden.insert("stats".into(), self.stats(&rows.blocks));
        golden.into()
    }

    /// Parents before children, siblings in file order.
    fn tree(&self, roots: &[usize], children: &HashMap<usize, Vec<usize>>) -> Value {
        let mut printed = Vec::new();
        let mut waiting: Vec<(usize, i64)> = roots.iter().rev().map(|root| (*root, -1)).collect();
        while let Some((block, parent)) = waiting.pop() {
            let n = printed.len() as i64;
            printed.push(self.block(block, n, parent));
            let below = children.get(&block).into_iter().flatten();
            waiting.extend(below.rev().map(|child| (*child, n)));
        }
        printed.into()
    }

    fn block(&self, index: usize, n: i64, parent: i64) -> Value {
        let row = &self.blocks[index];
        let is_runtime = !row.runtime_name.is_empty();
        let descriptor = self.descriptors.get(row.descriptor as usize).and_then(Option::as_ref);
        let descriptor_name = descriptor.map_or(&[][..], |descriptor| &descriptor.name);
        let mut golden = Map::new();
        golden.insert("n".into(), n.into());
        golden.insert("parent".into(), parent.into());
        golden.insert("depth".into(), self.nodes[index].depth.into());
        golden.insert("begin".into(), row.begin_ns.into());
        golden.insert("end".into(), row.end_ns.into());
        insert_text(&mut golden, "name", if is_runtime { &row.runtime_name } else { descriptor_name });
        golden.insert("desc".into(), row.descriptor.into());
        golden.insert("id".into(), row.id.into());
        golden.insert("file_index".into(), row.file_index.into());
        if self.complete {
            golden.insert("t0".into(), row.times.0.into());
            golden.insert("t1".into(), row.times.1.into());
        }
        if is_runtime {
            golden.insert("runtime".into(), true.into());
        }
        let kind = match (&row.value, self.block_type(index)) {
            (Some(_), _) => "value",
            (None, BlockType::BLOCK) => "block",
            (None, _) => "event",
        };
        golden.insert("kind".into(), kind.into());
        if let Some(value) = &row.value {
            golden.insert("value".into(), value.clone());
        }
        golden.into()
    }

    fn block_type(&self, block: usize) -> BlockType {
        let descriptor = self.descriptors.get(self.blocks[block].descriptor as usize);
        descriptor.and_then(Option::as_ref).map_or(BlockType::EVENT, |descriptor| descriptor.block_type)
    }

    fn stats(&self, blocks: &[usize]) -> Value {
        struct Stats {
            calls: u64,
            total: u64,
            min: u64,
            max: u64,
            children: u64,
        }
        let mut by_id: BTreeMap<usize, Stats> = BTreeMap::new();
        for block in blocks {
            let row = &self.blocks[*block];
            let fresh = Stats { calls: 0, total: 0, min: u64::MAX, max: 0, children: 0 };
            let stats = by_id.entry(row.id).or_insert(fresh);
            let duration = row.duration_ns();
            stats.calls += 1;
            stats.total = stats.total.wrapping_add(duration);
            stats.min = stats.min.min(duration);
            stats.max = stats.max.max(duration);
            stats.children = stats.children.wrapping_add(self.nodes[*block].children_ns);
        }
        let print = |(id, stats): (usize, Stats)| {
            let Stats { calls, total, min, max, children } = stats;
            json!({"id": id, "calls": calls, "total": total, "min": min, "max": max, "children": children})
        };
        by_id.into_iter().map(print).collect()
    }
}

fn print_value(value: &Stored<'_>) -> Value {
    let mut golden = Map::new();
    let data_type = value.data_type.name().map_or_else(|| value.data_type.0.into(), Value::from);
    golden.insert("type".into(), data_type);
    golden.insert("array".into(), (value.is_array != 0).into());
    golden.insert("size".into(), value.odd_data_size.map_or(value.data.len(), usize::from).into());
    golden.insert("vin".into(), value.value_id.into());
    if value.data_type == DataType::STRING {
        let text = value.data.split(|byte| *byte == 0).next().unwrap_or_default();
        insert_text(&mut golden, "data", text);
        if value.data.last() != Some(&0) {
            golden.insert("nul_terminated".into(), false.into());
        }
        return golden.into();
    }
    let elements = value.elements().map(|elements| elements.map(print_element).collect::<Vec<_>>());
    let (key, data) = match elements {
        Some(elements) if value.is_array != 0 => ("data", elements.into()),
        Some(elements) => ("data", elements.into_iter().next().unwrap_or_default()),
        None => ("data_hex", hex(value.data).into()),
    };
    golden.insert(key.into(), data);
    golden.into()
}

fn print_element(element: Element) -> Value {
    match element {
        Element::Bool(value) => value.into(),
        Element::Signed(value) => value.into(),
        Element::Unsigned(value) => value.into(),
        // The golden has nine digits, `%.9g`.
        Element::Float(value) if value.is_finite() => {
            format!("{value:.8e}").parse::<f64>().map_or(Value::Null, Value::from)
        }
        Element::Float(value) => print_double(value.into()),
        Element::Double(value) => print_double(value),
    }
}

fn print_double(value: f64) -> Value {
    match value {
        _ if value.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ => value.into(),
    }
}

fn color(argb: u32) -> Value {
    format!("{argb:#010x}").into()
}

/// Text unchanged if it is UTF-8, otherwise as `NAME_hex`.
fn insert_text(golden: &mut Map<String, Value>, name: &str, text: &[u8]) {
    match std::str::from_utf8(text) {
        Ok(text) => golden.insert(name.into(), text.into()),
        Err(_) => golden.insert(format!("{name}_hex"), hex(text).into()),
    };
}
