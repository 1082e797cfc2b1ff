// SPDX-License-Identifier: Apache-2.0
//! A board behind a network interface as what computes for a gateway.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ace_board::array::loadables;
use ace_board::{Store, Unsigned};
use ace_engine::{Action, Capabilities, Completion, Engine, EngineError, Job};
use ace_gateway::engines::{BoardView, ConfigurationView, SlotView, Slots, Timeline};
use ace_gateway::{NoBoard, OpenBoard};
use ace_link::LinkEngine;
use ace_link::socket::Socket;
use anyhow::Result;

/// A session that nobody uses is ended by the board: something is to be said twice a second.
const IDLE: Duration = Duration::from_millis(250);
/// Jobs at a time: enough for what is under way on the cable, and few enough that none waits for long.
const MOST: usize = 64;

type Shared = Arc<Mutex<Socket>>;

/// What computes, and which library it has.
struct Linked {
    engine: LinkEngine<Shared>,
    interface: String,
    version: u64,
    words: String,
}

/// Opens the board at an interface, each time with another library: `store` opens one, or that of the description. The socket
/// stays.
pub fn maker(
    interface: String,
    store: impl Fn(Option<&Path>) -> Result<Store> + Send + 'static,
) -> Result<OpenBoard> {
    let socket: Shared = Arc::new(Mutex::new(Socket::open(&interface)?));
    Ok(Box::new(move |library| {
        let open = || -> Result<Linked> {
            let store = Arc::new(store(library)?);
            let (version, words) = (store.version(), store.words());
            let sets = loadables(None, Some(store), Unsigned::Refused)?;
            let engine = LinkEngine::open(Arc::clone(&socket), &interface, sets)?;
            Ok(Linked { engine, interface: interface.clone(), version, words })
        };
        open()
            .map(|board| Box::new(board) as Box<dyn Slots>)
            .map_err(|error| NoBoard::Open(error.to_string()))
    }))
}

impl Engine for Linked {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn capabilities(&self) -> &Capabilities {
        self.engine.capabilities()
    }

    fn takes(&self, action: &Action) -> bool {
        self.engine.takes(action)
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        self.engine.try_submit(jobs);
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        self.engine.drain(done)
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.engine.wait(done)
    }

    fn explain(&self, error: &EngineError) -> String {
        self.engine.explain(error)
    }
}

impl Slots for Linked {
    fn most(&self) -> usize {
        MOST
    }

    fn library(&self) -> Option<(u64, String)> {
        Some((self.version, self.words.clone()))
    }

    fn idles(&self) -> Option<Duration> {
        Some(IDLE)
    }

    fn idle(&mut self) {
        self.engine.idle();
    }

    /// Nothing here is modelled time.
    fn look(&mut self, _: &mut Timeline, _: Duration) -> BoardView {
        let (work, (completed, failed)) = (self.engine.work(), self.engine.operations());
        let slot = |(slot, tile, bank, resident): (usize, usize, usize, Option<&str>)| SlotView {
            name: format!("slot {slot}, tile {tile}, bank {bank}"),
            kind: "array".to_owned(),
            resident: resident.map(str::to_owned),
            ..SlotView::default()
        };
        let refused = self.engine.refused().map(|(name, status)| ConfigurationView {
            name: name.to_owned(),
            refused: Some(status.map_or_else(|| "no answer".to_owned(), |status| status.to_string())),
            ..ConfigurationView::default()
        });
        BoardView {
            library: Some(self.words.clone()),
            policy: "link".to_owned(),
            models: format!("link:{}", self.interface),
            loads: work.loads,
            completed,
            failed,
            slots: self.engine.banks().map(slot).collect(),
            configurations: refused.collect(),
            ..BoardView::default()
        }
    }
}
