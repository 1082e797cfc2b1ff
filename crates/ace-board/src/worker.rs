// SPDX-License-Identifier: Apache-2.0
//! The thread that simulates a slot. Wall time only: nothing here knows the virtual clock, and what comes back
//! depends on the order of the calls alone.

mod overlapping;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use ace_engine::{Direction, Kind};
use zeroize::Zeroizing;

use self::overlapping::Joined;
pub use self::overlapping::News;
use crate::expected::Expected;
pub use crate::expected::Failure;
use crate::frame::{self, HMAC_KEY_MAX, Header, KeySection, Status};
use crate::joint::{self, Then};
use crate::model::{Frame, Options, RunError, SlotModel};
use crate::pass::{Pass, Task};

/// One task for a slot.
pub struct Request {
    pub task: Task,
    /// The slot does not hold the key: it goes with the frame.
    pub fresh_key: bool,
    pub tag: u16,
    /// Clocks without a beat after which the slot counts as hanging.
    pub max_clocks: u64,
    /// What takes the result in the slot.
    pub then: Option<Box<Then>>,
}

/// What came of a [`Request`].
#[derive(Debug)]
pub struct Answer {
    /// Nothing in it: the slot has judged the tag that came with the text, and it is another one.
    pub result: Result<Option<Vec<u8>>, Failure>,
    /// Clocks from the first request beat to the last response beat; of all frames that it took.
    pub cycles: u64,
    /// The same from the first request beat of the requests that were run together with it.
    pub finished: u64,
    /// Bytes of the last response; of both, if the result was taken in the slot.
    pub response_bytes: u64,
    /// Clocks to the first one of both.
    pub passed_on: u64,
}

impl Answer {
    pub fn failed(failure: Failure) -> Self {
        Self { result: Err(failure), cycles: 0, finished: 0, response_bytes: 0, passed_on: 0 }
    }
}

enum Order {
    Configure(Box<dyn SlotModel>),
    Clear,
    /// Requests that the slot works on at the same time.
    Run(Vec<Request>),
    /// A request that joins those that are under way, by its number.
    Join(u64, Request),
    /// So many clocks may have passed since the first one overlapping.
    Go(u64),
    /// The failure has been seen: requests from here on are to be tried again.
    Resume,
}

/// A slot's thread. Requests are answered in order, one [`Answer`] each.
pub struct Worker {
    orders: Option<Sender<Order>>,
    answers: Receiver<Answer>,
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// # Errors
    /// When the system gives no thread.
    pub fn start(name: String) -> std::io::Result<Self> {
        let (orders, inbox) = channel();
        let (outbox, answers) = channel();
        let (paper, news) = channel();
        let thread = std::thread::Builder::new().name(name).spawn(move || work(&inbox, &outbox, &paper))?;
        Ok(Self { orders: Some(orders), answers, news, thread: Some(thread) })
    }

    /// The slot is this model from now on.
    pub fn configure(&self, model: Box<dyn SlotModel>) {
        self.order(Order::Configure(model));
    }

    /// The slot holds nothing from now on.
    pub fn clear(&self) {
        self.order(Order::Clear);
    }

    /// Requests behind a failure are tried again from here on.
    pub fn resume(&self) {
        self.order(Order::Resume);
    }

    /// Hands over requests that are in the slot together.
    pub fn run(&self, requests: Vec<Request>) {
        self.order(Order::Run(requests));
    }

    /// Hands over a request that joins what the slot is working on. Nothing else is run before all that overlapping are answered.
    pub fn join(&self, number: u64, request: Request) {
        self.order(Order::Join(number, request));
    }

    /// Lets the slot go on until so many clocks since the first one overlapping have passed, or one is answered.
    pub fn go(&self, until: u64) {
        self.order(Order::Go(until));
    }

    /// Waits until it is there; none comes of a thread that is gone.
    pub fn news(&self) -> Option<News> {
        self.news.recv().ok()
    }

    /// Waits for the next answer. A thread that is gone is a slot that does not answer.
    pub fn answer(&self) -> Answer {
        self.answers.recv().unwrap_or_else(|_| Answer::failed(Failure::Silent))
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // A thread that is gone shows when its answer is missed.
            let _ = orders.send(order);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(inbox: &Receiver<Order>, outbox: &Sender<Answer>, paper: &Sender<News>) {
    let mut model: Option<Box<dyn SlotModel>> = None;
    let mut flushing = false;
    let mut overlapping = Joined::default();
    while let Ok(order) = inbox.recv() {
        match order {
            Order::Configure(new) => (model, flushing, overlapping) = (Some(new), false, Joined::default()),
            Order::Clear => (model, flushing, overlapping) = (None, false, Joined::default()),
            Order::Resume => flushing = false,
            Order::Join(number, request) => {
                if let Some(model) = &mut model {
                    overlapping.join(model.as_mut(), number, &request);
                }
            }
            Order::Go(until) => {
                let Some(model) = &mut model else { return };
                if paper.send(overlapping.go(model.as_mut(), until)).is_err() {
                    return;
                }
            }
            Order::Run(requests) => {
                let answers = match &mut model {
                    Some(model) if !flushing => execute(model.as_mut(), &requests),
                    _ => requests.iter().map(|_| Answer::failed(Failure::Flushed)).collect(),
                };
                for mut answer in answers {
                    // What stands behind a failure may have counted on a key that the slot has not.
                    if flushing {
                        answer = Answer::failed(Failure::Flushed);
                    }
                    flushing |= answer.result.is_err();
                    if outbox.send(answer).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Bytes that a request puts on the host link. A long HMAC key costs a hash frame and its response first.
pub fn request_bytes(task: &Task, fresh_key: bool) -> u64 {
    let data = match &task.pass {
        Pass::Aead { direction: Direction::Decrypt, tag_len, .. } => {
            frame::padded(frame::result_len(task)) + frame::padded(*tag_len)
        }
        _ => frame::padded(task.data.len()),
    };
    let hashed = match &task.pass {
        Pass::Hmac { key, .. } if fresh_key && key.len() > HMAC_KEY_MAX => {
            let digest = digest_len(&task.pass);
            frame::HEADER + frame::padded(key.len()) + digest + frame::BEAT
        }
        _ => 0,
    };
    let sections = match &task.pass {
        Pass::Aead { nonce, aad, .. } => frame::padded(nonce.len()) + frame::padded(aad.len()),
        Pass::Cipher { iv, .. } => frame::padded(iv.len()),
        Pass::Hash { .. } | Pass::Hmac { .. } => 0,
    };
    let key = if fresh_key { key_bytes(&task.pass) } else { 0 };
    (frame::HEADER + hashed + sections + data) as u64 + key
}

/// Bytes of the section of a request that brings its key.
pub fn key_bytes(pass: &Pass) -> u64 {
    let bytes = match pass {
        Pass::Cipher { key, .. } | Pass::Aead { key, .. } => frame::padded(key.len()),
        Pass::Hmac { key, .. } if key.len() > HMAC_KEY_MAX => digest_len(pass),
        Pass::Hmac { key, .. } => frame::padded(key.len().max(1)),
        Pass::Hash { .. } => 0,
    };
    bytes as u64
}

/// Bytes of a whole digest, in beats.
fn digest_len(pass: &Pass) -> usize {
    match pass.algorithm().kind {
        Kind::Hash { digest, .. } => frame::padded(digest),
        Kind::Cipher { .. } => 0,
    }
}

/// Runs tasks on a model, all of them in the slot at the same time; one answer each, in their order.
pub fn execute(model: &mut dyn SlotModel, requests: &[Request]) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(requests.len());
    // An HMAC key that has to be hashed first goes alone: its frame needs the answer of another one.
    let mut base = 0;
    let mut rest = requests;
    while let Some(first) = rest.first() {
        let together = rest.iter().take_while(|r| !is_long(r)).count();
        let (group, behind) = rest.split_at(together.max(1));
        rest = behind;
        let mut group = if together == 0 { vec![execute_long(model, first)] } else { exchange(model, group) };
        let span = group.iter().map(|a| a.finished).max().unwrap_or(0);
        group.iter_mut().for_each(|a| a.finished += base);
        base += span;
        answers.extend(group);
    }
    answers
}

/// Whether the slot has to hash the key first.
pub fn is_long(request: &Request) -> bool {
    request.fresh_key && matches!(&request.task.pass, Pass::Hmac { key, .. } if key.len() > HMAC_KEY_MAX)
}

/// An HMAC whose key is hashed first.
fn execute_long(model: &mut dyn SlotModel, request: &Request) -> Answer {
    let task = &request.task;
    let Pass::Hmac { algorithm, key, .. } = &task.pass else {
        return Answer::failed(Failure::Status(Status::UnknownOperation));
    };
    let Kind::Hash { digest: len, .. } = algorithm.kind else {
        return Answer::failed(Failure::Status(Status::BadLength));
    };
    let header = Header {
        algorithm: algorithm.code,
        op: frame::op::HASH,
        tag: request.tag,
        result_len: u8::try_from(len).unwrap_or(u8::MAX),
        payload_len: u32::try_from(key.len()).unwrap_or(u32::MAX),
        ..Header::default()
    };
    let bytes = frame::assemble(header, &[key.as_bytes()]);
    let expected = Expected::plain(len, request.tag);
    let mut hashed = run_frames(model, vec![(bytes, expected)], request.max_clocks);
    let Some(Answer { result: Ok(Some(digest)), cycles, .. }) = hashed.pop() else {
        return hashed.pop().unwrap_or_else(|| Answer::failed(Failure::Silent));
    };
    let digest = Zeroizing::new(digest);
    let bytes = frame::request(task, KeySection::Fresh(&digest), request.tag);
    let expected = expected_of(request);
    let mut answers = run_frames(model, vec![(bytes, expected)], request.max_clocks);
    let mut answer = answers.pop().unwrap_or_else(|| Answer::failed(Failure::Silent));
    answer.cycles += cycles;
    answer.finished = answer.cycles;
    answer
}

fn expected_of(request: &Request) -> Expected {
    let then = request.then.as_ref().map(|then| then.pass.result_len(0));
    Expected { then, ..Expected::of(&request.task, request.tag) }
}

/// A request of one frame: its bytes, and what the answer is to be.
fn frame_of(request: &Request) -> (Zeroizing<Vec<u8>>, Expected) {
    if let Some(then) = &request.then {
        return (joint::frame(request, then), expected_of(request));
    }
    let key = match request.task.pass.key() {
        Some(key) if request.fresh_key => KeySection::Fresh(key.as_bytes()),
        _ => KeySection::Kept,
    };
    (frame::request(&request.task, key, request.tag), expected_of(request))
}

/// Requests of one frame each, in the slot together.
fn exchange(model: &mut dyn SlotModel, requests: &[Request]) -> Vec<Answer> {
    let max_clocks = requests.first().map_or(0, |r| r.max_clocks);
    run_frames(model, requests.iter().map(frame_of).collect(), max_clocks)
}

/// Frames with what each one's answer is to be.
fn run_frames(
    model: &mut dyn SlotModel,
    requests: Vec<(Zeroizing<Vec<u8>>, Expected)>,
    max_clocks: u64,
) -> Vec<Answer> {
    let mut frames: Vec<Frame> =
        requests.iter().map(|(bytes, expected)| Frame::new(bytes.to_vec(), expected.capacity())).collect();
    let options = Options { max_clocks, ..Options::default() };
    let run = model.run(&mut frames, &options);
    let start = frames.first().map_or(0, |f| f.first_in);
    let answer = |(frame, (_, expected)): (Frame, &(_, Expected))| {
        let failure = match &run {
            Err(RunError::Silent) => Some(Failure::Silent),
            Err(error) => Some(Failure::Protocol(error.to_string())),
            Ok(()) => None,
        };
        match failure {
            Some(failure) if frame.response.is_empty() => {
                drop(Zeroizing::new(frame.request));
                Answer::failed(failure)
            }
            _ => answer_of(frame, start, expected),
        }
    };
    frames.into_iter().zip(&requests).map(answer).collect()
}

/// What came of a frame that was answered.
fn answer_of(mut frame: Frame, start: u64, expected: &Expected) -> Answer {
    drop(Zeroizing::new(std::mem::take(&mut frame.request)));
    Answer {
        cycles: frame.cycles(),
        finished: frame.last_out.saturating_sub(start) + 1,
        response_bytes: frame.response.len() as u64,
        passed_on: frame.passed_on.saturating_sub(frame.first_in) + u64::from(frame.passed_on > 0),
        result: expected.check(frame.response),
    }
}
