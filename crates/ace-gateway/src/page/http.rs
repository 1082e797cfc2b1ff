// SPDX-License-Identifier: Apache-2.0
//! Requests of browsers and of Prometheus, and how a connection is served: hyper reads and writes HTTP/1, and what is here
//! says what there is, who may ask, and how long anybody has.

use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::shown::Query;

/// Longer than any browser's request.
pub const LONGEST: usize = 16 << 10;
const HEADERS: usize = 64;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// `/` and what the page consists of, of [`super::FILES`].
    File(&'static str, &'static str),
    /// What the page shows.
    State(Query),
    /// `/metrics`: the figures in the text format of Prometheus.
    Metrics,
}

/// Why nothing is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Another method than GET.
    Method,
    /// By a name that is not this machine's: a page of somebody else had a browser ask (DNS rebinding).
    Host,
    /// There is nothing by this path.
    NotFound,
}

impl Refusal {
    fn status(self) -> StatusCode {
        match self {
            Refusal::Method => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::Host => StatusCode::FORBIDDEN,
            Refusal::NotFound => StatusCode::NOT_FOUND,
        }
    }
}

/// A kind of text and the text.
pub type Body = (&'static str, Bytes);

/// What a request wants.
pub fn wanted<B>(request: &hyper::Request<B>) -> Result<Request, Refusal> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let foreign = |authority: &hyper::http::uri::Authority| !is_here(authority.as_str().as_bytes());
    if !hosts.all(|host| is_here(host.as_bytes())) || request.uri().authority().is_some_and(foreign) {
        return Err(Refusal::Host);
    }
    if request.method() != Method::GET {
        return Err(Refusal::Method);
    }
    let path = request.uri().path();
    if let Some((_, kind, text)) = super::FILES.iter().find(|(name, ..)| *name == path) {
        return Ok(Request::File(kind, text));
    }
    match path {
        "/state.json" => Ok(Request::State(Query::of(request.uri().query().unwrap_or_default()))),
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

/// Serves one request of a connection. The request has this long to come, `answer` to be made, and the response to be
/// taken: whoever is slower, or only ever sends or takes a little, is left. `answer` gives `None` when the gateway does not.
pub async fn serve<S, A, F>(stream: S, patience: Duration, answer: A)
where
    S: AsyncRead + AsyncWrite + Unpin,
    A: Fn(Request) -> F,
    F: Future<Output = Option<Body>>,
{
    let service = service_fn(|request| {
        let wanted = wanted(&request);
        let answer = &answer;
        async move {
            let (status, (kind, body)) = match wanted {
                Err(refusal) => (refusal.status(), words(refusal.status().as_str())),
                Ok(request) => match answer(request).await {
                    Some(body) => (StatusCode::OK, body),
                    None => (StatusCode::SERVICE_UNAVAILABLE, words("the gateway does not answer")),
                },
            };
            Ok::<_, Infallible>(response(status, kind, body))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .keep_alive(false)
        // Who has asked may have closed that half: scripts do.
        .half_close(true)
        .max_buf_size(LONGEST)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    // A client that breaks off is its own affair.
    let _ = timeout(3 * patience, connection).await;
}

fn words(text: &str) -> Body {
    ("text/plain", Bytes::copy_from_slice(text.as_bytes()))
}

fn response(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let kind = HeaderValue::try_from(format!("{kind}; charset=utf-8"));
    let headers = response.headers_mut();
    headers.extend(kind.ok().map(|kind| (CONTENT_TYPE, kind)));
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// What bytes of a connection are answered with by a page without a gateway: what a browser, or anybody else, gets.
///
/// # Errors
/// The system has no descriptors left.
pub fn answer(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    thread_local! {
        static RUNTIME: std::io::Result<tokio::runtime::Runtime> =
            tokio::runtime::Builder::new_current_thread().enable_time().build();
    }
    RUNTIME.with(|runtime| {
        let runtime = runtime.as_ref().map_err(|error| std::io::Error::from(error.kind()))?;
        Ok(runtime.block_on(async {
            let (mut here, there) = tokio::io::duplex(bytes.len() + (1 << 20));
            let mut response = Vec::new();
            // A pipe with room for all of it takes it.
            let _ = here.write_all(bytes).await;
            let _ = here.shutdown().await;
            serve(there, Duration::from_secs(1), |request| async move {
                match request {
                    Request::File(kind, text) => Some((kind, Bytes::from_static(text.as_bytes()))),
                    Request::State(_) | Request::Metrics => None,
                }
            })
            .await;
            let _ = here.read_to_end(&mut response).await;
            response
        }))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ask(line: &str, host: &str) -> String {
        let request = format!("{line} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\n\r\n");
        String::from_utf8(answer(request.as_bytes()).expect("a runtime")).expect("text")
    }

    #[test]
    fn what_is_asked_for_is_known_or_refused() {
        for (line, host, wanted) in [
            ("GET /", "127.0.0.1:9450", 200),
            ("GET /charts.css", "localhost", 200),
            // There is no gateway behind it.
            ("GET /state.json?1", "localhost:9450", 503),
            ("GET /metrics", "[::1]:9450", 503),
            ("GET /metrics", "LOCALHOST", 503),
            ("POST /", "localhost", 405),
            ("HEAD /", "localhost", 405),
            ("GET /etc/passwd", "localhost", 404),
            ("GET /charts.css/", "localhost", 404),
            ("GET /metrics", "evil.example", 403),
            ("GET /metrics", "127.0.0.1.evil.example", 403),
            ("GET /metrics", "192.0.2.1", 403),
            ("GET http://evil.example/metrics", "localhost", 403),
            ("GET /metrics", "localhost\r\nHost: evil.example", 403),
        ] {
            let found = ask(line, host);
            assert!(found.starts_with(&format!("HTTP/1.1 {wanted} ")), "{line} {host}: {found}");
        }
        let page = ask("GET /", "localhost").to_ascii_lowercase();
        let (head, body) = page.split_once("\r\n\r\n").expect("a head");
        for header in [
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'",
            "connection: close",
            "content-type: text/html; charset=utf-8",
            &format!("content-length: {}", body.len()),
        ] {
            assert!(head.lines().any(|line| line == header), "{header} is not in\n{head}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let of = |bytes: &[u8]| String::from_utf8_lossy(&answer(bytes).expect("a runtime")).into_owned();
        assert!(of(b"\x16\x03\x01").starts_with("HTTP/1.1 400"));
        assert_eq!(of(b"GET /metrics HTT"), "");
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(2 * LONGEST));
        assert!(of(long.as_bytes()).starts_with("HTTP/1.1 4"), "{}", of(long.as_bytes()));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS + 1));
        assert!(of(many.as_bytes()).starts_with("HTTP/1.1 431"), "{}", of(many.as_bytes()));
        // One request is answered, and no other one on the same connection.
        let two = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        assert_eq!(of(two).matches("HTTP/1.1 200").count(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let answer = answer(&bytes).expect("a runtime");
            prop_assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."));
        }
    }
}
