//! The ten lines of the README: records a log and a profile in the current folder.
use traceloom_record::{Recorder, info, span};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _recorder = Recorder::new().clog("app.clog").prof("app.prof").start()?; // dropping it writes everything
    for step in 1..=3 {
        let _span = span!("step");
        info!("step %d of %d", step, 3);
    }
    Ok(())
}
