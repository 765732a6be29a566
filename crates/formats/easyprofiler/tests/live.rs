//! The live protocol: a recorded session, both sides with each other, and hostile peers.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    thread,
    time::Duration,
};

use traceloom_core::{Options, Records, Result};
use traceloom_easyprofiler::{
    Record,
    live::{Accepted, Client, Decoder, Descriptors, FrameTime, Message, Part, Program, serve},
    raw::Status,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// The bytes that a program with EasyProfiler 2.1.0 sent in one session.
fn session() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../fixtures/easyprofiler/easy_profiler-2.1.0/net_session.bin");
    std::fs::read(path).expect("a fixture")
}

/// Decodes a connection that arrives in pieces of `piece` bytes.
fn decode(bytes: &[u8], piece: usize) -> Result<(Vec<Message>, Vec<u8>)> {
    let (mut decoder, mut messages, mut payload) = (Decoder::default(), Vec::new(), Vec::new());
    for piece in bytes.chunks(piece) {
        decoder.feed(piece);
        while let Some(part) = decoder.next_part()? {
            match part {
                Part::Message(message) => messages.push(message),
                Part::Payload(bytes) => payload.extend_from_slice(bytes),
            }
        }
    }
    assert!(!decoder.is_inside(), "the connection ends inside a message");
    assert_eq!(decoder.offset(), bytes.len() as u64);
    Ok((messages, payload))
}

fn expected() -> Vec<Message> {
    vec![
        Message::Accepted(Accepted { is_profiling: false, traces_events: true, has_low_priority: false }),
        Message::Descriptors { bytes: 151 },
        Message::DescriptorsEnd,
        Message::FrameTime(FrameTime { max_us: 31, average_us: 22 }),
        Message::CaptureStarted,
        Message::FrameTime(FrameTime { max_us: 25, average_us: 23 }),
        Message::Blocks { bytes: 1790 },
        Message::BlocksEnd,
    ]
}

#[test]
fn a_recorded_session_is_decoded_in_pieces_of_any_size() {
    let session = session();
    let whole = decode(&session, session.len()).expect("a session");
    assert_eq!(whole.0, expected());
    assert_eq!(whole.1, [&session[17..168], &session[213..2003]].concat());
    for piece in (1..300).chain([1789, 1790, 1791]) {
        assert_eq!(decode(&session, piece).expect("a session"), whole, "in pieces of {piece}");
    }
}

#[test]
fn every_message_comes_back() {
    let requests = [
        Message::StartCapture,
        Message::StopCapture,
        Message::DescriptorsWanted,
        Message::SetStatus { descriptor: 0x0102_0304, status: Status::FORCE_ON },
        Message::SetEventTracing(true),
        Message::SetLowPriority(false),
        Message::Ping,
        Message::FrameTimeWanted,
    ];
    let bytes: Vec<u8> = requests.iter().flat_map(Message::encode).collect();
    assert_eq!(decode(&bytes, 1).expect("requests").0, requests);
}

/// A program that replays the recorded session.
struct Recorded {
    session: Vec<u8>,
    frame_times: Vec<FrameTime>,
    set: Vec<(u32, Status)>,
    file: std::ops::Range<usize>,
}

impl Recorded {
    fn new() -> Self {
        let frame_times = [(25, 23), (31, 22)].map(|(max_us, average_us)| FrameTime { max_us, average_us }).to_vec();
        Self { session: session(), frame_times, set: Vec::new(), file: 213..2003 }
    }
}

impl Program for Recorded {
    fn is_running(&self) -> bool {
        true
    }

    fn accepted(&self) -> Accepted {
        Accepted { traces_events: true, ..Accepted::default() }
    }

    fn start(&mut self) -> Result<()> {
        Ok(())
    }

    fn stop(&mut self) -> Result<Option<(u64, Box<dyn Read + '_>)>> {
        let file = &self.session[self.file.clone()];
        Ok((!file.is_empty()).then(|| (file.len() as u64, Box::new(file) as Box<dyn Read>)))
    }

    fn descriptors(&mut self) -> Result<Descriptors> {
        Ok(Descriptors(self.session[17..168].to_vec()))
    }

    fn frame_time(&mut self) -> FrameTime {
        self.frame_times.pop().unwrap_or_default()
    }

    fn set_status(&mut self, descriptor: u32, status: Status) {
        self.set.push((descriptor, status));
    }

    fn set_event_tracing(&mut self, _: bool) {}

    fn set_low_priority(&mut self, _: bool) {}
}

/// A client's requests, delivered in small pieces, and the replies.
struct Wire {
    requests: io::Cursor<Vec<u8>>,
    piece: usize,
    sent: Vec<u8>,
}

impl Wire {
    fn new(requests: &[Message], piece: usize) -> Self {
        let requests: Vec<u8> = requests.iter().flat_map(Message::encode).collect();
        Self { requests: io::Cursor::new(requests), piece, sent: Vec::new() }
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.piece.min(into.len());
        self.requests.read(&mut into[..len])
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sent.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const REQUESTS: &[Message] = &[
    Message::DescriptorsWanted,
    Message::FrameTimeWanted,
    Message::StartCapture,
    Message::FrameTimeWanted,
    Message::Ping,
    Message::StopCapture,
];

#[test]
fn the_session_is_served_byte_for_byte() {
    for piece in [1, 2, 3, 5, 7, 100] {
        let mut wire = Wire::new(REQUESTS, piece);
        serve(&mut wire, &mut Recorded::new()).expect("a client that leaves");
        assert_eq!(wire.sent, session(), "in pieces of {piece}");
    }
}

/// Runs `client` against a program that sends whatever `program` does.
fn with_peer<T>(program: impl FnOnce(TcpStream) + Send, client: impl FnOnce(Client<TcpStream>) -> T) -> T {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::scope(|scope| {
        scope.spawn(move || program(listener.accept().expect("a client").0));
        let stream = TcpStream::connect(address).expect("a program");
        stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a timeout");
        client(Client::new(stream, PATIENCE))
    })
}

#[test]
fn a_client_captures_what_a_program_serves() {
    let program = |mut stream: TcpStream| {
        let mut program = Recorded::new();
        serve(&mut stream, &mut program).expect("a client that leaves");
        assert_eq!(program.set, [(2, Status::OFF)]);
    };
    let (file, names) = with_peer(program, |mut client| {
        assert!(client.accepted().expect("a greeting").traces_events);
        let mut reader = client.descriptors().expect("descriptors").open(&Options::default()).expect("descriptors");
        let mut names = Vec::new();
        while let Some(located) = reader.next().expect("a record") {
            if let Record::Descriptor(descriptor) = located.record {
                names.push(String::from_utf8_lossy(descriptor.name.text).into_owned());
            }
        }
        client.send(Message::SetStatus { descriptor: 2, status: Status::OFF }).expect("a connection");
        assert_eq!(client.frame_time().expect("a time").max_us, 31);
        client.start().expect("a capture");
        let mut file = Vec::new();
        let blocks = client.stop(&mut file).expect("a file");
        assert_eq!((blocks.announced, blocks.received), (Some(1790), 1790));
        assert!(blocks.failure.is_none());
        (file, names)
    });
    assert_eq!(names, ["Net frame", "tick", "Net job", "job"]);
    assert_eq!(file, session()[213..2003]);
}

#[test]
fn our_own_descriptors_come_back() {
    let session = session();
    let mut reader = Descriptors(session[17..168].to_vec()).open(&Options::default()).expect("descriptors");
    let mut own = Vec::new();
    while let Some(located) = reader.next().expect("a record") {
        if let Record::Descriptor(descriptor) = located.record {
            own.extend(Descriptors::new([descriptor]).expect("a descriptor").0.split_off(20));
        }
    }
    assert_eq!(own, session[37..168]);
}

#[test]
fn whatever_came_before_the_program_died_is_kept() {
    let session = session();
    for cut in [204, 213, 214, 1000, 2002, 2003] {
        let program = |mut stream: TcpStream| {
            stream.write_all(&session[186..cut]).expect("a client");
            stream.read_exact(&mut [0; 10]).expect("two requests");
        };
        let (blocks, file) = with_peer(program, |mut client| {
            client.start().expect("a capture");
            let mut file = Vec::new();
            (client.stop(&mut file).expect("some blocks"), file)
        });
        assert_eq!(file, session[213..cut.max(213)], "cut at {cut}");
        assert!(blocks.failure.is_some(), "cut at {cut}");
    }
}

#[test]
fn a_program_without_blocks_is_told_from_one_that_died() {
    let program = |mut stream: TcpStream| {
        serve(&mut stream, &mut Recorded { file: 0..0, ..Recorded::new() }).expect("a client that leaves");
    };
    let blocks = with_peer(program, |mut client| {
        client.start().expect("a capture");
        client.stop(&mut Vec::new()).expect("an end")
    });
    assert_eq!(blocks.announced, None);
    assert!(blocks.failure.is_none());
}

#[test]
fn hostile_peers_are_refused_in_one_sentence() {
    let error = |bytes: &[u8]| decode(bytes, 3).expect_err("hostile bytes").to_string();
    assert_eq!(
        error(b"HTTP/1.1 400 Bad Request\r\n"),
        "byte 0, magic: the peer does not speak EasyProfiler's protocol: the magic of a message is missing"
    );
    let ping = Message::Ping.encode();
    let unknown = [&ping[..], &ping[..4], &[99]].concat();
    assert_eq!(error(&unknown), "byte 5, type: the peer sent a message of unknown type 99");

    // Four gigabytes of descriptors cost nothing.
    let huge = Message::Descriptors { bytes: u32::MAX }.encode();
    let refused = with_peer(
        |mut stream| stream.write_all(&huge).expect("a client"),
        |mut client| client.descriptors().expect_err("too much").to_string(),
    );
    assert!(refused.contains("bytes of descriptors"), "{refused}");

    for (requests, sentence) in [
        (Message::Blocks { bytes: u32::MAX }, "a client sent a reply: blocks"),
        (Message::CaptureStarted, "a client sent a reply: capture started"),
    ] {
        let mut wire = Wire::new(&[requests], 2);
        let error = serve(&mut wire, &mut Recorded::new()).expect_err("a hostile client");
        assert_eq!(error.to_string(), sentence);
    }
}

/// A peer that sends some bytes, and then one byte of `drip` after the other as long as someone listens.
fn dripping(mut stream: TcpStream, bytes: &[u8], drip: &[u8]) {
    let _ = stream.write_all(bytes);
    for byte in drip.iter().cycle() {
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn slow_peers_are_not_waited_for() {
    let patience = Duration::from_millis(300);
    let ask = |bytes: &'static [u8], drip: &'static [u8]| {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let peer = thread::spawn(move || dripping(listener.accept().expect("a client").0, bytes, drip));
        let stream = TcpStream::connect(address).expect("a program");
        stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a timeout");
        let mut client = Client::new(stream, patience);
        let error = client.accepted().expect_err("no greeting").to_string();
        drop(client);
        peer.join().expect("the peer");
        error
    };
    // Other messages, repeatedly and slowly.
    assert_eq!(ask(&[], &[0x8d, 0xa1, 0x33, 0x01, 13]), "the program did not answer within 0.3 s");
    // Half a message, and then nothing.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let mut half = TcpStream::connect(listener.local_addr().expect("an address")).expect("a program");
    let (stream, _) = listener.accept().expect("a client");
    stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a timeout");
    half.write_all(&Message::Ping.encode()[..3]).expect("a client");
    let error = Client::new(stream, patience).accepted().expect_err("no greeting").to_string();
    assert_eq!(error, "the program sent nothing for 0.3 s");
}

#[test]
fn a_client_with_half_a_message_makes_room_for_the_next() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a timeout");
        serve(&mut stream, &mut Recorded::new()).expect_err("half a message").to_string()
    });
    let mut client = TcpStream::connect(address).expect("a program");
    client.write_all(&Message::Ping.encode()).expect("a program");
    client.write_all(&Message::Ping.encode()[..4]).expect("a program");
    assert_eq!(served.join().expect("the program"), "a client sent half a message");
}

#[test]
fn blocks_of_four_gigabytes_are_as_many_as_came() {
    let program = |mut stream: TcpStream| {
        let announced = Message::Blocks { bytes: u32::MAX }.encode();
        stream.write_all(&[&announced[..], &[7; 1000]].concat()).expect("a client");
        stream.read_exact(&mut [0; 5]).expect("a request");
    };
    let (blocks, file) = with_peer(program, |mut client| {
        let mut file = Vec::new();
        (client.stop(&mut file).expect("some blocks"), file)
    });
    assert_eq!((blocks.announced, blocks.received), (Some(u32::MAX), 1000));
    assert_eq!(blocks.failure.expect("an end").to_string(), "the program closed the connection");
    assert_eq!(file, [7; 1000]);
}
