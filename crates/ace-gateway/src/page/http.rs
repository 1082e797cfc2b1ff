// SPDX-License-Identifier: Apache-2.0
//! Requests of browsers and of Prometheus: what is asked for, and nothing else of HTTP.

/// Longer than any browser's request.
pub const LONGEST: usize = 16 << 10;
const HEADERS: usize = 64;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// `/`: the page.
    Page,
    /// `/page.js`: what keeps the page up to date.
    Script,
    /// `/page.css`: how the page looks.
    Style,
    /// What the page shows.
    State,
    /// `/metrics`: the figures in the text format of Prometheus.
    Metrics,
}

/// Why nothing is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The bytes are no request of HTTP/1, or longer than [`LONGEST`].
    Malformed,
    /// Another method than GET.
    Method,
    /// By a name that is not this machine's: a page of somebody else had a browser ask (DNS rebinding).
    Host,
    /// There is nothing by this path.
    NotFound,
}

impl Refusal {
    /// Code and words of the answer's first line (RFC 9110, 15).
    pub fn status(self) -> &'static str {
        match self {
            Refusal::Malformed => "400 Bad Request",
            Refusal::Method => "405 Method Not Allowed",
            Refusal::Host => "403 Forbidden",
            Refusal::NotFound => "404 Not Found",
        }
    }
}

/// The request at the beginning of some bytes; `None` when it is not whole yet.
pub fn parse(bytes: &[u8]) -> Option<Result<Request, Refusal>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if bytes.len() < LONGEST => return None,
        Ok(httparse::Status::Partial) | Err(_) => return Some(Err(Refusal::Malformed)),
    }
    let host = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"));
    Some(match (request.method, request.path, host.map(|host| host.value)) {
        (_, _, Some(host)) if !is_here(host) => Err(Refusal::Host),
        (Some("GET"), Some(path), _) => wanted(path),
        _ => Err(Refusal::Method),
    })
}

fn wanted(path: &str) -> Result<Request, Refusal> {
    match path.split('?').next().unwrap_or_default() {
        "/" => Ok(Request::Page),
        "/page.js" => Ok(Request::Script),
        "/page.css" => Ok(Request::Style),
        "/state.json" => Ok(Request::State),
        "/metrics" => Ok(Request::Metrics),
        _ => Err(Refusal::NotFound),
    }
}

/// `localhost` or an address of the machine itself, with or without a port.
fn is_here(host: &[u8]) -> bool {
    let Ok(host) = std::str::from_utf8(host) else { return false };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(line: &str, host: &str) -> Option<Result<Request, Refusal>> {
        parse(format!("{line} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n").as_bytes())
    }

    #[test]
    fn what_is_asked_for_is_known_or_refused() {
        for (line, host, wanted) in [
            ("GET /", "127.0.0.1:9450", Ok(Request::Page)),
            ("GET /state.json?1", "localhost:9450", Ok(Request::State)),
            ("GET /metrics", "[::1]:9450", Ok(Request::Metrics)),
            ("GET /metrics", "LOCALHOST", Ok(Request::Metrics)),
            ("POST /", "localhost", Err(Refusal::Method)),
            ("GET /etc/passwd", "localhost", Err(Refusal::NotFound)),
            ("GET /metrics", "evil.example", Err(Refusal::Host)),
            ("GET /metrics", "127.0.0.1.evil.example", Err(Refusal::Host)),
            ("GET /metrics", "192.0.2.1", Err(Refusal::Host)),
        ] {
            assert_eq!(ask(line, host), Some(wanted), "{line} {host}");
        }
        assert_eq!(parse(b"GET /metrics HTT"), None);
        assert_eq!(parse(b"\x16\x03\x01"), Some(Err(Refusal::Malformed)));
        assert_eq!(parse(&[b'a'; LONGEST]), Some(Err(Refusal::Malformed)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
        }
    }
}
