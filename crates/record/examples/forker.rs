//! Forks while it records; the test reads the logs of both processes.

use traceloom_record::{Recorder, info};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the log to write is missing")?;
    let guard = Recorder::new().clog(path).start()?;
    let _busy = std::thread::spawn(|| {
        (0..100).for_each(|_| {
            info!("busy");
            std::thread::sleep(std::time::Duration::from_micros(100));
        });
    });
    info!("before");
    std::thread::sleep(std::time::Duration::from_millis(20));
    match fork::fork() {
        Ok(fork::Fork::Child) => (0..1000).for_each(|number| info!("child %d", number)),
        Ok(fork::Fork::Parent(child)) => {
            fork::waitpid(child).map_err(|_| "the child cannot be waited for")?;
            println!("{child}");
            info!("after");
        }
        Err(_) => return Err("no fork".into()),
    }
    guard.close()?;
    Ok(())
}
