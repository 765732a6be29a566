//! Edits keep what can be kept: whole blocks, and threads apart.

use traceloom_core::{ByteOrder, Options, Records, Result, Source};
use traceloom_easyprofiler::{
    Block, Descriptor, Header, Name, Record, Switch, Tally, Thread, create, edit, open,
    raw::{BlockType, EASY_PROFILER_SIGNATURE, Layout, Status, Version},
};

/// A file of version 2.1.0 with one descriptor.
struct Made {
    header: Header,
    records: Vec<Record<'static>>,
}

impl Made {
    fn new(begin_time: u64) -> Self {
        let mut header = Header::new(Layout::real(Version::V2_1_0, ByteOrder::Little), Version::V2_1_0);
        (header.pid, header.begin_time) = (Some(1), begin_time);
        let descriptor = Descriptor {
            id: 0,
            line: 7,
            color: 0,
            block_type: BlockType::BLOCK,
            status: Status::ON,
            name: Name::new(b"work"),
            file: Name::new(b"work.cpp"),
            odd_size: None,
            odd_name_size: None,
        };
        Self { header, records: vec![Record::Descriptor(descriptor)] }
    }

    fn thread(&mut self, id: u64, switches: &[(u64, u64, u64)], blocks: &[(u64, u64)]) {
        self.records.push(Record::Thread(Thread { id, name: Name::new(b"t"), switches: switches.len() as u32 }));
        let switch =
            |(begin, end, target)| Record::Switch(Switch { begin, end, target, name: Name::new(b""), odd_size: None });
        self.records.extend(switches.iter().copied().map(switch));
        self.records.push(Record::Blocks(blocks.len() as u32));
        let block = |(begin, end)| {
            let (name, block_type) = (Name::new(b""), BlockType::BLOCK);
            Record::Block(Block { begin, end, descriptor: 0, name, block_type, odd_size: None })
        };
        self.records.extend(blocks.iter().copied().map(block));
    }

    fn source(mut self) -> Result<Source> {
        let mut tally = Tally::default();
        self.records.iter().for_each(|record| tally.count(record, &self.header.layout));
        tally.fill(&mut self.header);
        let mut writer = create(Vec::new(), &self.header)?;
        self.records.iter().try_for_each(|record| writer.write(record))?;
        writer.write(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
        Ok(Source::bytes(writer.finish()?))
    }
}

/// Begin and end.
type Times = (u64, u64);

/// Begin and end of every block and switch as tables show them, and the ids of all threads and targets.
fn told(bytes: Vec<u8>) -> Result<(Vec<Times>, Vec<u64>)> {
    let mut reader = open(Source::bytes(bytes), &Options::strict())?;
    let clock = reader.clock();
    let (mut times, mut ids) = (Vec::new(), Vec::new());
    while let Some(located) = reader.next()? {
        match located.record {
            Record::Thread(thread) => ids.push(thread.id),
            Record::Switch(switch) => {
                ids.push(switch.target);
                times.push(clock.span(switch.begin, switch.end));
            }
            Record::Block(block) => times.push(clock.span(block.begin, block.end)),
            _ => {}
        }
    }
    Ok((times, ids))
}

/// A begin that lies after the records makes the original drop them; one that is too late by less would cut them.
#[test]
fn a_late_begin_costs_nothing() -> Result<()> {
    let mut made = Made::new(5_000);
    made.thread(3, &[(1_010, 1_050, 4)], &[(1_010, 1_040), (1_005, 1_100), (1_200, 1_300)]);
    let mut out = Vec::new();
    let edited = edit::repair(&made.source()?, &mut out, &Options::default())?;
    assert!(edited.loss.is_empty(), "{:?}", edited.loss);
    let (times, _) = told(out)?;
    assert_eq!(times, [(1_010, 1_050), (1_010, 1_040), (1_005, 1_100), (1_200, 1_300)]);
    Ok(())
}

/// Captures over the network do not say when they began; their records do.
#[test]
fn live_captures_are_merged_by_time() -> Result<()> {
    let capture = |blocks: &[(u64, u64)]| {
        let mut made = Made::new(0);
        made.thread(3, &[], blocks);
        made.source()
    };
    let (early, late) = (capture(&[(100, 150), (90, 200)])?, capture(&[(1_000, 1_100)])?);
    for files in [[early.clone(), late.clone()], [late, early]] {
        let mut out = Vec::new();
        edit::merge(&files, &mut out, &Options::default())?;
        let (times, _) = told(out)?;
        assert_eq!(times, [(100, 150), (90, 200), (1_000, 1_100)], "else the later would be a child of the earlier");
    }
    Ok(())
}

/// Ids become narrower in older versions; one that is made up must not be another thread's.
#[test]
fn narrow_ids_keep_threads_apart() -> Result<()> {
    let wide = 1 << 40;
    let mut made = Made::new(10);
    made.thread(u32::MAX.into(), &[(11, 12, wide), (13, 14, u64::from(u32::MAX) - 1)], &[(20, 30)]);
    made.thread(wide, &[], &[(25, 40)]);
    let mut out = Vec::new();
    edit::canonical(&made.source()?, &mut out, Some("1.2.0"), &Options::default())?;
    let (_, ids) = told(out)?;
    let [first, target, other, second] = ids[..] else { panic!("{ids:?}") };
    assert_eq!((first, other), (u32::MAX.into(), u64::from(u32::MAX) - 1), "what fits stays");
    assert_eq!(target, second, "a switch still leads to its thread");
    assert!(![first, other].contains(&second), "{ids:?}");
    Ok(())
}
