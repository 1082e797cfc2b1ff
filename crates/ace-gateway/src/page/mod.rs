// SPDX-License-Identifier: Apache-2.0
//! The status page and the metrics, over HTTP at an address of this machine alone. Nothing can be changed by it, and it
//! shows no key. Its threads only ask the gateway: a browser that is slow stands in nobody's way.

pub mod http;
mod metrics;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use http::{LONGEST, Request};

use crate::status::State;

const MOST_CLIENTS: usize = 8;
/// For a request, and for an answer.
const PATIENCE: Duration = Duration::from_secs(3);

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// Where the answer to a question goes. There is one question: how everything is.
type Asked = SyncSender<Box<State>>;

/// The gateway's side.
pub struct Page {
    asked: Receiver<Asked>,
    /// `None` when the thread that listens is gone.
    wake: Option<UnixStream>,
    pub listening: SocketAddr,
}

#[derive(Clone)]
struct Asker {
    ask: SyncSender<Asked>,
    wake: Arc<UnixStream>,
    clients: Arc<AtomicUsize>,
}

impl Page {
    /// # Errors
    /// As the system says.
    pub fn open(at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        let listening = listener.local_addr()?;
        let (wake, theirs) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        let (ask, asked) = sync_channel(MOST_CLIENTS);
        let asker = Asker { ask, wake: Arc::new(theirs), clients: Arc::default() };
        std::thread::Builder::new().name("page".to_owned()).spawn(move || asker.listen(&listener))?;
        Ok(Self { asked, wake: Some(wake), listening })
    }

    /// Readable when something was asked.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.wake.as_ref().map(AsFd::as_fd)
    }

    /// Answers what was asked.
    pub fn serve(&mut self, mut answer: impl FnMut() -> State) {
        let mut bytes = [0; 64];
        while let Some(wake) = &mut self.wake {
            match wake.read(&mut bytes) {
                Ok(count) if count > 0 => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // It would be readable for ever.
                Ok(_) | Err(_) => self.wake = None,
            }
        }
        while let Ok(reply) = self.asked.try_recv() {
            // Whoever asked may be gone.
            let _ = reply.try_send(Box::new(answer()));
        }
    }
}

impl Asker {
    fn listen(&self, listener: &TcpListener) {
        loop {
            // Without a client there is nobody to tell; handles that ran out come back.
            let Ok((stream, _)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if self.clients.fetch_add(1, Ordering::Relaxed) >= MOST_CLIENTS {
                self.clients.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let asker = self.clone();
            let started = std::thread::Builder::new().name("page client".to_owned()).spawn(move || {
                // A client that breaks off is its own affair.
                let _ = asker.serve(stream);
                asker.clients.fetch_sub(1, Ordering::Relaxed);
            });
            if started.is_err() {
                self.clients.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn state(&self) -> Option<Box<State>> {
        let (reply, answer) = sync_channel(1);
        self.ask.try_send(reply).ok()?;
        // A full pipe wakes as well.
        let _ = (&*self.wake).write(&[1]);
        answer.recv_timeout(PATIENCE).ok()
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let until = Instant::now() + PATIENCE;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (mut bytes, mut piece) = (Vec::new(), [0; 2048]);
        let request = loop {
            let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            stream.set_read_timeout(Some(left))?;
            let count = stream.read(&mut piece)?;
            bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
            if let Some(request) = http::parse(&bytes) {
                break request;
            }
            if count == 0 || bytes.len() > LONGEST || Instant::now() >= until {
                return Ok(());
            }
        };
        let (status, kind, body) = match request {
            Err(refusal) => (refusal.status(), "text/plain", refusal.status().to_owned()),
            Ok(request) => match self.body(request) {
                Some((kind, body)) => ("200 OK", kind, body),
                None => ("503 Service Unavailable", "text/plain", "the gateway does not answer".to_owned()),
            },
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             frame-ancestors 'none'\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    }

    fn body(&self, request: Request) -> Option<(&'static str, String)> {
        Some(match request {
            Request::Page => ("text/html", PAGE.to_owned()),
            Request::Script => ("text/javascript", SCRIPT.to_owned()),
            Request::Style => ("text/css", STYLE.to_owned()),
            Request::State => ("application/json", serde_json::to_string(&*self.state()?).ok()?),
            Request::Metrics => ("text/plain; version=0.0.4", metrics::exposition(&*self.state()?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;

    fn get(at: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(at).expect("it listens");
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nHost: {at}\r\n\r\n").as_bytes())
            .expect("it takes it");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("it answers");
        response
    }

    #[test]
    fn browsers_are_answered_beside_clients_that_hang() {
        let mut page = Page::open("127.0.0.1:0".parse().unwrap()).unwrap();
        let at = page.listening;
        // Half of what may come at once says nothing.
        let hanging: Vec<TcpStream> =
            (0..MOST_CLIENTS / 2).map(|_| TcpStream::connect(at).unwrap()).collect();
        let client = std::thread::spawn(move || {
            ["/", "/page.js", "/page.css", "/state.json", "/metrics", "/other"].map(|path| get(at, path))
        });
        while !client.is_finished() {
            page.serve(|| State {
                status: Status { version: "7".to_owned(), ..Status::default() },
                ..State::default()
            });
            std::thread::sleep(Duration::from_millis(1));
        }
        let response = client.join().unwrap();
        assert!(response[..5].iter().all(|response| response.starts_with("HTTP/1.1 200 OK")), "{response:?}");
        let state: State = serde_json::from_str(response[3].rsplit("\r\n").next().unwrap()).unwrap();
        assert_eq!((state.status.version.as_str(), state.sas.len()), ("7", 0));
        assert!(response[4].contains("ace_gateway_info{version=\"7\""), "{}", response[4]);
        assert!(response[5].starts_with("HTTP/1.1 404"));
        drop(hanging);
        // A gateway that is busy for good.
        assert!(get(at, "/metrics").starts_with("HTTP/1.1 503"));
    }
}
