//! Traces that grow while the page shows them.

use std::{env, thread, time::Duration};

use serde_json::json;
use traceloom_record::{Recorder, info, span, value, warn};

use super::served::{place, run_alone, sample};

/// The program that the page watches; the script starts this test binary.
#[test]
#[ignore = "runs until the script of a test ends it"]
fn watched_program() {
    let Ok(socket) = env::var("TRACELOOM_WATCHED") else { return };
    let _recorder = Recorder::new().serve(&socket).start().unwrap();
    for frame in 0..u32::MAX {
        let _frame = span!("Frame");
        for _ in 0..3 {
            let _simulate = span!("Simulate");
            let _collide = span!("Collide");
        }
        value!("load", f64::from(frame % 100));
        info!("frame %u", frame);
        if frame % 10 == 0 {
            warn!("ten frames until %u", frame);
        }
        thread::sleep(Duration::from_millis(4));
    }
}

#[test]
fn a_program_is_watched_while_it_runs() {
    let place = place("live");
    let watched = [env::current_exe().unwrap().to_str().unwrap(), "--exact", "live::watched_program", "--ignored"]
        .map(str::to_owned);
    run_alone("live.mjs", &[], json!({"check": "program", "folder": place, "watched": watched}));
}

#[test]
fn memory_grows_with_its_file() {
    let file = sample("live-memory", "shop.mlyze");
    let folder = file.parent().unwrap();
    run_alone("live.mjs", &[], json!({"check": "memory", "folder": folder, "whole": file}));
}
