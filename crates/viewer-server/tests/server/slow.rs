//! Slow clients.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use crate::support::Server;

/// Longer than the server waits.
const LONG: Duration = Duration::from_secs(60);

fn half_sent(server: &Server, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    stream.set_read_timeout(Some(LONG)).expect("it can be set");
    stream.write_all(text.as_bytes()).expect("it reads");
    stream
}

/// Whether the server ended the connection; an answer with the reason may come first.
fn has_ended(mut stream: TcpStream) -> bool {
    let mut rest = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "the server is our own")]
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

#[test]
fn half_sent_requests_are_given_up() {
    let server = Server::of(&[]);
    let token = format!("host: {}\r\nx-traceloom-token: {}\r\n", server.address(), server.token());
    let halves = [
        String::new(),
        "GET /api/sta".to_owned(),
        format!("GET /api/state HTTP/1.1\r\n{token}"),
        format!("POST /api/flame HTTP/1.1\r\n{token}content-length: 100\r\n\r\n{{"),
        format!("POST /api/open?name=x HTTP/1.1\r\n{token}content-length: 100\r\n\r\nhalf"),
    ];
    let streams: Vec<_> = halves.iter().map(|half| half_sent(&server, half)).collect();
    for (half, stream) in halves.iter().zip(streams) {
        assert!(has_ended(stream), "{half:?} is still awaited");
    }
    assert_eq!(server.get("state").status, 200);
    assert_eq!(server.wait()["traces"].as_array().map(Vec::len), Some(0));
}

#[test]
fn stalled_uploads_starve_nobody() {
    let (trace, server) = Server::of_sample("easyprofiler");
    let head = format!(
        "POST /api/open?name=x HTTP/1.1\r\nhost: {}\r\nx-traceloom-token: {}\r\ncontent-length: 1000\r\n\r\nx",
        server.address(),
        server.token()
    );
    let stalled: Vec<_> = (0..20).map(|_| half_sent(&server, &head)).collect();
    // These need the threads for long work, which uploads used to hold.
    assert_eq!(server.get("stats").status, 200);
    let bytes = fs::read(&trace.path).expect("the sample");
    assert_eq!(server.post("open?name=game.prof", &bytes).status, 200);
    assert_eq!(server.wait()["traces"][1]["state"], "ready");
    drop(stalled);
}
