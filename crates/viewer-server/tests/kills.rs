//! Kills a program and the viewer that watches it, again and again: the other side continues, and everything that the
//! viewer confirmed is in its file.
#![cfg(unix)]

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use traceloom_core::live::{Address, Decoder, Frame, greeting};
use traceloom_record::{Recorder, info, span};
use traceloom_testkit::client;
use traceloom_viewer_server::{Keep, Live, LiveSource, Options, start};

const TOKEN: &str = "secret";
/// Nothing here takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn either_side_survives_the_end_of_the_other() {
    kill(6, 1);
}

#[test]
#[ignore = "takes a minute"]
fn either_side_survives_fifty_ends_of_the_other() {
    kill(50, 2);
    kill(50, 3);
}

/// The watched program, which is this test binary.
#[test]
#[ignore = "is killed by the tests"]
fn program() {
    let Ok(folder) = std::env::var("TRACELOOM_KILLS") else { return };
    let socket = Path::new(&folder).join("program.sock");
    let _recorder = Recorder::new().serve(socket.to_str().unwrap()).serve_token(TOKEN).start().unwrap();
    for round in 0.. {
        let _outer = span!("outer");
        for _ in 0..100 {
            let _inner = span!("inner");
            info!("round %d", round);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// The viewer, which prints the URL of its page.
#[test]
#[ignore = "is killed by the tests"]
fn viewer() {
    let Ok(folder) = std::env::var("TRACELOOM_KILLS") else { return };
    let output = PathBuf::from(std::env::var_os("TRACELOOM_OUTPUT").unwrap());
    let address = Address::Unix(Path::new(&folder).join("relay.sock"));
    let from = LiveSource::Program { address, token: Some(TOKEN.to_owned()), output };
    let options = Options { live: Some(Live { from, keep: Keep::default() }), ..Options::default() };
    let mut viewer = start(options.clone());
    // The program may not have started yet.
    until("the program lets nobody in", || {
        if viewer.is_err() {
            viewer = start(options.clone());
        }
        viewer.is_ok()
    });
    let viewer = viewer.unwrap();
    println!("\nat {}", viewer.url());
    viewer.wait();
}

/// One side as a process, which dies with the test.
struct Process(Child);

impl Process {
    fn start(role: &str, folder: &Path, output: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", role, "--ignored", "--nocapture"]).stdin(Stdio::null()).stdout(Stdio::piped());
        Self(command.env("TRACELOOM_KILLS", folder).env("TRACELOOM_OUTPUT", output).spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// The next line with the URL of the page.
    fn url(&mut self) -> String {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        lines.map(Result::unwrap).find_map(|line| line.strip_prefix("at ").map(str::to_owned)).expect("an address")
    }
}

impl Drop for Process {
    /// `SIGKILL`.
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// The bytes of a connection.
#[derive(Default)]
struct Carried {
    trace: Vec<u8>,
    confirmed: u64,
}

/// A proxy between the two that records their bytes.
#[derive(Clone, Default)]
struct Relay(Arc<Mutex<Vec<Carried>>>);

impl Relay {
    fn start(folder: &Path) -> Self {
        let relay = Self::default();
        let (listener, program) = (UnixListener::bind(folder.join("relay.sock")).unwrap(), folder.join("program.sock"));
        let shared = relay.clone();
        thread::spawn(move || {
            for viewer in listener.incoming().map(Result::unwrap) {
                // A viewer that cannot connect tries again.
                let Ok(program) = UnixStream::connect(&program) else { continue };
                let number = {
                    let mut carried = shared.lock();
                    carried.push(Carried::default());
                    carried.len() - 1
                };
                let (from, to) = (viewer.try_clone().unwrap(), program.try_clone().unwrap());
                let (heard, said) = (shared.clone(), shared.clone());
                thread::spawn(move || heard.carry_confirmations(number, from, to));
                thread::spawn(move || said.carry_trace(number, program, viewer));
            }
        });
        relay
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Carried>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn carry_trace(&self, number: usize, from: UnixStream, to: UnixStream) {
        let mut decoder = Decoder::default();
        carry(from, to, |mut bytes| {
            while let Some(frame) = decoder.next(&mut bytes).unwrap() {
                if let Frame::Data(data) = frame {
                    self.lock()[number].trace.extend_from_slice(data);
                }
            }
        });
    }

    fn carry_confirmations(&self, number: usize, from: UnixStream, to: UnixStream) {
        let (mut said, greeting) = (Vec::new(), greeting(TOKEN).unwrap().len());
        carry(from, to, |bytes| {
            said.extend_from_slice(bytes);
            if let Some(last) = said.get(greeting..).and_then(|said| said.chunks_exact(8).next_back()) {
                self.lock()[number].confirmed = u64::from_le_bytes(last.try_into().unwrap());
            }
        });
    }

    /// Bytes that were confirmed on any connection since `first`.
    fn confirmed(&self, first: usize) -> u64 {
        self.lock().iter().skip(first).map(|carried| carried.confirmed).sum()
    }
}

/// Forwards bytes until one side is gone, and then closes the other.
fn carry(mut from: UnixStream, mut to: UnixStream, mut see: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 32 << 10];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        see(&buffer[..read]);
        if to.write_all(&buffer[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether the server of the page answers.
fn answers(url: &str) -> io::Result<bool> {
    let mut client = client::ask(url, "GET /api/state", "")?;
    let mut status = [0; 15];
    client.read_exact(&mut status)?;
    Ok(status == *b"HTTP/1.1 200 OK")
}

/// Asserts that the viewer has saved everything that it confirmed.
fn check(carried: &[Carried], output: &Path) {
    let stem = output.file_stem().unwrap().to_str().unwrap();
    let files = fs::read_dir(output.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let own = files.filter(|file| file.file_name().unwrap().to_str().unwrap().starts_with(stem));
    let saved: Vec<Vec<u8>> = own.map(|file| fs::read(file).unwrap()).collect();
    for Carried { trace, confirmed } in carried {
        let has_all = |file: &Vec<u8>| file.len() as u64 >= *confirmed && trace.starts_with(file);
        assert!(*confirmed == 0 || saved.iter().any(has_all), "{confirmed} bytes were confirmed and are missing");
    }
}

fn kill(rounds: usize, mut seed: u64) {
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let output = |viewer: usize| -> PathBuf { folder.join(format!("viewer{viewer}x.wtf-trace")) };
    let (relay, mut viewers) = (Relay::start(folder), 1);
    let mut program = Process::start("program", folder, folder);
    let mut viewer = Process::start("viewer", folder, &output(viewers));
    let (mut url, mut first) = (viewer.url(), 0);
    for round in 0..rounds {
        let before = relay.confirmed(first);
        let wanted = before + 1 + random(200_000);
        until(&format!("round {round}: nothing is confirmed"), || relay.confirmed(first) >= wanted);
        if random(2) == 0 {
            drop(program);
            until(&format!("round {round}: the page is gone"), || answers(&url).unwrap_or(false));
            program = Process::start("program", folder, folder);
        } else {
            drop(viewer);
            check(&relay.lock()[first..], &output(viewers));
            viewers += 1;
            first = relay.lock().len();
            viewer = Process::start("viewer", folder, &output(viewers));
            url = viewer.url();
        }
        assert!(program.is_alive() && viewer.is_alive(), "round {round}");
    }
    let wanted = relay.confirmed(first) + 1;
    until("it goes on after the last kill", || relay.confirmed(first) >= wanted);
    drop(viewer);
    check(&relay.lock()[first..], &output(viewers));
}
