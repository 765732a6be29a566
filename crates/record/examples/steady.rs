//! Serves spans, values and log lines at a steady rate until it is killed: `steady ADDRESS [SPANS_PER_SECOND]`.

use std::{
    thread,
    time::{Duration, Instant},
};

use traceloom_record::{Recorder, info, span, value};

/// How often per second the rate is adjusted.
const STEPS_PER_SECOND: u64 = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().ok_or("the address to serve at is missing")?;
    let rate: u64 = arguments.next().map_or(Ok(83_334), |rate| rate.parse())?;
    let _recorder = Recorder::new().serve(&address).start()?;
    let started = Instant::now();
    let mut spans = 0;
    for step in 1.. {
        let wanted = rate * step / STEPS_PER_SECOND;
        while spans < wanted {
            let _frame = span!("Frame");
            for _ in 0..4 {
                let _simulate = span!("Simulate");
                let _collide = span!("Collide");
            }
            spans += 9;
        }
        value!("load", (step % 100) as f64);
        if step % 10 == 0 {
            info!("step %u", step);
        }
        let due = Duration::from_nanos(step * 1_000_000_000 / STEPS_PER_SECOND);
        thread::sleep(due.saturating_sub(started.elapsed()));
    }
    Ok(())
}
