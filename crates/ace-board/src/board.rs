// SPDX-License-Identifier: Apache-2.0
//! The board: what it holds, and how its time passes.

mod engine;
mod jobs;
mod report;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ace_ecp5::Device;
use ace_engine::{Capabilities, Completion, ConfigurationId, Need, Table};
use ace_schedule::{Costs, Decision, Policy, Queue, SlotState, Terms};
use thiserror::Error;

use crate::catalogue::Catalogue;
use crate::config::{BoardConfig, SlotKind};
use crate::decision::DecisionRecord;
use crate::ledger::Ledger;
use crate::parts::{Agenda, Event, HostLink, Port, Slots};
use crate::pending::Pending;
use crate::processor::Coprocessor;
use crate::slot::Slot;
pub use crate::source::{ModelSource, Models, SharedObjects};
use crate::trace::{KeysExpanded, Picos};
use crate::worker::Worker;

/// Why there is no board.
#[derive(Debug, Error)]
pub enum BoardError {
    /// The board's description contradicts itself, or asks for what the catalogue does not have.
    #[error("board: {0}")]
    Config(String),
    /// The system gave no thread to run a slot's model.
    #[error("board: no thread for a slot: {0}")]
    Thread(#[from] std::io::Error),
    /// Models of one kind of slot cannot run what is loaded into another one.
    #[error(
        "board: it has slots of which `[slot] kind` is \"{}\", and the models that it was given are of another kind; \
         `ace_board::open` assembles a board of every kind",
        .0.name()
    )]
    Kind(SlotKind),
}

/// Events that a board keeps, where nobody asks for more or fewer.
pub const KEPT_EVENTS: usize = 1 << 16;

/// Slots, configuration port and host link on one virtual clock. See `docs/board.md` for the model of time.
pub struct Board {
    pub(crate) config: BoardConfig,
    pub(crate) catalogue: Catalogue,
    policy: Policy,
    costs: Costs,
    pub(crate) queue: Queue,
    pub(crate) agenda: Agenda,
    pub(crate) link: HostLink,
    pub(crate) port: Port,
    pub(crate) slots: Slots,
    pub(crate) coprocessor: Option<Coprocessor>,
    pub(crate) jobs: HashMap<u64, Pending>,
    next_op: u64,
    known_needs: HashMap<Need, (Vec<ConfigurationId>, Arc<str>)>,
    pub(crate) capabilities: OnceLock<Capabilities>,
    /// Decisions so far, where they are kept.
    decisions: Option<Vec<DecisionRecord>>,
    pub(crate) done: Vec<Completion>,
    pub(crate) failed: u64,
    /// Keys that were expanded for slots that hold the array.
    pub(crate) keys: KeysExpanded,
    ledger: Ledger,
}

impl Board {
    /// A board whose slots are empty, at time 0.
    ///
    /// # Errors
    /// A figure in `config` that makes no sense, or slots of another kind than the models: [`crate::open()`] has the
    /// means for every kind.
    pub fn new(
        config: BoardConfig,
        catalogue: Catalogue,
        policy: Policy,
        models: Models,
    ) -> Result<Self, BoardError> {
        Self::with_source(config, catalogue, policy, models, Box::new(SharedObjects))
    }

    /// A board whose simulations come from elsewhere.
    ///
    /// # Errors
    /// As [`Board::new`].
    pub fn with_source(
        config: BoardConfig,
        catalogue: Catalogue,
        policy: Policy,
        models: Models,
        source: Box<dyn ModelSource>,
    ) -> Result<Self, BoardError> {
        config.check().map_err(|(key, reason)| BoardError::Config(format!("{key}: {reason}")))?;
        if let Some(kind) = config.kinds().into_iter().find(|kind| !source.runs(*kind)) {
            return Err(BoardError::Kind(kind));
        }
        let device = Device::by_name(&config.device)
            .ok_or_else(|| BoardError::Config(format!("unknown device `{}`", config.device)))?;
        let slots = (0..config.places()).map(|s| Worker::start(format!("slot {s}")).map(Slot::new));
        // What each load takes is asked when something needs it first; none is much longer than the file as it is.
        let load = Table::filled(0, catalogue.configurations.len());
        let files = catalogue.configurations.iter().map(|c| config.port_time(c.bitstream.bytes));
        let (latency, starvation) = config.bounds();
        let batch = config.batch();
        let terms = Terms::new(latency, files.max().unwrap_or(0));
        let terms = Terms { starvation, batch, ..terms };
        let mut ledger = Ledger::new(config.places(), catalogue.configurations.len());
        ledger.keep(KEPT_EVENTS);
        let costs = Costs { load, switch: catalogue.switch_times(&config) };
        let mut queue = Queue::new(terms);
        queue.set_equivalents(catalogue.equivalents(), config.slot.banks);
        if config.mixed() {
            let sets: Vec<bool> = catalogue.configurations.iter().map(|one| one.context_set).collect();
            queue.set_kinds(config.of_fabric(), sets.into());
        }
        let slots: Vec<Slot> = slots.collect::<Result<_, _>>()?;
        Ok(Self {
            queue,
            costs,
            policy,
            agenda: Agenda::default(),
            link: HostLink::default(),
            port: Port { device, models, source, loads: HashMap::new(), refused: HashMap::new() },
            slots: Slots::new(slots),
            coprocessor: None,
            config,
            catalogue,
            jobs: HashMap::new(),
            next_op: 0,
            known_needs: HashMap::new(),
            capabilities: OnceLock::new(),
            decisions: None,
            done: Vec::new(),
            failed: 0,
            keys: KeysExpanded::default(),
            ledger,
        })
    }

    /// Modelled time since the board was made.
    pub fn now(&self) -> Picos {
        self.agenda.now
    }

    /// Jobs that it takes at a time.
    pub fn packet_buffer(&self) -> usize {
        self.config.packet_buffer
    }

    /// What the board was made of.
    pub fn config(&self) -> &BoardConfig {
        &self.config
    }

    /// What the board can load.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Takes decisions until there is nothing more to decide at this instant.
    pub(crate) fn decide(&mut self) {
        self.agenda.ask = false;
        while self.done.is_empty() {
            let state = |slot: &Slot| {
                // What a slot works on at a time, one frame in its buffers or several.
                let more = slot.configuration().map_or(1, |c| self.catalogue.configurations[c].in_flight);
                slot.state(self.agenda.now, self.config.frame_buffers + more - 1)
            };
            let states: Vec<SlotState> = self.slots.iter().map(state).collect();
            let decision = match self.beside() {
                Some(processor) => {
                    self.policy.decide_with_coprocessor(&mut self.queue, &states, &self.costs, processor)
                }
                None => self.policy.decide(&self.queue, &states, &self.costs),
            };
            self.note(decision);
            match decision {
                Decision::Load { slot, configuration } => {
                    self.queue.load(states[slot].resident(), configuration, &self.costs);
                    self.load(slot, configuration);
                }
                Decision::Execute { slot, op } => {
                    if let Some(configuration) = states[slot].resident() {
                        self.queue.used(configuration);
                    }
                    self.hand_over(slot, op);
                }
                Decision::Compute { op } => self.compute(op),
                Decision::Wait => {
                    self.agenda.look = None;
                    return;
                }
                Decision::WaitUntil(at) => {
                    self.agenda.look = Some(at.max(self.agenda.now.saturating_add(1)));
                    return;
                }
            }
        }
        // It goes on when that is taken.
        (self.agenda.look, self.agenda.ask) = (None, true);
    }

    /// Everything that happens at the next instant. False if nothing is going to happen.
    pub(crate) fn advance(&mut self) -> bool {
        // Nobody has to be asked about an empty queue.
        if self.queue.is_empty() {
            self.agenda.look = None;
        }
        let look = self.agenda.look;
        self.simulate(look.unwrap_or(Picos::MAX));
        let next = self.agenda.next();
        let Some(time) = [next, look].into_iter().flatten().min() else { return false };
        self.agenda.now = time;
        self.agenda.ask |= look == Some(time);
        self.queue.advance(self.agenda.now);
        while let Some(what) = self.agenda.take() {
            self.agenda.ask |= !matches!(what, Event::Arrived { .. } | Event::Executed { .. });
            match what {
                Event::Loaded { slot } => self.loaded(slot),
                Event::Arrived { slot, op, handover } => self.arrived(slot, op, handover),
                Event::Executed { slot, op } => self.executed(slot, op),
                Event::Returned { slot, op } => self.returned(slot, op),
                Event::Noticed { op } => self.noticed(op),
                Event::Computed { op } => self.computed(op),
                Event::CoreFree => {}
            }
        }
        true
    }
}
