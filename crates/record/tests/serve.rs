//! Viewers get everything that is recorded, and cannot harm the recording program.

mod common;

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use common::Recording;
use traceloom_core::{
    Mode, Options, Records, Source,
    live::{self, Address, Decoder, Frame, Socket},
};
use traceloom_record::{Recorder, info, span, value};
use traceloom_wtf::{Record, Value, open};

const TOKEN: &str = "secret";
/// Nothing here takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A viewer that keeps the trace in memory.
struct Watcher {
    socket: Socket,
    decoder: Decoder,
    trace: Vec<u8>,
    dropped: u64,
    has_ended: bool,
    is_accepted: bool,
}

impl Watcher {
    fn connect(address: &Address, token: &str) -> Self {
        let mut socket = Socket::connect(address).unwrap();
        socket.set_read_timeout(Duration::from_millis(20)).unwrap();
        socket.write_all(&live::greeting(token).unwrap()).unwrap();
        let decoder = Decoder::default();
        Self { socket, decoder, trace: Vec::new(), dropped: 0, has_ended: false, is_accepted: false }
    }

    /// Reads until something is true.
    fn watch(&mut self, mut until: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        let mut buffer = vec![0; 64 << 10];
        while !until(self) {
            assert!(Instant::now() < end, "nothing comes any more: {:?}", events(&self.trace, Mode::Lenient).last());
            let read = match self.socket.read(&mut buffer) {
                Ok(0) => panic!("the program is gone"),
                Ok(read) => read,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(error) => panic!("{error}"),
            };
            let mut bytes = &buffer[..read];
            while let Some(frame) = self.decoder.next(&mut bytes).unwrap() {
                match frame {
                    Frame::Accepted(program) => self.is_accepted = !program.is_empty(),
                    Frame::Data(data) => self.trace.extend_from_slice(data),
                    Frame::Status(dropped) => self.dropped = dropped,
                    Frame::End => self.has_ended = true,
                }
            }
            // A program that has ended no longer listens.
            let _ = self.socket.write_all(&(self.trace.len() as u64).to_le_bytes());
        }
    }

    fn count(&self, name: &str) -> usize {
        // The last chunk may be incomplete.
        events(&self.trace, Mode::Lenient).iter().filter(|event| event.contains(name)).count()
    }
}

/// The events of a trace as text.
fn events(trace: &[u8], mode: Mode) -> Vec<String> {
    let mut reader = open(Source::bytes(trace.to_vec()), &Options::default().with_mode(mode)).unwrap();
    let mut events = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Event(event) = located.record
            && !event.kind.is_structural()
        {
            let shown =
                |value: Value<'_>| value.as_text().map_or(format!("{value:?}"), |text| text.to_str().into_owned());
            let args: Vec<String> = event.args.iter().map(|(_, value)| shown(value)).collect();
            events.push(format!("{} {} {args:?} in {}", event.time_us, event.name(), event.zone));
        }
    }
    assert!(mode == Mode::Lenient || reader.findings().kept().is_empty(), "{:?}", reader.findings());
    events
}

fn listener() -> (TcpListener, Address, SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, Address::Tcp(address), address)
}

fn work(rounds: usize) {
    for round in 0..rounds {
        let _frame = span!("Frame");
        let _inner = span!("inner");
        value!("round", round as i32);
    }
}

#[test]
fn a_viewer_sees_what_the_file_holds() {
    let recording = Recording::new();
    let (listener, address, _) = listener();
    let path = recording.path("own.wtf-trace");
    let recorder = Recorder::new().wtf_trace(&path).serve_on(listener).serve_token(TOKEN).start().unwrap();
    let mut watcher = Watcher::connect(&address, TOKEN);
    watcher.watch(|watcher| watcher.is_accepted && !watcher.trace.is_empty());
    work(1000);
    info!("half of %d", 2000);
    // Without a flush, and while the program runs.
    watcher.watch(|watcher| watcher.count("inner") == 1000 && watcher.count("half of 2000") == 1);
    std::thread::Builder::new().name("worker".to_owned()).spawn(|| work(1000)).unwrap().join().unwrap();
    recorder.close().unwrap();
    watcher.watch(|watcher| watcher.has_ended);
    assert_eq!(watcher.dropped, 0);
    let file = std::fs::read(path).unwrap();
    assert_eq!(events(&watcher.trace, Mode::Strict), events(&file, Mode::Strict));
}

#[test]
fn viewers_come_late_go_early_and_are_several() {
    let recording = Recording::new();
    let path = recording.path("live.sock");
    let recorder = Recorder::new().serve(path.to_str().unwrap()).start().unwrap();
    let address = Address::Unix(path.clone());
    let token = std::fs::read_to_string(address.token_file()).unwrap();
    assert_eq!(token.len(), 32);
    let outer = span!("outer");
    traceloom_record::flush().unwrap();
    for round in 1..=5 {
        let mut watchers = [Watcher::connect(&address, &token), Watcher::connect(&address, &token)];
        watchers.iter_mut().for_each(|watcher| watcher.watch(|watcher| !watcher.trace.is_empty()));
        work(round);
        traceloom_record::flush().unwrap();
        for watcher in &mut watchers {
            watcher.watch(|watcher| watcher.count("inner") == round);
            // It started before the viewer connected.
            assert_eq!(watcher.count("outer"), 0);
        }
    }
    drop(outer);
    let mut last = Watcher::connect(&address, &token);
    last.watch(|watcher| watcher.is_accepted && !watcher.trace.is_empty());
    recorder.close().unwrap();
    last.watch(|watcher| watcher.has_ended);
    assert!(!path.exists() && !address.token_file().exists(), "the socket goes with the recorder");
}

#[test]
fn a_viewer_that_takes_nothing_blocks_nobody_and_misses_whole_spans() {
    let recording = Recording::new();
    let (listener, address, _) = listener();
    let path = recording.path("own.clog");
    let recorder = Recorder::new().clog(path).serve_on(listener).serve_token(TOKEN).start().unwrap();
    let mut sleeper = Watcher::connect(&address, TOKEN);
    sleeper.watch(|watcher| !watcher.trace.is_empty());
    let mut recorded = 0;
    // The log blocks when its ring is full: this would hang if the viewer could make it wait.
    while traceloom_record::stats().unseen == 0 {
        let _span = span!("round");
        // A chunk holds equal texts once.
        info!("%s", &*format!("{recorded:01000}"));
        recorded += 1;
        assert!(recorded < 100_000, "a gigabyte was not too much");
    }
    traceloom_record::flush().unwrap();
    assert!(traceloom_record::stats().unseen > 0);
    // When it wakes up, it is informed of the missed records, and its trace still nests.
    sleeper.watch(|watcher| watcher.dropped > 0 && watcher.trace.len() > 8 << 20);
    traceloom_record::flush().unwrap();
    let after = span!("after");
    drop(after);
    recorder.close().unwrap();
    sleeper.watch(|watcher| watcher.has_ended);
    let seen = events(&sleeper.trace, Mode::Strict);
    let count = |name: &str| seen.iter().filter(|event| event.contains(name)).count();
    assert!(count(" after ") == 1 && count("records_dropped") > 0);
    assert_eq!(count(" round ") + 1, count("wtf.scope#leave"));
    assert!(count(" round ") < recorded);
}

#[test]
fn strangers_are_refused_and_harm_nobody() {
    let _turn = Recording::new();
    let (listener, address, port) = listener();
    let recorder = Recorder::new().serve_on(listener).serve_token(TOKEN).start().unwrap();
    let refusal = |greeting: &[u8]| {
        let mut peer = TcpStream::connect(port).unwrap();
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        peer.write_all(greeting).unwrap();
        let mut answer = Vec::new();
        // A reset connection also counts as no answer.
        #[expect(clippy::disallowed_methods, reason = "the recorder is ours, and there is a deadline")]
        let _ = peer.read_to_end(&mut answer);
        answer
    };
    for wrong in ["wrong", "secret2", "secre"] {
        let answer = refusal(&live::greeting(wrong).unwrap());
        let error = Decoder::default().next(&mut &*answer).unwrap_err();
        assert!(error.to_string().contains("the token is wrong"), "{error}");
    }
    assert!(refusal(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").is_empty());
    // Half a greeting, and one whose token never comes: both end by themselves.
    assert!(refusal(&live::MAGIC[..4]).is_empty());
    assert!(refusal(&[&live::MAGIC[..], &[255, b's']].concat()).is_empty());
    // A slow greeting has the same time limit as any other.
    let mut slow = TcpStream::connect(port).unwrap();
    let is_dropped = live::greeting(&"x".repeat(200)).unwrap().chunks(1).any(|byte| {
        std::thread::sleep(Duration::from_millis(100));
        slow.write_all(byte).is_err()
    });
    assert!(is_dropped, "twenty seconds of a greeting were listened to");
    // A viewer that confirms bytes that it never received.
    let mut liar = Watcher::connect(&address, TOKEN);
    liar.watch(|watcher| !watcher.trace.is_empty());
    liar.socket.write_all(&[0xff; 64]).unwrap();
    // More silent connections than are allowed.
    let silent: Vec<_> = (0..40).map(|_| TcpStream::connect(port).unwrap()).collect();
    drop(silent);
    let end = Instant::now() + PATIENCE;
    let mut watcher = loop {
        assert!(Instant::now() < end, "nobody is let in any more");
        let mut socket = TcpStream::connect(port).unwrap();
        socket.write_all(&live::greeting(TOKEN).unwrap()).unwrap();
        let mut first = [0; 1];
        if socket.read_exact(&mut first).is_ok() {
            break Watcher::connect(&address, TOKEN);
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    watcher.watch(|watcher| !watcher.trace.is_empty());
    work(3);
    watcher.watch(|watcher| watcher.count("inner") == 3);
    recorder.close().unwrap();
}

#[test]
fn wrong_settings_are_refused_at_the_start() {
    let _turn = Recording::new();
    let problem = |recorder: Recorder| recorder.start().unwrap_err().to_string();
    assert!(problem(Recorder::new().serve("nowhere")).contains("invalid address"));
    assert!(problem(Recorder::new().serve("192.0.2.1:80")).contains("another machine"));
    assert!(problem(Recorder::new().serve_on(listener().0)).contains("needs a token"));
    let long = "x".repeat(256);
    assert!(problem(Recorder::new().serve_on(listener().0).serve_token(long)).contains("1 to 255 bytes"));
}
