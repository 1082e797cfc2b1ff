// SPDX-License-Identifier: Apache-2.0
//! The thread that simulates a slot. Wall time only: nothing here knows the virtual clock, and what comes back
//! depends on the order of the calls alone.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use ace_engine::{Kind, Operation, Pass};
use zeroize::Zeroizing;

use crate::frame::{self, HMAC_KEY_MAX, Header, KeySection, Status};
use crate::model::{Frame, Options, RunError, SlotModel};

/// One operation for a slot.
pub struct Request {
    pub operation: Operation,
    /// The slot does not hold the key: it goes with the frame.
    pub fresh_key: bool,
    pub tag: u16,
    /// Clocks without a beat after which the slot counts as hanging.
    pub max_clocks: u64,
}

/// What came of a [`Request`].
#[derive(Debug)]
pub struct Answer {
    pub result: Result<Vec<u8>, Failure>,
    /// Clocks from the first request beat to the last response beat; of all frames that it took.
    pub cycles: u64,
    /// Bytes of the last response.
    pub response_bytes: u64,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The slot answered so.
    Status(Status),
    /// The response breaks the rules of the boundary.
    Protocol(String),
    /// No answer. The slot needs a reset.
    Silent,
    /// An earlier frame failed, so this one was not tried.
    Flushed,
}

enum Order {
    Configure(Box<dyn SlotModel>),
    Clear,
    Run(Box<Request>),
    /// The failure has been seen: requests from here on are to be tried again.
    Resume,
}

/// A slot's thread. Requests are answered in order, one [`Answer`] each.
pub struct Worker {
    orders: Option<Sender<Order>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// # Errors
    /// When the system gives no thread.
    pub fn start(name: String) -> std::io::Result<Self> {
        let (orders, inbox) = channel();
        let (outbox, answers) = channel();
        let thread = std::thread::Builder::new().name(name).spawn(move || work(&inbox, &outbox))?;
        Ok(Self { orders: Some(orders), answers, thread: Some(thread) })
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

    pub fn run(&self, request: Request) {
        self.order(Order::Run(Box::new(request)));
    }

    /// Waits for the next answer. A thread that is gone is a slot that does not answer.
    pub fn answer(&self) -> Answer {
        self.answers.recv().unwrap_or(Answer { result: Err(Failure::Silent), cycles: 0, response_bytes: 0 })
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

fn work(inbox: &Receiver<Order>, outbox: &Sender<Answer>) {
    let mut model: Option<Box<dyn SlotModel>> = None;
    let mut flushing = false;
    while let Ok(order) = inbox.recv() {
        match order {
            Order::Configure(new) => (model, flushing) = (Some(new), false),
            Order::Clear => (model, flushing) = (None, false),
            Order::Resume => flushing = false,
            Order::Run(request) => {
                let answer = match &mut model {
                    Some(model) if !flushing => execute(model.as_mut(), &request),
                    _ => Answer { result: Err(Failure::Flushed), cycles: 0, response_bytes: 0 },
                };
                flushing |= answer.result.is_err();
                if outbox.send(answer).is_err() {
                    return;
                }
            }
        }
    }
}

/// Bytes that a request puts on the host link. A long HMAC key costs a hash frame and its response first.
pub fn request_bytes(operation: &Operation, fresh_key: bool) -> u64 {
    let data = frame::padded(operation.data.len());
    let sections = match &operation.pass {
        Pass::Cipher { key, iv, .. } => {
            frame::padded(iv.len()) + if fresh_key { frame::padded(key.len()) } else { 0 }
        }
        Pass::Hash { .. } => 0,
        Pass::Hmac { .. } if !fresh_key => 0,
        Pass::Hmac { key, algorithm, .. } if key.len() > HMAC_KEY_MAX => {
            let digest = match algorithm.kind {
                Kind::Hash { digest, .. } => frame::padded(digest),
                Kind::Cipher { .. } => 0,
            };
            let hash = frame::HEADER + frame::padded(key.len()) + digest + frame::BEAT;
            hash + digest
        }
        Pass::Hmac { key, .. } => frame::padded(key.len().max(1)),
    };
    (frame::HEADER + sections + data) as u64
}

/// Runs one operation on a model.
pub fn execute(model: &mut dyn SlotModel, request: &Request) -> Answer {
    let mut cycles = 0;
    let operation = &request.operation;
    let digest;
    let key = match &operation.pass {
        _ if !request.fresh_key => KeySection::Kept,
        Pass::Hash { .. } => KeySection::Kept,
        Pass::Hmac { algorithm, key, .. } if key.len() > HMAC_KEY_MAX => {
            let Kind::Hash { digest: len, .. } = algorithm.kind else {
                return Answer { result: Err(Failure::Status(Status::BadLength)), cycles, response_bytes: 0 };
            };
            let header = Header {
                algorithm: algorithm.code,
                op: frame::op::HASH,
                tag: request.tag,
                result_len: u8::try_from(len).unwrap_or(u8::MAX),
                payload_len: u32::try_from(key.len()).unwrap_or(u32::MAX),
                ..Header::default()
            };
            let answer = exchange(model, &frame::assemble(header, &[key.as_bytes()]), len, request);
            cycles += answer.cycles;
            match answer.result {
                Ok(bytes) => digest = Zeroizing::new(bytes),
                Err(_) => return answer,
            }
            KeySection::Fresh(&digest)
        }
        Pass::Cipher { key, .. } | Pass::Hmac { key, .. } => KeySection::Fresh(key.as_bytes()),
    };
    let bytes = frame::request(operation, key, request.tag);
    let mut answer = exchange(model, &bytes, frame::result_len(operation), request);
    answer.cycles += cycles;
    answer
}

/// One frame, whose result must be `expected` bytes.
fn exchange(model: &mut dyn SlotModel, bytes: &[u8], expected: usize, request: &Request) -> Answer {
    // A beat more than any good response has, so that a longer one is seen for what it is.
    let mut frames = [Frame::new(bytes.to_vec(), frame::padded(expected) + 2 * frame::BEAT)];
    let options = Options { max_clocks: request.max_clocks, ..Options::default() };
    let run = model.run(&mut frames, &options);
    let [mut frame] = frames;
    drop(Zeroizing::new(std::mem::take(&mut frame.request)));
    let response_bytes = frame.response.len() as u64;
    let cycles = if run.is_ok() { frame.cycles() } else { 0 };
    let result = match run {
        Ok(()) => check(frame.response, expected, request.tag),
        Err(RunError::Silent) => Err(Failure::Silent),
        Err(error) => Err(Failure::Protocol(error.to_string())),
    };
    Answer { result, cycles, response_bytes }
}

/// The result in a response, if it is the answer to this request.
fn check(mut bytes: Vec<u8>, expected: usize, tag: u16) -> Result<Vec<u8>, Failure> {
    let response = frame::response(&bytes).map_err(|e| Failure::Protocol(e.to_string()))?;
    if response.tag != tag {
        return Err(Failure::Protocol(format!("tag {} in the answer to {tag}", response.tag)));
    }
    if response.status != Status::Ok {
        return Err(Failure::Status(response.status));
    }
    let len = response.result.len();
    if len != expected {
        return Err(Failure::Protocol(format!("{len} bytes of result, not {expected}")));
    }
    bytes.truncate(len);
    Ok(bytes)
}
