//! Which requests are answered.

use crate::support::Server;

#[test]
fn the_page_is_served_to_whoever_asks_this_server() {
    let server = Server::of(&[]);
    let page = server.send("GET /?token=whatever HTTP/1.1", &[], &[]);
    assert_eq!(page.status, 200);
    assert!(String::from_utf8_lossy(&page.body).contains("<title>Traceloom</title>"));
    for header in ["content-security-policy: default-src 'self'", "x-content-type-options: nosniff", "no-referrer"] {
        assert!(page.head.contains(header), "{}", page.head);
    }
    for file in ["/traceloom.js", "/traceloom.css"] {
        assert_eq!(server.send(&format!("GET {file} HTTP/1.1"), &[], &[]).status, 200);
    }
    for path in ["/nothing", "/../Cargo.toml", "/%2e%2e/Cargo.toml", "/api/nothing", "//etc/passwd"] {
        let status = server.send(&format!("GET {path} HTTP/1.1"), &[("x-traceloom-token", server.token())], &[]).status;
        assert_eq!(status, 404, "{path}");
    }
}

#[test]
fn without_the_token_nothing_is_told() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    let longer = format!("{}0", server.token());
    let other = "0".repeat(server.token().len());
    for token in ["", "x", &longer, &other, &server.token()[1..]] {
        for question in ["state", "names", "picture?from=0&to=1&px=1", "stats", "search?q=a"] {
            let answer = server.send(&format!("GET /api/{question} HTTP/1.1"), &[("x-traceloom-token", token)], &[]);
            assert_eq!(answer.status, 401, "{question} with {token}");
        }
    }
    assert_eq!(server.send("GET /api/state HTTP/1.1", &[], &[]).status, 401);
    // The token in the address is for the page; a request has to send it in a header, which no link can do.
    let linked = format!("GET /api/state?token={} HTTP/1.1", server.token());
    assert_eq!(server.send(&linked, &[], &[]).status, 401);
}

#[test]
fn pages_of_others_are_refused() {
    let server = Server::of(&[]);
    let own = ("x-traceloom-token", server.token());
    let port = server.address().split(':').nth(1).expect("a port");
    let ask = |headers: &[(&str, &str)]| server.send("GET /api/state HTTP/1.1", headers, &[]).status;
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "127.0.0.1:1", &format!("[::1]:{port}")]
    {
        assert_eq!(ask(&[own, ("host", host)]), 403, "{host}");
    }
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "file://", &format!("http://127.0.0.1:{port}0")]
    {
        assert_eq!(ask(&[own, ("origin", origin)]), 403, "{origin}");
    }
    let (named, itself) = (format!("localhost:{port}"), format!("http://127.0.0.1:{port}"));
    assert_eq!(ask(&[own, ("host", &named), ("origin", &format!("http://{named}"))]), 200);
    assert_eq!(ask(&[own, ("origin", &itself)]), 200);
}

#[test]
fn refusals_are_hardened_too() {
    let server = Server::of(&[]);
    let refused = [
        server.send("GET / HTTP/1.1", &[("host", "evil.example")], &[]),
        server.send("GET /api/state HTTP/1.1", &[], &[]),
        server.send("GET /nothing HTTP/1.1", &[], &[]),
        server.send("GET /start/guessed HTTP/1.1", &[], &[]),
    ];
    for (answer, status) in refused.iter().zip([403, 401, 404, 410]) {
        assert_eq!(answer.status, status, "{}", answer.head);
        for header in ["content-security-policy: default-src 'self'", "x-content-type-options: nosniff", "no-referrer"]
        {
            assert!(answer.head.contains(header), "{}", answer.head);
        }
    }
}

#[test]
fn the_address_for_a_command_line_works_once() {
    let server = Server::of(&[]);
    let (first, second) = (server.one_time_path(), server.one_time_path());
    assert!(!second.contains(server.token()));
    let ask = |path: &str| server.send(&format!("GET {path} HTTP/1.1"), &[], &[]);
    assert_eq!(ask(&first).status, 410, "another address took its place");
    let led = ask(&second);
    assert_eq!(led.status, 303);
    assert!(led.head.contains(&format!("location: /?token={}", server.token())), "{}", led.head);
    assert_eq!(ask(&second).status, 410);
}
