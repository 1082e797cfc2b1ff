// SPDX-License-Identifier: Apache-2.0
//! The board: what it holds, and how its time passes.

mod engine;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::{Arc, OnceLock};

use ace_ecp5::Device;
use ace_engine::{Capabilities, Completion, ConfigurationId, EngineError, Job, Need};
use ace_schedule::{Costs, Decision, Policy, Queue, QueuedOp, SlotState, Terms};
use thiserror::Error;

use crate::beside::Beside;
use crate::catalogue::Catalogue;
use crate::config::{BoardConfig, Loads, SlotKind};
use crate::ledger::{Accounts, Ledger};
use crate::manifest::Configuration;
use crate::model::{Model, ModelError, SlotModel};
use crate::pass;
use crate::slot::Slot;
use crate::store::Store;
use crate::trace::{ArrayReport, BoardReport, ConfigurationReport, Event, Picos, What};
use crate::worker::{Answer, Worker};

/// Why there is no board.
#[derive(Debug, Error)]
pub enum BoardError {
    #[error("board: {0}")]
    Config(String),
    #[error("board: no thread for a slot: {0}")]
    Thread(#[from] std::io::Error),
    /// Models of one kind of slot cannot run what is loaded into another one.
    #[error(
        "board: `[slot] kind` is \"{}\", and the models that it was given are of another kind; `ace_board::open` \
         assembles a board of every kind",
        .0.name()
    )]
    Kind(SlotKind),
}

/// Events that a board keeps, where nobody asks for more or fewer.
pub const KEPT_EVENTS: usize = 1 << 16;

/// Which simulations the slots run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Models {
    /// Those of the RTL.
    #[default]
    Rtl,
    /// Those of the synthesised netlists.
    Netlist,
}

impl Models {
    pub fn name(self) -> &'static str {
        match self {
            Models::Rtl => "rtl",
            Models::Netlist => "netlist",
        }
    }
}

/// Where the simulation of a configuration comes from.
pub trait ModelSource {
    /// Whether it has models of slots of this kind.
    fn runs(&self, kind: SlotKind) -> bool {
        kind == SlotKind::Fabric
    }

    /// A new slot that runs `configuration`, out of reset.
    fn open(&self, configuration: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError>;
}

/// The shared objects that the manifests name.
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedObjects;

impl ModelSource for SharedObjects {
    fn open(&self, configuration: &Configuration, models: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        let file = match (models, &configuration.netlist_model) {
            (Models::Rtl, _) => &configuration.model,
            (Models::Netlist, Some(file)) => file,
            (Models::Netlist, None) => return Err(ModelError::NoNetlist(configuration.name.clone())),
        };
        Ok(Box::new(Model::open(file, &configuration.kept)?))
    }
}

/// A job on the board: the pass of it that waits or runs.
pub(crate) struct Pending {
    pub job: Job,
    /// It is the second one.
    pub second: bool,
    /// When the job came.
    pub arrived: Picos,
    /// When this pass of it did.
    pub queued: Picos,
    pub words: Arc<str>,
}

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Happens {
    Loaded {
        slot: usize,
    },
    Arrived {
        slot: usize,
        op: u64,
        handover: u64,
    },
    Executed {
        slot: usize,
        op: u64,
    },
    Returned {
        slot: usize,
        op: u64,
    },
    /// The host has taken the response.
    Noticed {
        op: u64,
    },
    /// The processor beside the slots is done with it.
    Computed {
        op: u64,
    },
    /// The core that is both this processor and the host's thread may be free.
    CoreFree,
}

/// A decision that was carried out, and when: what a simulation of the same traffic is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub at: Picos,
    /// The processor beside the slots is one more than the last slot.
    pub slot: usize,
    pub what: Step,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A configuration, by its place in the catalogue.
    Load(usize),
    /// A pass of a packet.
    Pass { packet: u64, second: bool },
}

/// How a load will end.
pub(crate) struct LoadOutcome {
    pub start: Picos,
    pub bytes: u64,
    pub configuration: usize,
    pub result: Result<Box<dyn SlotModel>, String>,
}

/// How the execution in a slot will end.
pub(crate) struct Execution {
    pub start: Picos,
    pub answer: Answer,
}

/// Slots, configuration port and host link on one virtual clock. See `docs/board.md` for the model of time.
pub struct Board {
    pub(crate) config: BoardConfig,
    pub(crate) device: &'static Device,
    pub(crate) catalogue: Catalogue,
    policy: Policy,
    pub(crate) models: Models,
    pub(crate) source: Box<dyn ModelSource>,
    costs: Costs,
    pub(crate) queue: Queue,
    pub(crate) jobs: HashMap<u64, Pending>,
    next_op: u64,
    /// Counts hand-overs, so that news of an operation that was taken back is told from that of its second try.
    pub(crate) handovers: u64,
    known_needs: HashMap<Need, (Vec<usize>, Arc<str>)>,
    /// Configurations that the board no longer tries, and why.
    pub(crate) refused: HashMap<usize, String>,
    /// What was wrong with the last answer of a configuration's slot that broke the rules of the boundary.
    pub(crate) complaints: HashMap<usize, String>,
    pub(crate) capabilities: OnceLock<Capabilities>,
    pub(crate) beside: Option<Beside>,
    /// Times in a row that a configuration left its slot silent.
    pub(crate) hangs: HashMap<usize, u32>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) loads: HashMap<usize, LoadOutcome>,
    /// By slot and operation.
    pub(crate) executions: HashMap<(usize, u64), Execution>,
    /// Results on their way over the link.
    pub(crate) results: HashMap<u64, (u64, Result<Vec<u8>, EngineError>)>,
    pub(crate) now: Picos,
    pub(crate) link_free: Picos,
    /// When the host's thread has done what it was given.
    pub(crate) host_free: Picos,
    /// The host's thread and the processor beside the slots are one.
    pub(crate) one_core: bool,
    pub(crate) agenda: BinaryHeap<Reverse<(Picos, u64, Happens)>>,
    agenda_count: u64,
    /// When the policy wants to be asked again at the latest.
    pub(crate) look: Option<Picos>,
    /// Something has happened that a policy sees. What frames do on their way through a slot, it does not.
    pub(crate) ask: bool,
    /// Decisions so far, where they are kept.
    decisions: Option<Vec<Taken>>,
    pub(crate) done: Vec<Completion>,
    pub(crate) failed: u64,
    ledger: Ledger,
}

impl Board {
    /// A board whose slots are empty, at time 0.
    ///
    /// # Errors
    /// A figure in `config` that makes no sense.
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
        if !source.runs(config.slot.kind) {
            return Err(BoardError::Kind(config.slot.kind));
        }
        let device = Device::by_name(&config.device)
            .ok_or_else(|| BoardError::Config(format!("unknown device `{}`", config.device)))?;
        let slots = (0..config.places()).map(|s| Worker::start(format!("slot {s}")).map(Slot::new));
        // What each load takes is asked when something needs it first; none is much longer than the file as it is.
        let load = vec![0; catalogue.configurations.len()];
        let files = catalogue.configurations.iter().map(|c| config.port_time(c.bitstream.bytes));
        let (latency, starvation) = config.bounds();
        let batch = config.batch();
        let terms = Terms::new(latency, files.max().unwrap_or(0));
        let terms = Terms { starvation, batch, ..terms };
        let mut ledger = Ledger::new(config.places(), catalogue.configurations.len());
        ledger.keep(KEPT_EVENTS);
        let costs = Costs { load, switch: switches(&config, &catalogue) };
        let mut queue = Queue::new(terms);
        queue.set_equivalents(catalogue.alike(), config.slot.banks);
        Ok(Self {
            slots: slots.collect::<Result<_, _>>()?,
            queue,
            costs,
            config,
            device,
            catalogue,
            policy,
            models,
            source,
            jobs: HashMap::new(),
            next_op: 0,
            handovers: 0,
            known_needs: HashMap::new(),
            refused: HashMap::new(),
            complaints: HashMap::new(),
            capabilities: OnceLock::new(),
            beside: None,
            hangs: HashMap::new(),
            loads: HashMap::new(),
            executions: HashMap::new(),
            results: HashMap::new(),
            now: 0,
            link_free: 0,
            host_free: 0,
            one_core: false,
            agenda: BinaryHeap::new(),
            agenda_count: 0,
            look: None,
            ask: false,
            decisions: None,
            done: Vec::new(),
            failed: 0,
            ledger,
        })
    }

    /// Modelled time since the board was made.
    pub fn now(&self) -> Picos {
        self.now
    }

    /// Jobs that it takes at a time.
    pub fn packet_buffer(&self) -> usize {
        self.config.packet_buffer
    }

    pub fn config(&self) -> &BoardConfig {
        &self.config
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Keeps the first `most` events from now on for [`Board::report`]. The sums have all of them, whatever is kept.
    pub fn keep_events(&mut self, most: usize) {
        self.ledger.keep(most);
    }

    /// Keeps every decision from now on.
    pub fn keep_decisions(&mut self) {
        self.decisions = Some(Vec::new());
    }

    /// Those that were kept.
    pub fn decisions(&self) -> &[Taken] {
        self.decisions.as_deref().unwrap_or_default()
    }

    fn note(&mut self, decision: Decision) {
        let Some(decisions) = &mut self.decisions else { return };
        let pass = |op: &u64| {
            let pending = self.jobs.get(op)?;
            Some(Step::Pass { packet: pending.job.packet, second: pending.second })
        };
        let (slot, what) = match &decision {
            Decision::Load { slot, configuration } => (*slot, Some(Step::Load(*configuration))),
            Decision::Execute { slot, op } => (*slot, pass(op)),
            Decision::Compute { op } => (self.slots.len(), pass(op)),
            Decision::Wait | Decision::WaitUntil(_) => return,
        };
        decisions.extend(what.map(|what| Taken { at: self.now, slot, what }));
    }

    /// What happened so far. Operations that are still in a slot are not in it.
    pub fn report(&self) -> BoardReport {
        let Accounts { mut totals, slots, mut configurations, events, left_out } =
            self.ledger.clone().close();
        for (at, (report, c)) in configurations.iter_mut().zip(&self.catalogue.configurations).enumerate() {
            *report = ConfigurationReport {
                name: c.name.clone(),
                clock_hz: c.clock_hz,
                bitstream_bytes: c.bitstream.bytes,
                from_library: self.catalogue.stored(c).is_some(),
                refused: self.refused.get(&at).cloned(),
                ..std::mem::take(report)
            };
        }
        totals.failed = self.failed;
        BoardReport {
            device: self.config.device.clone(),
            policy: self.policy.name().into(),
            models: self.models.name().into(),
            configuration_port: self.config.port_words(),
            host_link: self.config.link_words(),
            host: self.config.host_words(),
            processor: self.beside.as_ref().map(|b| format!("{} ({})", b.processor.name, b.processor.source)),
            library: self.catalogue.store.as_deref().map(Store::words),
            array: (self.config.slot.kind == SlotKind::Array)
                .then_some(ArrayReport { tiles: self.config.slot.tiles, banks: self.config.slot.banks }),
            totals,
            slots,
            configurations,
            events,
            events_left_out: left_out,
        }
    }

    /// Configurations that may serve, without those that were refused.
    fn candidates(&mut self, need: &Need) -> (Vec<usize>, Arc<str>) {
        if !self.known_needs.contains_key(need) {
            let found = self.catalogue.candidates(need, &self.config.device);
            // What may not be loaded is not tried.
            for c in &found {
                let configuration = &self.catalogue.configurations[*c];
                match self.catalogue.source(configuration) {
                    Ok(_) => self.costs.load[*c] = self.catalogue.load_time(&self.config, configuration),
                    Err(why) => drop(self.refused.entry(*c).or_insert(why)),
                }
            }
            self.known_needs.insert(*need, (found, need.to_string().into()));
        }
        let Some((all, words)) = self.known_needs.get(need) else { return (Vec::new(), "".into()) };
        (all.iter().copied().filter(|c| !self.refused.contains_key(c)).collect(), Arc::clone(words))
    }

    /// Why a job that nothing can serve fails.
    fn unserved(&self, need: &Need) -> EngineError {
        let all = self.known_needs.get(need).map_or(&[][..], |(all, _)| all);
        match all.iter().find(|c| self.refused.contains_key(*c)) {
            Some(c) => EngineError::LoadFailed { configuration: id(*c) },
            None => EngineError::NoConfiguration { need: *need },
        }
    }

    pub(crate) fn at(&mut self, time: Picos, what: Happens) {
        self.agenda_count += 1;
        self.agenda.push(Reverse((time, self.agenda_count, what)));
    }

    pub(crate) fn log(&mut self, start: Picos, end: Picos, slot: usize, what: What) {
        if self.ledger.log(Event { start, end, slot, what }) {
            // What is not logged yet started with a load or an execution that is going on, or starts from now on.
            let loads = self.loads.values().map(|load| load.start);
            let executions = self.executions.values().map(|execution| execution.start);
            let joined = self.slots.iter().filter_map(|slot| slot.session.as_ref()?.oldest());
            let until = loads.chain(executions).chain(joined).min().unwrap_or(self.now).min(self.now);
            self.ledger.settle(until);
        }
    }

    /// Takes the result of a pass: goes on with the next one of the job, or answers it.
    pub(crate) fn answer(&mut self, op: u64, result: Result<Vec<u8>, EngineError>) {
        self.queue.finish(op);
        let Some(Pending { mut job, second, arrived, .. }) = self.jobs.remove(&op) else { return };
        self.failed += u64::from(result.is_err());
        let operation = &mut job.operation;
        let result =
            result.and_then(|result| pass::apply(&operation.action, second, &result, &mut operation.buffer));
        match (result, operation.action.needs().1) {
            (Ok(()), Some(need)) if !second => self.enqueue(job, true, arrived, need, None),
            (result, _) => self.done.push(Completion { id: job.id, buffer: job.operation.buffer, result }),
        }
    }

    /// Makes a pass of a job wait for a slot. `after`: what the job needs behind it.
    fn enqueue(&mut self, job: Job, second: bool, arrived: Picos, need: Need, after: Option<Need>) {
        let id = self.next_op;
        self.next_op += 1;
        let (candidates, words) = self.candidates(&need);
        let then: Vec<Vec<usize>> = after.iter().map(|need| self.candidates(need).0).collect();
        let (lane, packet) = (job.lane, job.packet);
        let bytes = u32::try_from(job.operation.buffer.len()).unwrap_or(u32::MAX);
        let estimate = |candidates: &[usize], need: &Need, second: bool| {
            let bytes = pass::data_len(&job.operation.action, second);
            candidates.first().map_or(0, |c| self.catalogue.configurations[*c].estimate(need, bytes))
        };
        let cost = estimate(&candidates, &need, second);
        let next = after.zip(then.first()).map_or(0, |(need, them)| estimate(them, &need, true));
        let cpu = self.on_processor(&job.operation.action, second, &need);
        let aside = self.aside(pass::data_len(&job.operation.action, second));
        self.jobs.insert(id, Pending { job, second, arrived, queued: self.now, words });
        if candidates.is_empty() && cpu.is_none() {
            let error = self.unserved(&need);
            self.answer(id, Err(error));
            return;
        }
        self.ask = true;
        let class = self.queue.class(&candidates, &then);
        self.queue.set_paces(class, self.paces(&candidates, &need));
        self.queue.push(QueuedOp { id, lane, packet, arrived, class, cost, next, cpu, aside, bytes });
    }

    /// How fast candidates are, beside the first of them, and on how many frames each works at once.
    fn paces(&self, candidates: &[usize], need: &Need) -> Vec<(f64, f64)> {
        const BYTES: usize = 1 << 12;
        let all = &self.catalogue.configurations;
        let of = |c: usize| all[c].estimate(need, BYTES).max(1) as f64;
        let blocks = |c: usize| all[c].blocks.map(|blocks| blocks.pace(all[c].in_flight));
        let Some(&first) = candidates.first() else { return Vec::new() };
        let pace = |c: &usize| match (blocks(first), blocks(*c)) {
            (Some(first), Some(own)) => (own.0 / first.0, own.1),
            _ => (of(*c) / of(first), all[*c].in_flight.max(1) as f64),
        };
        candidates.iter().map(pace).collect()
    }

    /// Gives up a configuration: nothing waits for it any more.
    pub(crate) fn refuse(&mut self, configuration: usize, reason: String) {
        self.refused.insert(configuration, reason);
        for op in self.queue.refuse(configuration) {
            if let Some(need) = self.jobs.get(&op).and_then(Pending::need) {
                let error = self.unserved(&need);
                self.answer(op, Err(error));
            }
        }
    }

    /// Takes decisions until there is nothing more to decide at this instant.
    pub(crate) fn decide(&mut self) {
        self.ask = false;
        while self.done.is_empty() {
            let state = |slot: &Slot| {
                // What a slot works on at a time, one frame in its buffers or several.
                let more = slot.configuration().map_or(1, |c| self.catalogue.configurations[c].in_flight);
                slot.state(self.now, self.config.frame_buffers + more - 1)
            };
            let states: Vec<SlotState> = self.slots.iter().map(state).collect();
            let decision = match &self.beside {
                Some(_) => {
                    let busy = self.busy();
                    self.policy.decide_with_coprocessor(&mut self.queue, &states, &self.costs, busy)
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
                    self.look = None;
                    return;
                }
                Decision::WaitUntil(at) => {
                    self.look = Some(at.max(self.now.saturating_add(1)));
                    return;
                }
            }
        }
        // It goes on when that is taken.
        (self.look, self.ask) = (None, true);
    }

    /// Everything that happens at the next instant. False if nothing is going to happen.
    pub(crate) fn advance(&mut self) -> bool {
        // Nobody has to be asked about an empty queue.
        if self.queue.is_empty() {
            self.look = None;
        }
        let look = self.look;
        self.simulate(look.unwrap_or(Picos::MAX));
        let next = self.agenda.peek().map(|Reverse((time, _, _))| *time);
        let Some(time) = [next, look].into_iter().flatten().min() else { return false };
        self.now = time;
        self.ask |= look == Some(time);
        self.queue.advance(self.now);
        while let Some(Reverse((time, _, _))) = self.agenda.peek()
            && *time == self.now
            && let Some(Reverse((_, _, what))) = self.agenda.pop()
        {
            self.ask |= !matches!(what, Happens::Arrived { .. } | Happens::Executed { .. });
            match what {
                Happens::Loaded { slot } => self.loaded(slot),
                Happens::Arrived { slot, op, handover } => self.arrived(slot, op, handover),
                Happens::Executed { slot, op } => self.executed(slot, op),
                Happens::Returned { slot, op } => self.returned(slot, op),
                Happens::Noticed { op } => self.noticed(op),
                Happens::Computed { op } => self.computed(op),
                Happens::CoreFree => {}
            }
        }
        true
    }

    /// No slot works any more, or a policy does not go on: whatever waits has failed.
    fn give_up(&mut self) {
        let waiting: Vec<u64> = self.queue.waiting().iter().map(|op| op.id).collect();
        for op in waiting {
            self.queue.remove(op);
            self.answer(op, Err(EngineError::NoSlot));
        }
    }
}

/// What partial loads cost, where there are any.
fn switches(config: &BoardConfig, catalogue: &Catalogue) -> BTreeMap<(usize, usize), Picos> {
    let mut switches = BTreeMap::new();
    if config.controller.load == Loads::Full {
        return switches;
    }
    let stored = |(at, c)| Some((at, c, catalogue.stored(c)?));
    let all: Vec<_> = catalogue.configurations.iter().enumerate().filter_map(stored).collect();
    for (from, old, store) in &all {
        for (to, new, _) in &all {
            if let Some(part) = store.part(&old.name, &new.name) {
                let time = config.loading(part.bitstream.len() as u64, part.loader_clocks);
                switches.insert((*from, *to), time);
            }
        }
    }
    switches
}

impl Pending {
    /// What computes the pass.
    fn need(&self) -> Option<Need> {
        let (first, second) = self.job.operation.action.needs();
        if self.second { second } else { Some(first) }
    }
}

/// A configuration of the catalogue, as errors name it.
pub(crate) fn id(configuration: usize) -> ConfigurationId {
    // A catalogue of 2^32 configurations does not fit into memory.
    ConfigurationId(u32::try_from(configuration).unwrap_or(u32::MAX))
}
