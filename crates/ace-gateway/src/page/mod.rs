// SPDX-License-Identifier: Apache-2.0
//! The status page and the metrics, over HTTP at an address of this machine alone. Nothing can be changed by it, and it
//! shows no key. Its threads only ask the gateway: a browser that is slow stands in nobody's way.

pub mod http;
mod metrics;
pub mod shown;

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::{self, Runtime};
use tokio::sync::{Semaphore, oneshot};

use http::{Body, Request};
use shown::Samples;

use crate::status::State;

const MOST_CLIENTS: usize = 8;
/// For a request, for what is asked of the gateway, and for taking the answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Path, kind and text of all that does not change.
const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html", include_str!("page.html")),
    ("/page.js", "text/javascript", include_str!("page.js")),
    ("/charts.js", "text/javascript", ace_charts::JS),
    ("/charts.css", "text/css", ace_charts::CSS),
    ("/uplot.js", "text/javascript", ace_charts::UPLOT_JS),
    ("/uplot.css", "text/css", ace_charts::UPLOT_CSS),
    ("/uplot.txt", "text/plain", ace_charts::UPLOT_LICENCE),
];

/// Where the answer to a question goes. There is one question: how everything is.
type Asked = oneshot::Sender<Box<State>>;

/// The gateway's side.
pub struct Page {
    asked: Receiver<Asked>,
    /// `None` when the thread that listens is gone.
    wake: Option<UnixStream>,
    pub listening: SocketAddr,
}

/// The page's side.
struct Asker {
    ask: SyncSender<Asked>,
    wake: UnixStream,
    samples: Mutex<Samples>,
    patience: Duration,
}

impl Page {
    /// # Errors
    /// As the system says.
    pub fn open(at: SocketAddr) -> io::Result<Self> {
        Self::patient(at, PATIENCE)
    }

    fn patient(at: SocketAddr, patience: Duration) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let listening = listener.local_addr()?;
        let (wake, theirs) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        theirs.set_nonblocking(true)?;
        let (ask, asked) = sync_channel(MOST_CLIENTS);
        let asker = Arc::new(Asker { ask, wake: theirs, samples: Mutex::default(), patience });
        let runtime = runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(move || listen(&runtime, listener, &asker))?;
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
            let _ = reply.send(Box::new(answer()));
        }
    }
}

/// Serves all clients on the thread that calls it, without end: one that hangs costs a descriptor, and no thread.
fn listen(runtime: &Runtime, listener: TcpListener, asker: &Arc<Asker>) {
    let clients = Arc::new(Semaphore::new(MOST_CLIENTS));
    runtime.block_on(async {
        loop {
            // Without a client there is nobody to tell; handles that ran out come back.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let Ok(turn) = Arc::clone(&clients).try_acquire_owned() else { continue };
            let asker = Arc::clone(asker);
            tokio::spawn(async move {
                http::serve(stream, asker.patience, |request| asker.body(request)).await;
                drop(turn);
            });
        }
    });
}

impl Asker {
    async fn state(&self) -> Option<Box<State>> {
        let (reply, answer) = oneshot::channel();
        self.ask.try_send(reply).ok()?;
        // A full pipe wakes as well.
        let _ = (&self.wake).write(&[1]);
        tokio::time::timeout(self.patience, answer).await.ok()?.ok()
    }

    async fn body(&self, request: Request) -> Option<Body> {
        Some(match request {
            Request::File(kind, text) => (kind, text.as_bytes().into()),
            Request::State(query) => {
                let state = self.state().await?;
                let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
                ("application/json", serde_json::to_vec(&samples.shown(&state, &query)).ok()?.into())
            }
            Request::Metrics => {
                ("text/plain; version=0.0.4", metrics::exposition(&*self.state().await?).into())
            }
        })
    }
}

#[cfg(test)]
mod tests;
