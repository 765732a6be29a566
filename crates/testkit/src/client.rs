//! A client of the viewer's server, from the address that it prints.

use std::{
    io::{self, Write},
    net::TcpStream,
};

/// The host with its port, and the token.
pub fn host_and_token(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("an address");
    rest.split_once("/?token=").expect("a token")
}

/// Sends one request, such as `GET /api/state`, on a connection of its own; the answer can be read from it.
pub fn ask(url: &str, question: &str, body: &str) -> io::Result<TcpStream> {
    let (host, token) = host_and_token(url);
    let mut client = TcpStream::connect(host)?;
    let length = body.len();
    write!(
        client,
        "{question} HTTP/1.1\r\nhost: {host}\r\nx-traceloom-token: {token}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )?;
    Ok(client)
}
