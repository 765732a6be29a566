//! A page that draws for any length of time: the mix of events of a real recording.

use std::io::Write;

use traceloom_core::Result;

use crate::{
    Composer, FileInfo, Form, HAS_HIGH_RESOLUTION_TIMES, TypeId, Value, ZoneId,
    raw::{EventClass, EventFlags},
};

/// Records the page until there are about `events` events.
pub(super) fn record<W: Write>(out: W, events: u64) -> Result<W> {
    let mut page = Page::new(out)?;
    for frame in 0..u32::try_from(events / EVENTS_PER_FRAME).unwrap_or(u32::MAX) {
        page.frame(frame)?;
    }
    page.composer.finish()
}

struct Page<W> {
    composer: Composer<W>,
    script: ZoneId,
    gpu: ZoneId,
    leave: TypeId,
    frame_start: TypeId,
    frame_end: TypeId,
    update: TypeId,
    tick: TypeId,
    draw: TypeId,
    visible: TypeId,
    submit: TypeId,
    random: u64,
    now_us: i64,
}

const TICKS: u32 = 8;
const DRAWS: u32 = 4;
const EVENTS_PER_FRAME: u64 = 2 + 2 + 3 * TICKS as u64 + 2 * DRAWS as u64 + 2;

impl<W: Write> Page<W> {
    fn new(out: W) -> Result<Self> {
        let info = FileInfo { flags: HAS_HIGH_RESOLUTION_TIMES, timebase_ms: 1.7e12, ..FileInfo::default() };
        let mut composer = Composer::new(out, Form::Binary, &info)?;
        let mut define = |name, class, args| composer.define(name, class, EventFlags(0), args);
        let (scope, instance) = (EventClass::SCOPE, EventClass::INSTANCE);
        Ok(Self {
            update: define("game.World#update", scope, "uint32 frame, float32 delta")?,
            tick: define("game.Entity#tick", scope, "uint16 entity")?,
            draw: define("gl#drawElements", scope, "uint32 mode, uint32 count")?,
            visible: define("game.Entity#visible", instance, "bool visible")?,
            submit: define("gpu#submit", scope, "")?,
            leave: composer.builtin("wtf.scope#leave")?,
            frame_start: composer.builtin("wtf.timing#frameStart")?,
            frame_end: composer.builtin("wtf.timing#frameEnd")?,
            script: composer.zone(Some("Script"), Some("script"), Some("game.html"))?,
            gpu: composer.zone(Some("GPU"), Some("native_gpu"), None)?,
            composer,
            random: 0x2545_f491_4f6c_dd1d,
            now_us: 1000,
        })
    }

    fn frame(&mut self, frame: u32) -> Result<()> {
        self.put(self.frame_start, [Value::Uint(frame)])?;
        self.put(self.update, [Value::Uint(frame), Value::Float(0.016)])?;
        for entity in 0..TICKS {
            self.put(self.tick, [Value::Uint(entity)])?;
            self.put(self.visible, [Value::Bool(entity % 3 == 0)])?;
            self.put(self.leave, [])?;
        }
        self.put(self.leave, [])?;
        for count in 0..DRAWS {
            self.put(self.draw, [Value::Uint(4), Value::Uint(36 * count)])?;
            self.put(self.leave, [])?;
        }
        self.composer.event(self.gpu, self.submit, self.now_us, [])?;
        self.composer.event(self.gpu, self.leave, self.now_us + 20, [])?;
        self.put(self.frame_end, [Value::Uint(frame)])
    }

    /// An event of the script, a little later than the previous one.
    fn put<const N: usize>(&mut self, kind: TypeId, values: [Value<'_>; N]) -> Result<()> {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.now_us += (self.random >> 33) as i64 % 50;
        self.composer.event(self.script, kind, self.now_us, values)
    }
}
