//! Hostile programs: the viewer reports one short error quickly and holds almost nothing in memory.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use traceloom_core::{
    Error,
    live::{Address, Connection, MAGIC, MAX_FRAME_BYTES, accept, data_head, greeting, refuse},
};

/// Connects to a program that runs `work` and reads until an error: its message, and the number of bytes read.
fn watch(work: impl FnOnce(&mut TcpStream) + Send + 'static) -> (String, usize) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    let program = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut vec![0; greeting("secret").unwrap().len()]).unwrap();
        work(&mut stream);
    });
    let mut received = 0;
    let error = Connection::open(&address, "secret").map_or_else(|error| error, |open| follow(open, &mut received));
    program.join().unwrap();
    (error.to_string().replace(&address.to_string(), "PROGRAM"), received)
}

fn follow(mut connection: Connection, received: &mut usize) -> Error {
    loop {
        match connection.frame() {
            Ok(Some(frame)) => *received += frame.data().len(),
            Ok(None) => match connection.read(*received as u64, Duration::from_secs(30)) {
                Ok(has_more) => assert!(has_more, "nothing comes any more"),
                Err(error) => return error,
            },
            Err(error) => return error,
        }
    }
}

fn send(bytes: &[&[u8]]) -> impl FnOnce(&mut TcpStream) + Send + 'static {
    let bytes = bytes.concat();
    // A viewer that has received enough closes the connection.
    move |stream| drop(stream.write_all(&bytes))
}

#[test]
fn wrong_bytes_are_one_sentence() {
    let (stranger, _) = watch(send(&[b"HTTP/1.1 400 Bad Request\r\n\r\n"]));
    assert_eq!(stranger, "the peer does not speak the live protocol of Traceloom");
    assert_eq!(watch(send(&[&refuse("not today")])).0, "the program refused the connection: not today");
    let (unknown, _) = watch(send(&[&accept("x"), &[9, 0, 0, 0, 0]]));
    assert_eq!(unknown, "the program sent a frame of unknown kind 9");
}

#[test]
fn four_gigabytes_in_a_frame_are_refused() {
    let (sentence, received) = watch(send(&[&accept("x"), &[1], &u32::MAX.to_le_bytes(), &[7; 1000]]));
    assert!(sentence.contains("bytes of a live frame"), "{sentence}");
    assert_eq!(received, 0);
}

#[test]
fn half_a_message_is_the_end() {
    let (sentence, _) = watch(send(&[&MAGIC[..5]]));
    assert!(sentence.starts_with("cannot connect to PROGRAM: "), "{sentence}");
    let gone = |received| ("the program closed the connection".to_owned(), received);
    assert_eq!(watch(send(&[&accept("x"), &data_head(1000), &[7; 10]])), gone(10));
    assert_eq!(watch(send(&[&accept("x"), &data_head(MAX_FRAME_BYTES)[..3]])), gone(0));
    // A program that ends with a confirmation unread resets the connection.
    let killed = watch(|stream| {
        stream.write_all(&[&accept("x"), &data_head(1000)[..], &[7; 10]].concat()).unwrap();
        stream.peek(&mut [0]).unwrap();
    });
    assert_eq!(killed, gone(10));
}

#[test]
fn an_answer_in_slow_bytes_is_not_waited_for() {
    let (sentence, _) = watch(|stream| {
        // A whole answer would take a minute.
        for byte in accept(&"x".repeat(200)) {
            if stream.write_all(&[byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(300));
        }
    });
    assert_eq!(sentence, "the program at PROGRAM did not answer within 5 s");
}
