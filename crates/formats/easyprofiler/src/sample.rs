//! A sample trace: a small game, made with the writer of this crate.
//!
//! The large files of the benchmarks come from the same generator; only the number of frames differs.

use std::io::Write;

use traceloom_core::{ByteOrder, Result, Sample};

use crate::{
    Block, Bookmark, Descriptor, Header, Name, Record, Switch, Tally, Thread, Value, create,
    raw::{BlockType, DataType, EASY_PROFILER_SIGNATURE, Layout, Version},
};

/// Number of frames in the sample; each makes about 18 records.
const FRAMES: u64 = 120;
/// Ticks per second, as Windows counts them.
const FREQUENCY: u64 = 10_000_000;
const BEGIN: u64 = 5 * FREQUENCY;
const FRAME_TICKS: u64 = FREQUENCY / 60;

/// The sample: a file of version 2.1.0.
pub fn sample() -> Result<Sample> {
    let bytes = write(Vec::new(), FRAMES)?;
    Ok(Sample::new("game.prof", bytes, "two seconds of a game, with two slow frames and a loader thread")
        .tries(&["slice --range 0.8s..0.9s {file} spike.prof"]))
}

/// Writes a trace of `size` frames; memory use does not grow with it.
pub fn write<W: Write>(out: W, size: u64) -> Result<W> {
    let layout = Layout::real(Version::V2_1_0, ByteOrder::Little);
    let mut tally = Tally::default();
    generate(size, &mut |record| {
        tally.count(record, &layout);
        Ok(())
    })?;
    let mut header = Header::new(layout, Version::V2_1_0);
    tally.fill(&mut header);
    header.pid = Some(4242);
    header.cpu_frequency = FREQUENCY as i64;
    header.begin_time = BEGIN;
    header.end_time = BEGIN + (size + 1) * FRAME_TICKS;
    let mut writer = create(out, &header)?;
    generate(size, &mut |record| writer.write(record))?;
    writer.finish()
}

type Emit<'e> = &'e mut dyn FnMut(&Record<'_>) -> Result<()>;

struct Kind(&'static str, BlockType, u32, i32, &'static str);

static KINDS: &[Kind] = &[
    Kind("Frame", BlockType::BLOCK, 0xff4c_af50, 41, "src/game/loop.cpp"),
    Kind("Update", BlockType::BLOCK, 0xff21_96f3, 52, "src/game/loop.cpp"),
    Kind("Physics", BlockType::BLOCK, 0xffff_9800, 17, "src/physics/world.cpp"),
    Kind("Collide", BlockType::BLOCK, 0xffff_5722, 88, "src/physics/broadphase.cpp"),
    Kind("Scripts", BlockType::BLOCK, 0xff9c_27b0, 23, "src/script/vm.cpp"),
    Kind("src/script/vm.cpp:61", BlockType::BLOCK, 0xffce_93d8, 61, "src/script/vm.cpp"),
    Kind("Render", BlockType::BLOCK, 0xfff4_4336, 30, "src/render/frame.cpp"),
    Kind("Cull", BlockType::BLOCK, 0xffff_ecb3, 77, "src/render/cull.cpp"),
    Kind("Draw", BlockType::BLOCK, 0xffff_ecb3, 104, "src/render/draw.cpp"),
    Kind("Vsync", BlockType::EVENT, 0xff21_2121, 33, "src/render/frame.cpp"),
    Kind("Frame time, ms", BlockType::VALUE, 0xff00_9688, 44, "src/game/loop.cpp"),
    Kind("Visible objects", BlockType::VALUE, 0xff00_9688, 80, "src/render/cull.cpp"),
    Kind("Load", BlockType::BLOCK, 0xff79_5548, 12, "src/assets/loader.cpp"),
    Kind("Decode", BlockType::BLOCK, 0xff8d_6e63, 35, "src/assets/loader.cpp"),
];

fn generate(frames: u64, emit: Emit<'_>) -> Result<()> {
    for (id, Kind(name, block_type, color, line, file)) in KINDS.iter().enumerate() {
        let file = Name::new(file.as_bytes());
        let descriptor = Descriptor::new(id as u32, *block_type, name.as_bytes());
        emit(&Record::Descriptor(Descriptor { line: *line, color: *color, file, ..descriptor }))?;
    }
    thread(&Script { id: 4242, name: "Main", turns: frames, turn: main_frame }, emit)?;
    thread(&Script { id: 4243, name: "Loader", turns: frames / 4, turn: loader_job }, emit)?;
    emit(&Record::Mark(EASY_PROFILER_SIGNATURE))?;
    for (at, text) in [(frames / 3, "the level is loaded"), (frames / 2, "the boss appears")] {
        let position_ns = (BEGIN + at * FRAME_TICKS) * (1_000_000_000 / FREQUENCY);
        emit(&Record::Bookmark(Bookmark::new(position_ns, text.as_bytes())))?;
    }
    emit(&Record::Mark(EASY_PROFILER_SIGNATURE))
}

/// The actions of a thread, turn by turn.
struct Script {
    id: u64,
    name: &'static str,
    turns: u64,
    turn: fn(u64, &mut Noise, Emit<'_>) -> Result<()>,
}

/// Emits a thread's section: a dry run counts the blocks first.
fn thread(script: &Script, emit: Emit<'_>) -> Result<()> {
    let Script { id, turns, turn, .. } = *script;
    let mut blocks = 0;
    let mut noise = Noise(id);
    (0..turns).try_for_each(|index| {
        turn(index, &mut noise, &mut |_| {
            blocks += 1;
            Ok(())
        })
    })?;
    let switches = turns / 2;
    emit(&Record::Thread(Thread { id, name: Name::new(script.name.as_bytes()), switches: switches as u32 }))?;
    let mut noise = Noise(id + 1);
    for index in 0..switches {
        let begin = BEGIN + index * 2 * FRAME_TICKS + FRAME_TICKS * 9 / 10;
        let end = begin + 100 + noise.below(FRAME_TICKS / 20);
        let switch = Switch::new(begin, end, 7001 + noise.below(3));
        emit(&Record::Switch(Switch { name: Name::new(b"7 compositor"), ..switch }))?;
    }
    emit(&Record::Blocks(blocks))?;
    let mut noise = Noise(id);
    (0..turns).try_for_each(|index| turn(index, &mut noise, emit))
}

/// One frame of the main thread, children before parents.
fn main_frame(index: u64, noise: &mut Noise, emit: Emit<'_>) -> Result<()> {
    let begin = BEGIN + index * FRAME_TICKS;
    // Every fiftieth frame is slow, to have something to find.
    let slow = if index % 50 == 49 { 3 } else { 1 };
    let mut now = begin + 50;
    let update = now;
    let physics = now + 20;
    now = physics + 30;
    for _ in 0..4 {
        now = block(3, now, 900 * slow + noise.below(2_000), b"", emit)? + 40;
    }
    now = close(2, physics, now, emit)?;
    let scripts = now + 25;
    now = scripts + 10;
    for name in [&b"door.lua"[..], b"enemy.lua", b"hud.lua"] {
        now = block(5, now, 300 + noise.below(1_500), name, emit)? + 15;
    }
    now = close(4, scripts, now, emit)?;
    now = close(1, update, now + 5, emit)?;
    let render = now + 40;
    let visible = 200 + noise.below(90);
    value(11, render + 10, DataType::UINT32, &(visible as u32).to_le_bytes(), emit)?;
    now = block(7, render + 20, visible * 4, b"", emit)?;
    for _ in 0..3 {
        now = block(8, now + 30, 1_200 * slow + noise.below(3_000), b"", emit)?;
    }
    now = close(6, render, now + 60, emit)?;
    block(9, now + 10, 0, b"", emit)?;
    let ms = (now - begin) as f64 * 1e3 / FREQUENCY as f64;
    value(10, now + 20, DataType::DOUBLE, &ms.to_le_bytes(), emit)?;
    close(0, begin, now + 40, emit)?;
    Ok(())
}

fn loader_job(index: u64, noise: &mut Noise, emit: Emit<'_>) -> Result<()> {
    let begin = BEGIN + index * 4 * FRAME_TICKS + noise.below(FRAME_TICKS);
    let name = format!("textures/{:03}.ktx", index % 200);
    let end = block(13, begin + 800, 4_000 + noise.below(30_000), b"", emit)?;
    let block = Block { name: Name::new(name.as_bytes()), ..Block::new(12, begin, end + 200) };
    emit(&Record::Block(block))
}

fn block(descriptor: u32, begin: u64, ticks: u64, name: &[u8], emit: Emit<'_>) -> Result<u64> {
    let block = Block { name: Name::new(name), ..Block::new(descriptor, begin, begin + ticks) };
    emit(&Record::Block(block))?;
    Ok(begin + ticks)
}

/// A block around the previous ones.
fn close(descriptor: u32, begin: u64, end: u64, emit: Emit<'_>) -> Result<u64> {
    block(descriptor, begin, end - begin, b"", emit)
}

fn value(descriptor: u32, at: u64, data_type: DataType, data: &[u8], emit: Emit<'_>) -> Result<()> {
    let value = Value::new(descriptor, at, data_type, data);
    emit(&Record::Value(Value { value_id: u64::from(descriptor), ..value }))
}

/// Reproducible noise: the sample is the same on every machine.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound.max(1)
    }
}
