// SPDX-License-Identifier: Apache-2.0
//! What computes: this processor at once, the board on its own thread, or whoever costs least now. Every job has an
//! answer, and none is waited for: a load, a slow packet or a board that dies stalls nobody else.

mod board;
mod cost;
mod remote;
mod view;

use std::collections::{HashMap, VecDeque};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::TryRecvError;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ace_engine::{Capabilities, Completion, Engine, EngineError, Job, JobId, Need};

use board::{Answer, BoardThread, Order, is_answer, that_can};
use cost::{Choice, Class, Costs};
use remote::{Shared, lock};

pub use board::{NoBoard, OpenBoard, Slots};
pub use cost::{CostView, Place};
pub use remote::Remote;
pub use view::{BoardView, ConfigurationView, LinkView, LoadView, SlotView, Timeline, View};

/// Packets of one SA that may wait for the board even when many others do.
const SHARE: usize = 4;
/// Of so many batches with packets of several classes one is taken apart, to measure.
const APART: u32 = 64;

/// A job at the board.
struct Away {
    row: usize,
    flow: u32,
    /// What this processor computes should the board fail.
    copy: Option<Job>,
    /// Nobody waits for it: it was sent for its time alone.
    measured: bool,
}

/// This processor, if there is one to choose, and the board.
pub struct Live {
    cpu: Option<Box<dyn Engine + Send>>,
    board: BoardThread,
    lost: bool,
    capabilities: Capabilities,
    /// Algorithms that the board computes whatever it costs.
    on_board: Vec<String>,
    costs: Costs,
    queue: VecDeque<(usize, Job)>,
    away: HashMap<JobId, Away>,
    /// Jobs at the board, by flow.
    flows: HashMap<u32, usize>,
    answered: Vec<Completion>,
    batches: u32,
    /// The board has answered something.
    answers: bool,
    /// Why it has failed something, last.
    why: Option<String>,
    /// Copies that the board got for their time.
    measurements: u64,
    start: Instant,
    shared: Arc<Mutex<Shared>>,
    changed: bool,
}

impl Live {
    /// Makes the board. Without `cpu` it alone computes; with it whoever costs less, but for `on_board`.
    ///
    /// # Errors
    /// Why there is no board, or that it cannot do what `on_board` names.
    pub fn open(
        cpu: Option<Box<dyn Engine + Send>>,
        open: OpenBoard,
        on_board: Vec<String>,
    ) -> Result<(Self, Remote), NoBoard> {
        let pair = UnixStream::pair().and_then(|(ours, theirs)| {
            ours.set_nonblocking(true)?;
            theirs.set_nonblocking(true)?;
            Ok((ours, theirs))
        });
        let (ours, theirs) = pair.map_err(|error| NoBoard::Pipe(error.to_string()))?;
        let (shared, view) = (Arc::<Mutex<Shared>>::default(), Arc::<Mutex<BoardView>>::default());
        let board = BoardThread::start(that_can(open, on_board.clone()), theirs, Arc::clone(&view))?;
        let remote = Remote {
            orders: board.orders.clone(),
            wake: Some(ours),
            shared: Arc::clone(&shared),
            board: view,
        };
        let mut live = Self {
            capabilities: Capabilities::default(),
            cpu,
            board,
            lost: false,
            on_board,
            costs: Costs::default(),
            queue: VecDeque::new(),
            away: HashMap::new(),
            flows: HashMap::new(),
            answered: Vec::new(),
            batches: 0,
            answers: false,
            why: None,
            measurements: 0,
            start: Instant::now(),
            shared,
            changed: true,
        };
        live.can();
        Ok((live, remote))
    }

    /// Says anew what there is somebody for.
    fn can(&mut self) {
        let Self { cpu, board, lost, .. } = self;
        let by_cpu = |need: &Need| cpu.as_ref().is_some_and(|cpu| cpu.capabilities().can(need));
        self.capabilities = Capabilities::of(|need| by_cpu(need) || (!*lost && board.capabilities.can(need)));
    }

    fn board_can(&self, (first, second): (Need, Option<Need>)) -> bool {
        let can = |need: &Need| self.board.capabilities.can(need);
        !self.lost && can(&first) && second.as_ref().is_none_or(can)
    }

    fn cpu_can(&self, (first, second): (Need, Option<Need>)) -> bool {
        let Some(cpu) = &self.cpu else { return false };
        cpu.capabilities().can(&first) && second.is_none_or(|second| cpu.capabilities().can(&second))
    }

    /// Whether the board has room for one more of a flow: all together fill its queue twice, when many flows share it
    /// none has more than its part, and a few packets of any flow find a place beside a flood.
    fn room(&self, flow: u32) -> bool {
        let (most, own) = (self.board.most * 2, self.flows.get(&flow).copied().unwrap_or(0));
        let part = most / (self.flows.len() + usize::from(own == 0));
        (own < SHARE && self.away.len() < most * 2) || (own < part && self.away.len() < most)
    }

    fn give(&mut self, job: Job) {
        let class = Class::of(&job.operation);
        let needs = class.needs();
        let row = self.costs.row(class);
        let fits = ace_board::pass::fits(&job.operation.action);
        let (board, cpu) = (fits && self.board_can(needs), self.cpu_can(needs));
        let named = |need: &Need| {
            matches!(need, Need::Cipher { algorithm, .. } | Need::Hmac { algorithm } | Need::Hash { algorithm }
                if self.on_board.iter().any(|name| name == algorithm.name))
        };
        let only = match (board, cpu) {
            (true, true) if named(&needs.0) || needs.1.as_ref().is_some_and(named) => Some(Place::Board),
            (true, true) => None,
            (true, false) => Some(Place::Board),
            (false, true) => Some(Place::Cpu),
            (false, false) => {
                return self.fail(job, EngineError::NoConfiguration { need: needs.0 });
            }
        };
        let choice = match only {
            None => self.costs.choose(row, self.start.elapsed(), self.away.len()),
            Some(place) => {
                self.costs.settle(row, place);
                if place == Place::Board { Choice::Board } else { Choice::Cpu }
            }
        };
        match choice {
            Choice::Board if self.room(job.flow) => {
                let copy = cpu.then(|| job.clone());
                self.send(row, job, copy, false);
            }
            Choice::Board if !cpu => {
                lock(&self.shared).view.refused += 1;
                self.fail(job, EngineError::Overloaded);
            }
            Choice::Board => {
                lock(&self.shared).view.spilled += 1;
                self.keep(row, job);
            }
            Choice::Cpu => self.keep(row, job),
            Choice::CpuAndMeasure => {
                // The data plane counts its jobs upwards.
                self.measurements += 1;
                let copy = Job { id: JobId::MAX - self.measurements, ..job.clone() };
                self.send(row, copy, None, true);
                self.keep(row, job);
            }
        }
    }

    /// For this processor.
    fn keep(&mut self, row: usize, job: Job) {
        self.costs.count(row, Place::Cpu);
        self.queue.push_back((row, job));
    }

    fn send(&mut self, row: usize, job: Job, copy: Option<Job>, measured: bool) {
        let (id, flow) = (job.id, job.flow);
        if !measured {
            self.costs.count(row, Place::Board);
        }
        self.changed = true;
        *self.flows.entry(flow).or_default() += 1;
        self.away.insert(id, Away { row, flow, copy, measured });
        // A thread that is gone says nothing any more, and everything that is away comes back then.
        if self.board.orders.send(Order::Job(Box::new(job))).is_err() {
            self.bury();
        }
    }

    fn fail(&mut self, job: Job, error: EngineError) {
        self.answered.push(Completion { id: job.id, buffer: job.operation.buffer, result: Err(error) });
    }

    /// Something came back from the board.
    fn back(&mut self, done: Completion) {
        let Some(Away { row, flow, copy, measured }) = self.away.remove(&done.id) else { return };
        if let Some(count) = self.flows.get_mut(&flow) {
            *count -= 1;
            if *count == 0 {
                self.flows.remove(&flow);
            }
        }
        let is_answer = is_answer(&done.result);
        self.judge(is_answer);
        if measured {
            if !is_answer {
                self.costs.bar(row);
            }
            return;
        }
        match copy.filter(|_| !is_answer) {
            Some(job) => {
                self.costs.bar(row);
                lock(&self.shared).view.taken_over += 1;
                self.queue.push_back((row, job));
            }
            None => self.answered.push(done),
        }
    }

    /// A board of which nothing was answered yet and something failed is said to fail, once: a class of packets that it
    /// fails is not sent to it again where there is a choice, so that nobody else would notice.
    fn judge(&mut self, is_answer: bool) {
        if is_answer && !std::mem::replace(&mut self.answers, true) {
            lock(&self.shared).view.board_fails = None;
        }
        if is_answer || self.answers || self.lost {
            return;
        }
        let why = self.why.as_deref().unwrap_or("it does not say why");
        let mut shared = lock(&self.shared);
        if shared.view.board_fails.replace(why.to_owned()).is_none() {
            let instead = match self.cpu {
                Some(_) => "this processor computes what it can instead",
                None => "packets that need it are dropped",
            };
            shared.event = Some(format!("every operation on the board has failed so far, {instead}: {why}"));
        }
    }

    /// The board's thread is gone, and everything with it.
    fn bury(&mut self) {
        if std::mem::replace(&mut self.lost, true) {
            return;
        }
        let ids: Vec<JobId> = self.away.keys().copied().collect();
        for id in ids {
            self.back(Completion { id, buffer: Default::default(), result: Err(EngineError::NoSlot) });
        }
        self.can();
        let mut shared = lock(&self.shared);
        shared.view.board_lost = true;
        shared.library.get_or_insert(Err(NoBoard::Gone));
    }

    /// Takes what the board has said; waits for it if `wait`, and there is something to wait for.
    fn listen(&mut self, mut wait: bool) {
        while !self.lost {
            let heard = if std::mem::take(&mut wait) {
                self.board.answers.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                self.board.answers.try_recv()
            };
            match heard {
                Ok(Answer::Done(done)) => done.into_iter().for_each(|done| self.back(done)),
                Ok(Answer::Failure(why)) => self.why = Some(why),
                Ok(Answer::Cost(class, ns)) => {
                    let row = self.costs.row(class);
                    self.costs.measured(row, Place::Board, ns);
                    self.changed = true;
                }
                Ok(Answer::Library(outcome)) => self.switched(outcome),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => self.bury(),
            }
        }
    }

    fn switched(&mut self, outcome: Result<(Capabilities, String), NoBoard>) {
        let outcome = outcome.map(|(capabilities, words)| {
            self.board.capabilities = capabilities;
            self.costs.forget_board();
            self.can();
            (self.answers, self.why) = (false, None);
            let mut shared = lock(&self.shared);
            shared.view.board_fails = None;
            shared.view.switched += 1;
            words
        });
        lock(&self.shared).library = Some(outcome);
    }

    /// Computes what is for this processor, and measures where all is of one class.
    fn compute(&mut self) {
        let Some(cpu) = &mut self.cpu else { return };
        let Some(&(first, _)) = self.queue.front() else { return };
        let mixed = self.queue.iter().any(|(row, _)| *row != first);
        let unknown = || self.queue.iter().any(|(row, _)| !self.costs.knows_cpu(*row));
        self.batches = self.batches.wrapping_add(1);
        let apart = mixed && (self.batches.is_multiple_of(APART) || unknown());
        let mut jobs = VecDeque::new();
        while let Some((row, job)) = self.queue.pop_front() {
            jobs.push_back(job);
            let ends = self.queue.front().is_none_or(|(next, _)| apart && *next != row);
            if !ends {
                continue;
            }
            let (since, count) = (Instant::now(), jobs.len());
            while !jobs.is_empty() {
                let before = (jobs.len(), self.answered.len());
                cpu.try_submit(&mut jobs);
                cpu.wait(&mut self.answered);
                if before == (jobs.len(), self.answered.len()) {
                    // Never seen; a job without an answer would be waited for.
                    let lost = jobs.drain(..).map(|job| Completion {
                        id: job.id,
                        buffer: job.operation.buffer,
                        result: Err(EngineError::Lost),
                    });
                    self.answered.extend(lost);
                }
            }
            if apart || !mixed {
                let ns = since.elapsed().as_nanos() as f64 / count as f64;
                self.costs.measured(row, Place::Cpu, ns);
                self.changed = true;
            }
        }
    }

    fn finish(&mut self, done: &mut Vec<Completion>) -> usize {
        self.compute();
        done.append(&mut self.answered);
        if std::mem::take(&mut self.changed)
            && let Ok(mut shared) = self.shared.try_lock()
        {
            shared.view.costs = self.costs.view();
        }
        self.away.len()
    }
}

impl Engine for Live {
    fn name(&self) -> &'static str {
        if self.cpu.is_some() { "auto" } else { "board" }
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Takes them all: what does not fit anywhere has its answer at once.
    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        for job in jobs.drain(..) {
            self.give(job);
        }
    }

    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        self.listen(false);
        self.finish(done)
    }

    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        loop {
            let before = done.len();
            let away = self.drain(done);
            if done.len() > before || away == 0 {
                return away;
            }
            self.listen(true);
        }
    }
}

#[cfg(test)]
mod tests;
