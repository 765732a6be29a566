//! The server accepts a limited number of connections. A separate process, because its open files are counted.

#![cfg(target_os = "linux")]

use std::{fs, io::Read, net::TcpStream};

use traceloom_testkit::client;
use traceloom_viewer_server::{Options, start};

const CLIENTS: usize = 300;
/// Max connections of the server, plus some other files of this process.
const MAX_FILES: usize = 128 + 60;

#[test]
fn connections_are_capped_and_idle_ones_make_room() {
    let viewer = start(Options::default()).expect("a port is free");
    let (host, _) = client::host_and_token(viewer.url());
    let idle: Vec<_> = (0..CLIENTS).map(|_| TcpStream::connect(host).expect("the server listens")).collect();
    // Connects after all of them, and is answered when they are closed.
    let mut client = client::ask(viewer.url(), "GET /api/state", "").expect("the server reads it");
    let mut status = [0; 12];
    client.read_exact(&mut status).expect("it answers");
    assert_eq!(&status, b"HTTP/1.1 200");
    let files = fs::read_dir("/proc/self/fd").expect("Linux has it").count();
    assert!(files < CLIENTS + MAX_FILES, "{files} files are open");
    drop(idle);
}
