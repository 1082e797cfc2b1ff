// SPDX-License-Identifier: Apache-2.0
//! Slots behind a cable as an engine: jobs become frames of the array's slot, several of which are under way at a time.
//!
//! Passes under one set and key go together. A key goes behind the data of the former one, without waiting for their
//! answers. A set is loaded where nothing is, or else in place of what was used least lately; then the slot comes to its end
//! first, so that it is known which bank runs and which one is overwritten. What the board has not computed under the key
//! for which it was made is sent again under its own. A set that was loaded goes into the board's store when nothing else is to
//! be sent, and is loaded by its place there from then on.
//!
//! When the session is lost, everything that was handed over fails by name, and the board is asked for a new one. While
//! there is none jobs fail at once.

mod dispatch;
mod events;
mod fixed;
mod groups;
mod jobs;
mod keys;
mod look;
mod sessions;
mod shelf;
mod slots;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use ace_board::array::Loadable;
use ace_board::expected::Expected;
use ace_board::frame::Status;
use ace_board::pass;
use ace_engine::{
    Action, Capabilities, Completion, ConfigurationId, Engine, EngineError, Job, Need, SlotFailure,
};
use thiserror::Error;

use self::fixed::{Fixed, Question, Questions};
use self::groups::{Groups, NO_KEY};
use self::jobs::{Jobs, Slab};
use self::keys::Keys;
use self::look::Tally;
pub use self::look::{BankReport, Done, Shelved, Work};
use self::shelf::Shelf;
use self::slots::Slot;
use crate::session::{Counts, Loss, Session, draw};
use crate::wire::{self, BOARD};
use crate::{Batch, Identity, Wire};

/// Jobs that are taken at a time.
const MOST: usize = 256;
/// With so many jobs under way the first answer is not looked at before others have come as well.
const MANY: usize = 16;
const GATHERS: Duration = Duration::from_micros(20);
/// Bytes of a slot's frame besides its data at most: header, IV, associated data and tag.
const AROUND: usize = 16 + 16 + 256 + 16;

/// Why there is no engine.
#[derive(Debug, Error)]
pub enum OpenError {
    /// No session was opened.
    #[error("{interface}: {loss}")]
    Lost {
        /// The interface.
        interface: String,
        /// Why.
        loss: Loss,
    },
    /// The board has no slot.
    #[error("{0}: the board says that it has no slots")]
    NoSlots(String),
    /// No slot takes context sets, and none of them computes anything right.
    #[error("{0}: no slot of the board takes context sets or computes anything right that is known here")]
    Useless(String),
    /// The system has no random numbers.
    #[error("no random number for a session: {0}")]
    Random(getrandom::Error),
}

/// Whom an answer is for.
#[derive(Debug)]
enum Pending {
    Data { job: usize, set: usize, key: u64, at: (usize, usize), expected: Expected },
    Load { set: usize, at: (usize, usize), by_name: bool },
    Key { set: usize, key: u64, at: (usize, usize) },
    Mark,
    Question(Question),
}

/// How it stands with the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Jobs wait for the session that is being opened.
    Opens,
    /// Slots are asked what they compute; jobs wait.
    Asks,
    Open,
    /// Jobs fail at once, and a session is asked for now and then.
    Down,
}

/// An engine over the link.
pub struct LinkEngine<W: Wire> {
    interface: String,
    wire: W,
    start: Instant,
    session: Session,
    state: State,
    opened: Duration,
    next_try: Duration,
    brief: u32,
    loss: Option<Loss>,
    identity: Identity,
    sets: Vec<Loadable>,
    /// What slots compute that take no sets; such a slot has the number of a set, behind all sets.
    fixed: Vec<Fixed>,
    questions: Questions,
    /// The image whose slots were asked.
    asked: Option<[u8; wire::BEAT]>,
    /// Which set computes what.
    serves: HashMap<Need, usize>,
    /// Sets that the slot does not take, and what it said.
    refused: HashMap<usize, Option<Status>>,
    failures: HashMap<usize, u32>,
    /// Keys that a slot does not take, how often, and what it said last.
    unkeyed: HashMap<(usize, u64), (u32, Status)>,
    capabilities: Capabilities,
    jobs: Jobs,
    groups: Groups,
    tickets: Slab<Pending>,
    slots: Vec<Slot>,
    shelf: Shelf,
    keys: Keys,
    batch: Batch,
    /// What was wrong with the last answer that broke the rules of the boundary.
    complaint: String,
    /// A slot does not hold what it is thought to hold.
    disorder: bool,
    work: Work,
    tally: Tally,
    counts: Counts,
}

impl<W: Wire> LinkEngine<W> {
    /// Opens a session with the board at the other end of a wire, which is called as its interface is.
    ///
    /// # Errors
    /// Why there is none.
    pub fn open(wire: W, interface: &str, sets: Vec<Loadable>) -> Result<Self, OpenError> {
        let session = draw().map_err(OpenError::Random)?;
        let mut engine = Self {
            interface: interface.to_owned(),
            session: Session::new(wire.address(), BOARD, session, Duration::ZERO),
            wire,
            start: Instant::now(),
            state: State::Opens,
            opened: Duration::ZERO,
            next_try: Duration::ZERO,
            brief: 0,
            loss: None,
            identity: Identity::default(),
            capabilities: Capabilities::of(|_| false),
            serves: HashMap::new(),
            sets,
            fixed: Vec::new(),
            questions: Questions::default(),
            asked: None,
            refused: HashMap::new(),
            failures: HashMap::new(),
            unkeyed: HashMap::new(),
            jobs: Jobs::default(),
            groups: Groups::default(),
            tickets: Slab::default(),
            slots: Vec::new(),
            shelf: Shelf::default(),
            keys: Keys::default(),
            batch: Batch::default(),
            complaint: String::new(),
            disorder: false,
            work: Work::default(),
            tally: Tally::default(),
            counts: Counts::default(),
        };
        while matches!(engine.state, State::Opens | State::Asks) {
            engine.pump();
            engine.rest();
        }
        match engine.loss {
            Some(loss) => Err(OpenError::Lost { interface: interface.to_owned(), loss }),
            None if engine.slots.is_empty() => Err(OpenError::NoSlots(interface.to_owned())),
            None if engine.serves.is_empty() => Err(OpenError::Useless(interface.to_owned())),
            None => Ok(engine),
        }
    }

    /// Finds out anew what computes what: slots that need no sets first, and of sets those for throughput.
    fn serve(&mut self) {
        self.serves.clear();
        let fixed = (self.sets.len()..).zip(&self.fixed).map(|(at, fixed)| (at, fixed.can.as_slice()));
        let arrays = self.identity.arrays != 0;
        let sets = |first: bool| {
            let own = self.sets.iter().enumerate().filter(move |(_, set)| arrays && set.is_first() == first);
            own.map(|(at, set)| (at, set.can()))
        };
        let all = Need::all();
        for (at, can) in fixed.chain(sets(true)).chain(sets(false)) {
            for need in all.iter().filter(|need| can.iter().any(|can| can.serves(need))) {
                self.serves.entry(*need).or_insert(at);
            }
        }
        self.capabilities = Capabilities::of(|need| self.serves.contains_key(need));
    }

    /// What computes: a set, or what a slot computes without one.
    fn name_of(&self, set: usize) -> Option<&str> {
        let fixed = || self.fixed.get(set.checked_sub(self.sets.len())?).map(|fixed| fixed.name.as_str());
        self.sets.get(set).map(Loadable::name).or_else(fixed)
    }

    /// From now on this set alone computes what it can; for measurements. Without a slot that takes sets nothing changes.
    pub fn only(&mut self, name: &str) {
        let named = self.sets.iter().position(|set| set.name() == name);
        if let Some(at) = named.filter(|_| self.identity.arrays != 0) {
            let can = self.sets.get(at).map(Loadable::can).unwrap_or_default();
            let own = Need::all().into_iter().filter(|need| can.iter().any(|can| can.serves(need)));
            self.serves.extend(own.map(|need| (need, at)));
        }
    }

    /// What it has to do when nobody asks it for anything: at least twice a second, or the board forgets the session.
    pub fn idle(&mut self) {
        self.pump();
        let now = self.now();
        self.keys.clean(now);
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// Takes what has come, asks slots, and sends.
    fn pump(&mut self) {
        let now = self.now();
        if self.state == State::Down && now >= self.next_try {
            self.again(now);
        }
        let Self { wire, session, .. } = self;
        if wire.receive(&mut |frame| session.input(frame, now)).is_err() {
            self.session.lose(Loss::Wire);
        }
        self.hear(now);
        match self.state {
            State::Open => {
                self.dispatch(now);
                self.shelve(now);
            }
            State::Asks => self.ask(now),
            State::Opens | State::Down => {}
        }
        // To expand keys may have taken a while.
        let now = self.now();
        self.batch.clear();
        self.session.output(&mut self.batch, now);
        if !self.batch.is_empty() && self.wire.send(&self.batch).is_err() {
            self.session.lose(Loss::Wire);
        }
        self.hear(now);
    }

    /// Waits until something comes or is to be sent.
    fn rest(&mut self) {
        let now = self.now();
        let due = match self.state {
            State::Down => self.next_try,
            _ => self.session.due().unwrap_or(now),
        };
        let patience = due.saturating_sub(now).min(Duration::from_millis(100));
        if self.wire.wait(patience).is_err() {
            self.session.lose(Loss::Wire);
            // Not to turn round and round.
            std::thread::sleep(patience.min(Duration::from_millis(10)));
        }
    }

    /// The set for an action's pass, and the key that it needs.
    fn group(&self, action: &Action, second: bool) -> Option<(usize, u64)> {
        let (first, behind) = pass::needs(action);
        let need = if second { behind? } else { first };
        let set = *self.serves.get(&need)?;
        let cipher_first =
            matches!(action, Action::CipherMac { direction: ace_engine::Direction::Encrypt, .. });
        let key = match action {
            Action::Cipher { key, .. } | Action::Aead { key, .. } | Action::Mac { key, .. } => key,
            Action::CipherMac { cipher, mac, .. } => {
                if second != cipher_first {
                    cipher
                } else {
                    mac
                }
            }
        };
        Some((set, if let Need::Hash { .. } = need { NO_KEY } else { key.id() }))
    }

    /// A pass of a job waits for a slot.
    fn wait_for_slot(&mut self, job: usize, in_front: bool) {
        let Some(running) = self.jobs.get_mut(job) else { return };
        let (action, second) = (running.action.clone(), running.second);
        let need = pass::needs(&action).0;
        match self.group(&action, second) {
            Some((set, _)) if self.refused.contains_key(&set) => {
                let configuration = ConfigurationId::from_index(set);
                self.jobs.finish(job, Err(EngineError::LoadFailed { configuration }));
            }
            Some((set, key)) => self.groups.add(set, key, job, in_front),
            None => self.jobs.finish(job, Err(EngineError::NoConfiguration { need })),
        }
    }
}

impl<W: Wire> Engine for LinkEngine<W> {
    fn name(&self) -> &'static str {
        "link"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// A frame that the board's queue does not hold would be cut short when the slot is slower than the cable.
    fn takes(&self, action: &Action) -> bool {
        let (first, second) = (pass::data_len(action, false), pass::data_len(action, true));
        let longest = first.max(second) + AROUND;
        pass::fits(action) && wire::queued(longest) <= usize::from(self.identity.queue)
    }

    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        while self.jobs.len() < MOST
            && let Some(job) = jobs.pop_front()
        {
            if self.state == State::Down {
                self.jobs.refuse(job, EngineError::NoSlot);
                continue;
            }
            let action = &job.operation.action;
            let need = pass::needs(action).0;
            if let Err(error) = job.operation.check() {
                self.jobs.refuse(job, error);
            } else if !self.takes(action) {
                self.jobs.refuse(job, EngineError::NoConfiguration { need });
            } else {
                let at = self.jobs.add(job);
                self.wait_for_slot(at, false);
            }
        }
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        self.pump();
        self.jobs.answered(done);
        self.jobs.len()
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        let before = done.len();
        loop {
            let in_flight = self.drain(done);
            if done.len() > before || in_flight == 0 {
                return in_flight;
            }
            self.rest();
            // Where much is under way, a system call for each of it would cost more than all the rest.
            if in_flight >= MANY {
                std::thread::sleep(GATHERS);
            }
        }
    }

    fn explain(&self, error: &EngineError) -> String {
        let name = |configuration: ConfigurationId| self.name_of(configuration.index()).unwrap_or("a set");
        match *error {
            EngineError::SlotStatus { status, configuration, .. } => {
                let status =
                    Status::from_code(status).map_or_else(|| status.to_string(), |it| it.to_string());
                format!("the slot answered `{status}` to {}", name(configuration))
            }
            EngineError::LoadFailed { configuration } => {
                let why = self.refused.get(&configuration.index()).copied().flatten();
                let why = why.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
                format!("the slot does not take the context set {}: {why}", name(configuration))
            }
            EngineError::SlotFailed { failure: SlotFailure::Protocol, .. } => self.complaint.clone(),
            EngineError::SlotFailed { .. } | EngineError::NoSlot => match self.loss {
                Some(loss) => format!("{}: {loss}", self.interface),
                None => format!("{}: the session was lost, and there is a new one", self.interface),
            },
            _ => error.to_string(),
        }
    }
}

impl<W: Wire> Drop for LinkEngine<W> {
    /// The board forgets sets and keys.
    fn drop(&mut self) {
        self.session.close();
        self.batch.clear();
        let now = self.now();
        self.session.output(&mut self.batch, now);
        // Else the session ends by itself.
        let _ = self.wire.send(&self.batch);
    }
}
