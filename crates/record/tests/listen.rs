//! A program with this recorder can be captured like one with EasyProfiler.

mod common;

use std::{
    io::Write,
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use common::Recording;
use traceloom_core::{Mode, Options, Records, Source};
use traceloom_easyprofiler::{Record, live::Client, open};
use traceloom_record::{Recorder, span, value};

fn connect(address: SocketAddr) -> Client<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    Client::new(stream, Duration::from_secs(20))
}

fn work(rounds: usize) {
    for round in 0..rounds {
        let _frame = span!("Frame");
        let _inner = span!("inner");
        value!("round", round as i32);
    }
}

/// Spans and values of a capture, by name; checks that EasyProfiler's reader would accept the file.
fn names(file: &[u8]) -> Vec<String> {
    let mut reader = open(Source::bytes(file), &Options::default().with_mode(Mode::Strict)).unwrap();
    let (mut described, mut found) = (Vec::new(), Vec::new());
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            Record::Descriptor(descriptor) => {
                described.push(String::from_utf8_lossy(descriptor.name.text).into_owned());
            }
            Record::Block(block) => found.push(described[block.descriptor as usize].clone()),
            Record::Value(value) => found.push(described[value.descriptor as usize].clone()),
            _ => {}
        }
    }
    found
}

#[test]
fn captures_hold_what_was_recorded_meanwhile() {
    let _turn = Recording::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let recorder = Recorder::new().listen_on(listener).start().unwrap();
    work(3); // Before the capture.
    let mut client = connect(address);
    assert!(!client.accepted().unwrap().is_profiling);
    for rounds in [5, 7] {
        traceloom_record::flush().unwrap();
        client.start().unwrap();
        thread::Builder::new().name("Main".to_owned()).spawn(move || work(rounds)).unwrap().join().unwrap();
        let mut file = Vec::new();
        let blocks = client.stop(&mut file).unwrap();
        assert!(blocks.failure.is_none());
        let found = names(&file);
        for name in ["Frame", "inner", "round"] {
            assert_eq!(found.iter().filter(|found| *found == name).count(), rounds, "{name} in {found:?}");
        }
        assert!(client.frame_time().unwrap().max_us < 10_000_000);
    }
    let mut described = Vec::new();
    let mut reader = client.descriptors().unwrap().open(&Options::default()).unwrap();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Descriptor(descriptor) = located.record {
            described.push(String::from_utf8_lossy(descriptor.name.text).into_owned());
        }
    }
    assert!(["Frame", "inner", "round"].iter().all(|name| described.contains(&(*name).to_owned())), "{described:?}");
    recorder.close().unwrap();
}

#[test]
fn a_client_that_dies_or_lies_harms_nobody() {
    let recording = Recording::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let recorder = Recorder::new().listen_on(listener).prof(recording.path("own.prof")).start().unwrap();
    let mut lost = connect(address);
    lost.accepted().unwrap();
    lost.start().unwrap();
    work(4);
    drop(lost);
    for lie in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0x8d, 0xa1, 0x33, 0x01, 4, 255, 255, 255, 255], &[0x8d, 0xa1]] {
        TcpStream::connect(address).unwrap().write_all(lie).unwrap();
    }
    // The capture of the disconnected client continues, as in EasyProfiler.
    let mut client = connect(address);
    assert!(client.accepted().unwrap().is_profiling);
    work(2);
    let mut file = Vec::new();
    client.stop(&mut file).unwrap();
    assert_eq!(names(&file).iter().filter(|name| *name == "Frame").count(), 6);
    recorder.close().unwrap();
    let own = std::fs::read(recording.path("own.prof")).unwrap();
    assert_eq!(names(&own).iter().filter(|name| *name == "Frame").count(), 6);
}
