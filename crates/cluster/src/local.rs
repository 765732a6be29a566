//! A whole cluster on this machine.

use std::{
    env,
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use traceloom_core::{Error, Result};

use crate::args;

/// How long the executors may take to register.
const START: Duration = Duration::from_secs(60);

/// Starts a scheduler and executors, and waits until one of them ends or the user interrupts.
pub(crate) fn run(arguments: &args::Local) -> Result<()> {
    if arguments.with_parent {
        thread::spawn(crate::end_with_parent);
    }
    let port = if arguments.port == 0 { free_port()? } else { arguments.port };
    let (text, count) = (port.to_string(), arguments.executors.to_string());
    let mut cluster = Cluster(Vec::new());
    cluster.start(&["scheduler", "--port", &text, "--min-executors", &count])?;
    let slots = arguments.slots.to_string();
    for _ in 0..arguments.executors {
        let [data, tasks] = [free_port()?.to_string(), free_port()?.to_string()];
        let ports = ["--scheduler-port", &text, "--port", &data, "--grpc-port", &tasks];
        cluster.start(&[&["executor"], &ports[..], &["--slots", &slots]].concat())?;
    }
    cluster.wait_until_ready(port)?;
    println!("http://{}:{port}", Ipv4Addr::LOCALHOST);
    io::stdout().flush()?;
    loop {
        cluster.check()?;
        thread::sleep(Duration::from_millis(500));
    }
}

/// Child processes that end with this one: each reads a pipe that closes with it.
struct Cluster(Vec<Child>);

impl Cluster {
    fn start(&mut self, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(env::current_exe()?);
        command.args(arguments).arg("--with-parent").stdin(Stdio::piped()).stdout(Stdio::null());
        self.0.push(command.spawn()?);
        Ok(())
    }

    /// Fails if the scheduler or all executors have ended.
    fn check(&mut self) -> Result<()> {
        let mut alive = Vec::new();
        for child in &mut self.0 {
            alive.push(child.try_wait()?.is_none());
        }
        if alive.first() == Some(&true) && alive.contains(&true) && alive[1..].contains(&true) {
            return Ok(());
        }
        let what = if alive.first() == Some(&true) { "all executors" } else { "the scheduler" };
        Err(Error::from(io::Error::other(format!("{what} ended; --verbose shows why"))))
    }

    fn wait_until_ready(&mut self, port: u16) -> Result<()> {
        let end = Instant::now() + START;
        while !is_ready(port).unwrap_or(false) {
            self.check()?;
            if Instant::now() > end {
                return Err(Error::from(io::Error::from(io::ErrorKind::TimedOut)));
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may already have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Asks the scheduler whether all executors are registered.
fn is_ready(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer)?;
    Ok(answer == *b"HTTP/1.1 200")
}

/// A port that was free a moment ago.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
