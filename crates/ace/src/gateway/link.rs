// SPDX-License-Identifier: Apache-2.0
//! A board behind a network interface as what computes for a gateway.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ace_board::array::loadables;
use ace_board::config::SlotKind;
use ace_board::{Store, Unsigned};
use ace_engine::{Action, Capabilities, Completion, Engine, EngineError, Job};
use ace_gateway::engines::{BoardView, ConfigurationView, LinkView, SlotView, Slots, Timeline};
use ace_gateway::{NoBoard, OpenBoard};
use ace_link::engine::{BankReport, Done};
use ace_link::socket::Socket;
use ace_link::{LinkEngine, Wire};
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

    fn look(&mut self, _: &mut Timeline, _: Duration) -> BoardView {
        BoardView { library: Some(self.words.clone()), ..view(&self.engine, &self.interface) }
    }
}

/// Nothing here is modelled time.
fn view<W: Wire>(engine: &LinkEngine<W>, interface: &str) -> BoardView {
    let (work, counts, (completed, failed)) = (engine.work(), engine.counts(), engine.operations());
    let slot = |bank: BankReport<'_>| SlotView {
        name: format!("slot {}, tile {}, bank {}", bank.slot, bank.tile, bank.bank),
        kind: SlotKind::Array.name().to_owned(),
        resident: bank.resident.map(str::to_owned),
        loaded: bank.loaded.into_iter().map(str::to_owned).collect(),
        loads: bank.done.loads,
        loads_by_name: bank.done.by_name,
        operations: bank.done.operations,
        ..SlotView::default()
    };
    let mut sets: BTreeMap<String, ConfigurationView> = BTreeMap::new();
    let named = |name: &str| ConfigurationView { name: name.to_owned(), ..ConfigurationView::default() };
    for (name, Done { loads, operations, data_bytes, .. }) in engine.used() {
        let one = ConfigurationView { loads, operations, data_bytes, ..named(name) };
        sets.insert(name.to_owned(), one);
    }
    for (name, status) in engine.refused() {
        let why = status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
        sets.entry(name.to_owned()).or_insert_with(|| named(name)).refused = Some(why);
    }
    let slots: Vec<SlotView> = engine.banks().into_iter().map(slot).collect();
    let loads: u64 = slots.iter().map(|slot| slot.loads).sum();
    let loads_by_name: u64 = slots.iter().map(|slot| slot.loads_by_name).sum();
    let store = engine.shelved();
    BoardView {
        policy: "link".to_owned(),
        models: format!("link:{interface}"),
        loads,
        refused_loads: work.refused_loads,
        completed,
        failed,
        slots,
        configurations: sets.into_values().collect(),
        link: Some(LinkView {
            interface: interface.to_owned(),
            loss: engine.loss().map(|loss| loss.to_string()),
            sessions_lost: work.lost,
            sessions_renewed: work.renewed,
            loads_by_cable: loads - loads_by_name,
            loads_by_name,
            refused_recalls: work.refused_recalls,
            store_words: store.words as u64,
            store_filled: store.filled as u64,
            keys: work.keys,
            frames: counts.frames,
            resent: counts.resent,
            stale: counts.stale,
            strange: counts.strange,
            round_trip_seconds: engine.round_trip().map(|trip| trip.as_secs_f64()),
        }),
        ..BoardView::default()
    }
}
