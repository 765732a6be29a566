//! Admits only requests from pages of this server, in the browser of this user.
//!
//! A page of another site can make the browser send requests here. But it does not know the token, its `Origin` is
//! different, and a host name that it resolves to the loopback address shows in `Host`.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use traceloom_core::{Error, Result};

/// The token that requests need.
#[derive(Debug)]
pub struct Guard {
    token: String,
    hosts: Vec<String>,
    /// The fragment of the address that selects what the page shows.
    shows: &'static str,
    /// The one-time secret, and when it expires.
    ticket: Mutex<Option<(String, Instant)>>,
}

/// A browser that starts for the first time may take this long.
const TICKET_LASTS: Duration = Duration::from_secs(120);
/// Browsers leave this port out of `Host` and `Origin`.
const HTTP_PORT: u16 = 80;

/// The header that carries the token.
const TOKEN_HEADER: &str = "x-traceloom-token";

impl Guard {
    /// A guard for the server on a local port, with a new token.
    pub fn new(port: u16) -> Result<Self> {
        let names = ["127.0.0.1", "localhost"];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == HTTP_PORT {
            hosts.extend(names.map(str::to_owned));
        }
        Ok(Self { token: secret()?, hosts, shows: "", ticket: Mutex::default() })
    }

    /// This guard, for a page that shows a store.
    pub(crate) fn of_store(self) -> Self {
        Self { shows: "&store=1", ..self }
    }

    /// The token that requests need.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The path of the page, with the token that it needs.
    pub(crate) fn page(&self) -> String {
        format!("/?token={}{}", self.token, self.shows)
    }

    /// A secret that leads to the page once; the previous one becomes invalid.
    pub(crate) fn ticket(&self) -> Result<String> {
        let ticket = secret()?;
        *self.ticket.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((ticket.clone(), Instant::now() + TICKET_LASTS));
        Ok(ticket)
    }

    /// Redirects to the page, once.
    pub(crate) async fn redeem(State(guard): State<Arc<Self>>, Path(given): Path<String>) -> Response {
        let mut ticket = guard.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |(ticket, until): &mut (String, Instant)| {
            is_equal(given.as_bytes(), ticket.as_bytes()) && Instant::now() < *until
        };
        match ticket.take_if(is_known) {
            Some(_) => Redirect::to(&guard.page()).into_response(),
            None => (StatusCode::GONE, "This link works only once. Open the address that traceloom printed.")
                .into_response(),
        }
    }

    /// A router layer that refuses requests with another host name and from pages of other sites.
    pub async fn check_host(State(guard): State<Arc<Self>>, request: Request, next: Next) -> Response {
        let mut response = if guard.is_own_host(request.headers()) && guard.is_own_origin(request.headers()) {
            next.run(request).await
        } else {
            (StatusCode::FORBIDDEN, "this server answers only its own pages").into_response()
        };
        harden(response.headers_mut());
        response
    }

    /// A router layer that refuses requests without the token, in its own header or as `Authorization: Bearer`.
    pub async fn check_token(State(guard): State<Arc<Self>>, request: Request, next: Next) -> Response {
        if guard.is_token_known(request.headers()) {
            return next.run(request).await;
        }
        let reason = "This address has no token, or an old one. Open the address that traceloom printed.";
        (StatusCode::UNAUTHORIZED, reason).into_response()
    }

    fn is_token_known(&self, headers: &HeaderMap) -> bool {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let bearer = || header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let given = header(TOKEN_HEADER).or_else(bearer);
        given.is_some_and(|given| is_equal(given.as_bytes(), self.token.as_bytes()))
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

fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::from(std::io::Error::other(error)))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Takes the same time wherever the two differ.
fn is_equal(given: &[u8], expected: &[u8]) -> bool {
    given.len() == expected.len() && given.iter().zip(expected).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// The page loads nothing from other sites and cannot be shown in a frame.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_of_http_need_not_be_named() {
        let is_own = |port: u16, host: &str| {
            let guard = Guard::new(port).expect("the system has random bytes");
            let value = |text: &str| header::HeaderValue::from_str(text).expect("it is plain");
            let headers =
                HeaderMap::from_iter([(header::HOST, value(host)), (header::ORIGIN, value(&format!("http://{host}")))]);
            guard.is_own_host(&headers) && guard.is_own_origin(&headers)
        };
        assert!(["localhost", "127.0.0.1", "localhost:80", "127.0.0.1:80"].iter().all(|host| is_own(80, host)));
        assert!(!is_own(8080, "localhost") && !is_own(80, "evil.example"));
    }
}
