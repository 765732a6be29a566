//! `traceloom mcp --http`: authorization.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value as Json, json};

/// A server on a port, stopped at the end of the test.
struct Http {
    child: Child,
    host: String,
    token: String,
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Http {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_traceloom"))
            .args(["mcp", "--http", "--allow"])
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut said = String::new();
        let out = child.stdout.as_mut().expect("a pipe");
        while said.lines().count() < 2 || !said.ends_with('\n') {
            let mut byte = [0];
            out.read_exact(&mut byte).expect("it prints its address");
            said.push(byte[0].into());
        }
        let (url, token) = said.trim().split_once('\n').expect("two lines");
        let host = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).expect("an address");
        let token = token.strip_prefix("Authorization: Bearer ").expect("a token");
        Self { host: host.to_owned(), token: token.to_owned(), child }
    }

    /// The answer to a request with these headers, each of which ends its line.
    fn post(&self, headers: &str, body: &Json) -> String {
        let (mut stream, body) = (TcpStream::connect(&self.host).expect("it listens"), body.to_string());
        let length = body.len();
        let accept = "accept: application/json, text/event-stream\r\ncontent-type: application/json";
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{accept}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
        )
        .expect("it reads");
        io::read_to_string(stream.take(1 << 20)).expect("it answers")
    }
}

#[test]
fn http_needs_the_token_and_its_own_host_and_origin() {
    let folder = tempfile::tempdir().expect("there is room");
    let http = Http::start(folder.path());
    assert!(http.host.starts_with("127.0.0.1:"), "{}", http.host);
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    } });
    let (own, port) = (http.host.as_str(), http.host.trim_start_matches("127.0.0.1:"));
    let token = format!("authorization: Bearer {}\r\n", http.token);
    let host = |host: &str| format!("host: {host}\r\n{token}");
    let answer = http.post(&host(own), &hello);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("traceloom"), "{answer}");
    let tools = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "schema", "arguments": { "table": "spans" } } });
    let versioned = format!("{}mcp-protocol-version: 2025-06-18\r\n", host(own));
    let answer = http.post(&versioned, &tools);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("dur_ns"), "{answer}");
    let origin = |origin: &str| format!("{}origin: {origin}\r\n", host(own));
    let other_port = if port == "1" { "2" } else { "1" };
    for (headers, status) in [
        (format!("host: {own}\r\n"), "401"),
        (format!("host: {own}\r\nauthorization: Bearer 0123\r\n"), "401"),
        (host(&format!("localhost:{port}")), "200"),
        (host("evil.example"), "403"),
        (host(&format!("evil.example:{port}")), "403"),
        (host(&format!("127.0.0.1:{other_port}")), "403"),
        (host("127.0.0.1"), "403"),
        (token.clone(), "403"),
        (origin(&format!("http://{own}")), "200"),
        (origin(&format!("http://localhost:{port}")), "200"),
        (origin("http://evil.example"), "403"),
        (origin(&format!("http://127.0.0.1:{other_port}")), "403"),
        (origin(&format!("https://{own}")), "403"),
        (origin("null"), "403"),
    ] {
        let answer = http.post(&headers, &hello);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{headers}: {answer}");
    }
}
