// SPDX-License-Identifier: Apache-2.0
//! The board on a thread of its own: it works while packets go on elsewhere, and takes a newer library when it has
//! nothing in flight.

use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ace_board::Board;
use ace_engine::{Capabilities, Completion, Engine, EngineError, Job};
use thiserror::Error;

use super::cost::Class;
use super::view::{BoardView, Timeline};

/// What works on the thread.
pub trait Slots: Engine {
    /// Jobs that it takes at a time.
    fn most(&self) -> usize;

    /// Version and words of its library.
    fn library(&self) -> Option<(u64, String)>;

    /// Having nothing to do, it wants to be asked so often whether it has, all the same.
    fn idles(&self) -> Option<Duration> {
        None
    }

    /// There is nothing to do.
    fn idle(&mut self) {}

    /// How it stands; `now` is wall time since the thread began.
    fn look(&mut self, timeline: &mut Timeline, now: Duration) -> BoardView;
}

impl Slots for Board {
    fn most(&self) -> usize {
        self.packet_buffer()
    }

    fn library(&self) -> Option<(u64, String)> {
        self.catalogue().store.as_ref().map(|store| (store.version(), store.words()))
    }

    fn look(&mut self, timeline: &mut Timeline, now: Duration) -> BoardView {
        let report = self.report();
        self.keep_events(0);
        self.keep_events(EVENTS);
        BoardView::of(&report, timeline, now)
    }
}

/// Whether the board has done its part: a tag that does not match, or lengths that make no sense, are an answer.
pub(super) fn is_answer(result: &Result<(), EngineError>) -> bool {
    matches!(result, Ok(()) | Err(EngineError::Mismatch | EngineError::Illegal(_)))
}

/// Why there is no board, or not the one with the library that was handed over.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NoBoard {
    /// It cannot be made: a sentence with the remedy.
    #[error("{0}")]
    Open(String),
    /// It would work on a thread of its own.
    #[error("no thread for the board: {0}")]
    Thread(String),
    /// The configuration gives it an algorithm that it has nothing for.
    #[error(
        "`on_board` of [engine] names `{name}`, which the board cannot do ({}); leave it out, or name a board and a \
         library that can",
        if can.is_empty() { "it can do nothing".to_owned() } else { format!("it can do {}", can.join(", ")) }
    )]
    OnBoard {
        /// The algorithm.
        name: String,
        /// What it has something for.
        can: Vec<&'static str>,
    },
    /// Nothing can wake who waits for it.
    #[error("no pipe to the board: {0}")]
    Pipe(String),
    /// The thread is gone without a word.
    #[error("the board's thread ended at once")]
    Ended,
    /// The thread has ended since.
    #[error("the board's thread is gone: restart the gateway")]
    Gone,
    /// A library was handed over, and the board has none.
    #[error("there is no library in it")]
    NoLibrary,
    /// Libraries only become newer.
    #[error("{} has version {new}, and version {old} is at work: only a newer one is taken", path.display())]
    Older {
        /// What was handed over.
        path: PathBuf,
        /// Its version.
        new: u64,
        /// The version of the library at work.
        old: u64,
    },
}

/// Makes a board: the one that was configured, or the same with another library.
///
/// # Errors
/// A sentence with the remedy.
pub type OpenBoard = Box<dyn FnMut(Option<&Path>) -> Result<Box<dyn Slots>, NoBoard> + Send>;

/// The same, of boards alone that can do what they are given whatever it costs.
pub fn that_can(mut open: OpenBoard, on_board: Vec<String>) -> OpenBoard {
    Box::new(move |library| {
        let board = open(library)?;
        let can = board.capabilities().algorithms();
        match on_board.iter().find(|name| !can.contains(name.as_str())) {
            Some(name) => Err(NoBoard::OnBoard { name: name.clone(), can: can.into_iter().collect() }),
            None => Ok(board),
        }
    })
}

/// Events between two looks at the board, of which loads are shown.
const EVENTS: usize = 1 << 12;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// Packets after which a figure is taken of a board that is never idle.
const ENOUGH: u32 = 64;

pub enum Order {
    Job(Box<Job>),
    Library(PathBuf),
}

pub enum Answer {
    Done(Vec<Completion>),
    /// Why one of those that come next has failed, in the board's words.
    Failure(String),
    /// So many nanoseconds of wall time for each packet, where all were of one class.
    Cost(Class, f64),
    /// What came of [`Order::Library`]: what it can do now, and the library in words.
    Library(Result<(Capabilities, String), NoBoard>),
}

/// This side of the thread.
pub struct BoardThread {
    pub orders: Sender<Order>,
    pub answers: Receiver<Answer>,
    pub capabilities: Capabilities,
    /// Jobs that it holds.
    pub most: usize,
}

impl BoardThread {
    /// Makes the board on its thread. `wake` is written to when there are answers.
    ///
    /// # Errors
    /// Why there is no board.
    pub fn start(
        mut open: OpenBoard,
        wake: UnixStream,
        view: Arc<Mutex<BoardView>>,
    ) -> Result<Self, NoBoard> {
        let (orders, inbox) = channel();
        let (outbox, answers) = channel();
        let (told, first) = channel();
        let run = move || {
            let board = match open(None) {
                Ok(board) => board,
                Err(why) => return drop(told.send(Err(why))),
            };
            let most = board.most();
            if told.send(Ok((board.capabilities().clone(), most))).is_ok() {
                Work::new(board, open, Out { outbox, wake }, view).run(&inbox);
            }
        };
        let thread = std::thread::Builder::new().name("board".to_owned()).spawn(run);
        thread.map_err(|error| NoBoard::Thread(error.to_string()))?;
        let (capabilities, most) = first.recv().map_err(|_| NoBoard::Ended)??;
        Ok(Self { orders, answers, capabilities, most })
    }
}

/// The way back.
struct Out {
    outbox: Sender<Answer>,
    wake: UnixStream,
}

impl Out {
    /// False when nobody is there any more.
    fn say(&mut self, answer: Answer) -> bool {
        let heard = self.outbox.send(answer).is_ok();
        // A full pipe wakes as well.
        let _ = self.wake.write(&[1]);
        heard
    }
}

struct Work {
    board: Box<dyn Slots>,
    open: OpenBoard,
    out: Out,
    view: Arc<Mutex<BoardView>>,
    timeline: Timeline,
    start: Instant,
    looked: Duration,
    jobs: VecDeque<Job>,
    library: Option<PathBuf>,
    /// Since when, how many, and of which class if of one: `None` in the inner one once they differ.
    period: Option<(Instant, u32, Option<Class>)>,
}

impl Work {
    fn new(board: Box<dyn Slots>, open: OpenBoard, out: Out, view: Arc<Mutex<BoardView>>) -> Self {
        Self {
            board,
            open,
            out,
            view,
            timeline: Timeline::default(),
            start: Instant::now(),
            looked: Duration::ZERO,
            jobs: VecDeque::new(),
            library: None,
            period: None,
        }
    }

    fn run(mut self, inbox: &Receiver<Order>) {
        self.look(true);
        while let Some(order) = self.next(inbox) {
            self.take(order);
            if !self.work(inbox) {
                return;
            }
            if let Some(path) = self.library.take()
                && !self.switch(&path)
            {
                return;
            }
            self.look(true);
        }
    }

    /// Waits for an order; `None`: there will be none.
    fn next(&mut self, inbox: &Receiver<Order>) -> Option<Order> {
        loop {
            let Some(patience) = self.board.idles() else { return inbox.recv().ok() };
            match inbox.recv_timeout(patience) {
                Ok(order) => return Some(order),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    self.board.idle();
                    self.look(false);
                }
            }
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Library(path) => self.library = Some(path),
            Order::Job(job) => {
                let class = Class::of(&job.operation);
                let (_, _, of) = self.period.get_or_insert((Instant::now(), 0, Some(class)));
                *of = of.filter(|of| *of == class);
                self.jobs.push_back(*job);
            }
        }
    }

    /// Until nothing is left, or a library waits and nothing is in flight: orders behind it are for the new one.
    fn work(&mut self, inbox: &Receiver<Order>) -> bool {
        let mut in_flight = 0;
        loop {
            while self.library.is_none() && self.jobs.len() < self.board.most() {
                match inbox.try_recv() {
                    Ok(order) => self.take(order),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            if self.jobs.is_empty() && in_flight == 0 {
                return true;
            }
            let mut done = Vec::new();
            let waiting = self.jobs.len();
            self.board.try_submit(&mut self.jobs);
            in_flight = self.board.wait(&mut done);
            if done.is_empty() && waiting == self.jobs.len() {
                // It neither takes nor answers: what waits has failed.
                let lost = |job: Job| Completion {
                    id: job.id,
                    buffer: job.operation.buffer,
                    result: Err(EngineError::Lost),
                };
                done.extend(self.jobs.drain(..).map(lost));
                if done.is_empty() {
                    return false;
                }
            }
            self.measure(
                u32::try_from(done.len()).unwrap_or(u32::MAX),
                self.jobs.is_empty() && in_flight == 0,
            );
            let failed = done.iter().find(|done| !is_answer(&done.result));
            if let Some(Err(error)) = failed.map(|done| &done.result) {
                self.out.say(Answer::Failure(self.board.explain(error)));
            }
            if !done.is_empty() && !self.out.say(Answer::Done(done)) {
                return false;
            }
            self.look(false);
        }
    }

    fn measure(&mut self, done: u32, idle: bool) {
        let Some((since, count, class)) = &mut self.period else { return };
        *count += done;
        if !idle && *count < ENOUGH {
            return;
        }
        let (took, count, class) = (since.elapsed(), *count, *class);
        self.period = None;
        if let Some(class) = class.filter(|_| count > 0) {
            self.out.say(Answer::Cost(class, took.as_nanos() as f64 / f64::from(count)));
        }
        if !idle {
            // What is under way is counted from here; its class shows when the next job comes.
            self.period = Some((Instant::now(), 0, class));
        }
    }

    /// Nothing is in flight: the slots' frames have ended.
    fn switch(&mut self, path: &Path) -> bool {
        let old = self.board.library().map(|(version, _)| version);
        let outcome = (self.open)(Some(path)).and_then(|board| match (old, board.library()) {
            (_, None) => Err(NoBoard::NoLibrary),
            (Some(old), Some((new, _))) if new <= old => {
                Err(NoBoard::Older { path: path.to_owned(), new, old })
            }
            (_, Some((_, words))) => {
                self.board = board;
                Ok((self.board.capabilities().clone(), words))
            }
        });
        if outcome.is_ok() {
            self.timeline.begin_anew();
        }
        self.look(true);
        self.out.say(Answer::Library(outcome))
    }

    fn look(&mut self, now: bool) {
        let at = self.start.elapsed();
        if !now && at < self.looked + LOOK {
            return;
        }
        self.looked = at;
        let seen = self.board.look(&mut self.timeline, at);
        *self.view.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
}
