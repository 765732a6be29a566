//! A small game loop that records itself: frames, spans, values, a loader thread, and a flight recorder for slow frames.
//!
//! `cargo run -p traceloom-record --example game -- FOLDER`, then `traceloom FOLDER/game.prof`.

use std::{hint::black_box, path::PathBuf, thread, time::Duration};

use traceloom_record::{Recorder, bookmark, event, frame, info, range, span, thread_name, value};

const FRAMES: u32 = 120;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    let recorder = Recorder::new()
        .prof(folder.join("game.prof"))
        .wtf_trace(folder.join("game.wtf-trace"))
        .clog(folder.join("game.clog"));
    let guard = recorder.start()?;
    thread_name!("Main");
    let level = range!("load level");
    let loader = thread::Builder::new().name("Loader".to_owned()).spawn(move || {
        for name in ["forest", "castle", "dragon"] {
            let _work = level.enter();
            let _asset = span!("load asset", text: name);
            info!("loading %s", name);
            thread::sleep(Duration::from_millis(5));
        }
        bookmark!("the level is loaded");
    })?;
    (0..FRAMES).for_each(play);
    loader.join().map_err(|_| "the loader panicked")?;
    guard.close()?;
    Ok(())
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
