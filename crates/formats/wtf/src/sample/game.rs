//! A small game, recorded for a little over two seconds: it has everything that a trace can hold.

use traceloom_core::{Random, Result};

use crate::{
    Builtins, Composer, FileInfo, Form, HAS_HIGH_RESOLUTION_TIMES, Text, TypeId, Value, ZoneId,
    raw::{Element, EventClass, EventFlags, PartType},
};

const FRAMES: u32 = 120;
const FRAME_US: i64 = 16_667;

/// Records the game.
pub(super) fn record() -> Result<Vec<u8>> {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &info())?;
    let types = Types::define(&mut composer)?;
    let zones = Zones {
        script: composer.zone(Some("Script"), Some("script"), Some("http://localhost:8080/game.html"))?,
        network: composer.zone(Some("Network"), Some("native_script"), Some("socket.js"))?,
        gpu: composer.zone(Some("GPU"), Some("native_gpu"), None)?,
    };
    let mut game = Game { composer, types, zones, random: Random(0x2545_f491_4f6c_dd1d), requests: 0 };
    game.composer.resource(PartType::STRING_RESOURCE, b"void main() { gl_FragColor = vec4(1.0); }\n")?;
    game.play()?;
    game.composer.finish()
}

fn info() -> FileInfo {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    FileInfo {
        flags: HAS_HIGH_RESOLUTION_TIMES,
        timebase_ms: 1_700_000_000_000.0,
        context: vec![
            pair("contextType", "script"),
            pair("uri", "http://localhost:8080/game.html"),
            pair("title", "Sample game"),
            pair("userAgent.type", "webkit"),
            pair("userAgent.platform", "linux"),
        ],
        metadata: vec![pair("scene", "forest")],
        json: Vec::new(),
    }
}

struct Types {
    builtins: Builtins,
    update: TypeId,
    tick: TypeId,
    path: TypeId,
    look: TypeId,
    draw: TypeId,
    gc: TypeId,
    request: TypeId,
    receive: TypeId,
    submit: TypeId,
    log: TypeId,
}

impl Types {
    fn define(composer: &mut Composer<Vec<u8>>) -> Result<Self> {
        let plain = EventFlags(0);
        let (scope, instance) = (EventClass::SCOPE, EventClass::INSTANCE);
        Ok(Self {
            builtins: Builtins::define(composer)?,
            update: composer.define("game.World#update", scope, plain, "uint32 frame, float32 delta")?,
            tick: composer.define("game.Entity#tick", scope, plain, "uint16 entity")?,
            path: composer.define("game.Path#find", scope, plain, "uint16 nodes")?,
            look: composer.define("game.Map#neighbors", scope, plain, "")?,
            draw: composer.define("gl#drawElements", scope, plain, "uint32 mode, uint32 count, uint16[] indices")?,
            gc: composer.define("javascript#gc", scope, EventFlags::SYSTEM_TIME, "uint32 freed")?,
            request: composer.define("net#request", scope, plain, "ascii url")?,
            receive: composer.define("net#receive", scope, plain, "uint32 size")?,
            submit: composer.define("gpu#submit", scope, plain, "uint8 pass")?,
            log: composer.define("app#log", instance, plain, "ascii level, utf8 text, any data")?,
        })
    }
}

struct Zones {
    script: ZoneId,
    network: ZoneId,
    gpu: ZoneId,
}

struct Game {
    composer: Composer<Vec<u8>>,
    types: Types,
    zones: Zones,
    random: Random,
    requests: u32,
}

impl Game {
    fn play(&mut self) -> Result<()> {
        let script = self.zones.script;
        let mut start = 1000;
        for frame in 0..FRAMES {
            if let Some(name) = [(0, "load"), (30, "play"), (100, "score")].iter().find(|(at, _)| *at == frame) {
                self.put(script, self.types.builtins.mark, start, [text(name.1), Value::Any(None)])?;
            }
            self.put(script, self.types.builtins.frame_start, start, [Value::Uint(frame)])?;
            let end = self.frame(frame, start + 20)?;
            self.put(script, self.types.builtins.frame_end, end, [Value::Uint(frame)])?;
            // If a frame takes too long, the screen shows the last one again.
            start += FRAME_US * ((end - start) / FRAME_US + 1);
        }
        Ok(())
    }

    fn frame(&mut self, frame: u32, start: i64) -> Result<i64> {
        let script = self.zones.script;
        let mut now = start;
        self.put(script, self.types.update, now, [Value::Uint(frame), Value::Float(0.016)])?;
        for entity in 0..4 {
            self.put(script, self.types.tick, now + 10, [Value::Uint(entity)])?;
            now += 100 + self.roll(700);
            if (frame + entity).is_multiple_of(3) {
                now = self.find_path(now + 5)?;
            }
            self.put(script, self.types.builtins.leave, now, [])?;
        }
        let alive = format!("{{\"alive\":{}}}", 4 + frame % 3);
        self.put(script, self.types.builtins.append, now, [text("world"), any(&alive)])?;
        now += 50;
        self.put(script, self.types.builtins.leave, now, [])?;
        if frame % 15 == 7 {
            now = self.request(now + 5)?;
        }
        now = self.draw(frame, now + 30)?;
        if frame % 40 == 20 {
            self.put(script, self.types.gc, now, [Value::Uint(frame * 1024)])?;
            // Each collection has more to search through than the previous one.
            now += 12_000 + i64::from(frame) * 420 + self.roll(4000);
            self.put(script, self.types.builtins.leave, now, [])?;
            let data = format!("[{frame},null,\"é\"]");
            self.put(script, self.types.log, now + 1, [text("warn"), text("slow frame — garbage"), any(&data)])?;
        }
        Ok(now + 10)
    }

    fn find_path(&mut self, start: i64) -> Result<i64> {
        let mut now = start;
        self.put(self.zones.script, self.types.path, now, [Value::Uint(12)])?;
        for _ in 0..2 {
            now += 20 + self.roll(120);
            self.put(self.zones.script, self.types.look, now, [])?;
            now += 60 + self.roll(240);
            self.put(self.zones.script, self.types.builtins.leave, now, [])?;
        }
        now += 25;
        self.put(self.zones.script, self.types.builtins.leave, now, [])?;
        Ok(now + 5)
    }

    fn draw(&mut self, frame: u32, start: i64) -> Result<i64> {
        let mut now = start;
        let indices: Vec<u8> = (0..6_u16).flat_map(|index| (index + frame as u16).to_le_bytes()).collect();
        for count in [36, 720] {
            let array = Value::Array(Some(crate::Array::new(Element::Uint16, &indices)));
            self.put(self.zones.script, self.types.draw, now, [Value::Uint(4), Value::Uint(count), array])?;
            now += 40 + self.roll(200);
            self.put(self.zones.script, self.types.builtins.leave, now, [])?;
        }
        let took = 2000 + self.roll(6000);
        self.put(self.zones.gpu, self.types.submit, now, [Value::Uint(frame % 2)])?;
        self.put(self.zones.gpu, self.types.builtins.leave, now + took, [])?;
        Ok(now)
    }

    /// A request that is answered in another zone: a flow and a range lead there.
    fn request(&mut self, start: i64) -> Result<i64> {
        self.requests += 1;
        let id = self.requests;
        let (script, network) = (self.zones.script, self.zones.network);
        let url = format!("/level/{id}.json");
        self.put(script, self.types.request, start, [text(&url)])?;
        let branch = [Value::Flow(id), Value::Flow(0), text("level"), Value::Any(None)];
        self.put(script, self.types.builtins.branch, start + 5, branch)?;
        self.put(
            script,
            self.types.builtins.range_begin,
            start + 6,
            [Value::Uint(id), text("loading"), any(&id.to_string())],
        )?;
        self.put(script, self.types.builtins.leave, start + 60, [])?;
        let answer = start + 3000 + self.roll(5000);
        self.put(network, self.types.receive, answer, [Value::Uint(id * 1000)])?;
        self.put(network, self.types.builtins.extend, answer + 5, [Value::Flow(id), text("parse"), Value::Any(None)])?;
        self.put(network, self.types.builtins.terminate, answer + 300, [Value::Flow(id), Value::Any(None)])?;
        self.put(network, self.types.builtins.range_end, answer + 310, [Value::Uint(id)])?;
        self.put(network, self.types.builtins.leave, answer + 400, [])?;
        Ok(start + 60)
    }

    fn put<'v, const N: usize>(
        &mut self,
        zone: ZoneId,
        kind: TypeId,
        time_us: i64,
        values: [Value<'v>; N],
    ) -> Result<()> {
        self.composer.event(zone, kind, time_us, values)
    }

    fn roll(&mut self, most: u64) -> i64 {
        self.random.below(most) as i64
    }
}

fn text(text: &str) -> Value<'_> {
    Value::Text(Some(Text::utf8(text.as_bytes())))
}

fn any(json: &str) -> Value<'_> {
    Value::Any(Some(Text::utf8(json.as_bytes())))
}
