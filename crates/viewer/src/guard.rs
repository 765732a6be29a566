//! Who may ask: pages of this server, in the browser of this user.
//!
//! A page of another site can make the browser send requests here. It cannot know the token, its `Origin` is another one,
//! and a name that it made point to the loopback address shows in `Host`.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use traceloom_core::{Error, Result};

/// What a request has to show.
#[derive(Debug)]
pub(crate) struct Guard {
    token: String,
    hosts: [String; 2],
}

/// The header that carries the token.
const TOKEN_HEADER: &str = "x-traceloom-token";

impl Guard {
    pub(crate) fn new(port: u16) -> Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| Error::from(std::io::Error::other(error)))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { token, hosts: ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}")) })
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    pub(crate) async fn check_host(State(guard): State<Arc<Self>>, request: Request, next: Next) -> Response {
        if !guard.is_own_host(request.headers()) || !guard.is_own_origin(request.headers()) {
            return (StatusCode::FORBIDDEN, "this server answers pages of its own only").into_response();
        }
        let mut response = next.run(request).await;
        harden(response.headers_mut());
        response
    }

    pub(crate) async fn check_token(State(guard): State<Arc<Self>>, request: Request, next: Next) -> Response {
        let given = request.headers().get(TOKEN_HEADER).and_then(|value| value.to_str().ok());
        if given.is_some_and(|given| is_equal(given.as_bytes(), guard.token.as_bytes())) {
            return next.run(request).await;
        }
        let reason = "The address lacks the token of this run: open the one that traceloom printed.";
        (StatusCode::UNAUTHORIZED, reason).into_response()
    }

    fn is_own_host(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        host.is_some_and(|host| self.hosts.iter().any(|own| own == host))
    }

    fn is_own_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some_and(|origin| self.hosts.iter().any(|own| own == origin))
    }
}

/// Takes the same time wherever they differ.
fn is_equal(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len() && given.iter().zip(expected).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// The page loads nothing from elsewhere and is shown in no frame.
fn harden(headers: &mut HeaderMap) {
    let policy =
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
}
