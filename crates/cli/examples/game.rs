//! A small game loop that records itself: frames, spans, values, a bookmark, and a loader thread.
//!
//! `cargo run -p traceloom-cli --example game`, then `traceloom game.prof`. `traceloom demo` plays it as well.

use std::{hint::black_box, path::Path, thread, time::Duration};

use traceloom_core::Result;
use traceloom_record::{Recorder, bookmark, event, frame, info, range, span, thread_name, value};

const FRAMES: u32 = 120;

fn main() -> Result<()> {
    record(Path::new(&std::env::args().nth(1).unwrap_or_else(|| "game".to_owned())))
}

/// Runs the game and writes a profile, a trace and a log named `base`.
pub(crate) fn record(base: &Path) -> Result<()> {
    let file = |extension| base.with_extension(extension);
    let guard = Recorder::new().prof(file("prof")).wtf_trace(file("wtf-trace")).clog(file("clog")).start()?;
    thread_name!("Main");
    thread::scope(|scope| {
        scope.spawn(load);
        (0..FRAMES).for_each(play);
    });
    guard.close()
}

fn load() {
    thread_name!("Loader");
    let level = range!("load level");
    for name in ["forest", "castle", "dragon"] {
        let _work = level.enter();
        let _asset = span!("load asset", text: name);
        info!("loading %s", name);
        thread::sleep(Duration::from_millis(5));
    }
    bookmark!("the level is loaded");
}

fn play(number: u32) {
    let _frame = frame!("frame");
    let enemies = 10 + number % 7;
    {
        let _update = span!("update", color: 0xff21_96f3);
        for _ in 0..enemies {
            let _think = span!("think");
            burn(20);
        }
        value!("enemies", enemies);
    }
    let _draw = span!("draw", color: 0xfff4_4336);
    // Two frames take far too long.
    burn(if number % 50 == 49 { 20_000 } else { 500 });
    event!("present");
}

fn burn(rounds: u64) {
    (0..rounds * 10).for_each(|round| {
        black_box(round.wrapping_mul(round));
    });
}
