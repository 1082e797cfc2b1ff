// SPDX-License-Identifier: Apache-2.0
//! A slot that is quick, remembers its set and its last key, and answers so that both show in the answer.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use ace_board::array::{Loadable, loadables};
use ace_board::config::{BoardConfig, Controller};
use ace_board::frame::{self, Header, Status, flag, op};
use ace_board::manifest::FileRef;
use ace_board::model::{Frame, Model, Options, RunError, SlotModel, Stopped};
use ace_board::{Store, Unsigned};
use ace_library::file::Guard;
use ace_library::{Seen, Trust};
use ace_link::soft::{Board, Description};
use sha2::{Digest, Sha256};

pub const LOAD: u8 = 0x51;
pub const KEY: u8 = 0x52;

/// Frames: a load's payload is the set, a key's the key. Of data each byte is XORed with one of the set and one of the key.
#[derive(Default)]
pub struct Quick {
    set: Vec<u8>,
    key: Option<Vec<u8>>,
    clocks: u64,
    inside: VecDeque<(u64, Frame)>,
    /// Answers come in another order: of so many frames inside the last one first.
    shuffles: usize,
}

/// What [`Quick`] makes of data.
pub fn computed(set: &[u8], key: &[u8], data: &[u8]) -> Vec<u8> {
    let mixed = |(at, byte): (usize, &u8)| byte ^ set[at % set.len()] ^ key[at % key.len()] ^ at as u8;
    data.iter().enumerate().map(mixed).collect()
}

impl Quick {
    /// One that answers out of order.
    pub fn shuffling(shuffles: usize) -> Self {
        Self { shuffles, ..Self::default() }
    }

    fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let header = Header::from_bytes(request).unwrap_or_default();
        let (status, result) = self.result(&header, request);
        let mut response = result.clone();
        response.resize(frame::padded(result.len()), 0);
        response.extend_from_slice(&(result.len() as u32).to_le_bytes());
        response.extend_from_slice(&header.tag.to_le_bytes());
        response.extend_from_slice(&[status as u8, 0]);
        response
    }

    fn result(&mut self, header: &Header, request: &[u8]) -> (Status, Vec<u8>) {
        let payload = request.get(frame::HEADER..frame::HEADER + header.payload_len as usize);
        let short = request.len() < frame::HEADER + frame::padded(header.payload_len as usize);
        let Some(payload) = payload.filter(|_| !short) else {
            if header.op == KEY {
                self.key = None;
            }
            return (Status::FrameShort, Vec::new());
        };
        match header.op {
            LOAD => (self.set, self.key) = (payload.to_vec(), None),
            // A key of nothing is refused, and the former one stays.
            KEY if payload.is_empty() => return (Status::BadKeyLength, Vec::new()),
            KEY => self.key = Some(payload.to_vec()),
            op::CBC if self.set.is_empty() => return (Status::UnknownAlgorithm, Vec::new()),
            op::CBC => {
                let Some(key) = &self.key else { return (Status::MissingKey, Vec::new()) };
                return (Status::Ok, computed(&self.set, key, payload));
            }
            _ => return (Status::UnknownOperation, Vec::new()),
        }
        (Status::Ok, Vec::new())
    }
}

impl SlotModel for Quick {
    fn run(&mut self, _: &mut [Frame], _: &Options) -> Result<(), RunError> {
        Err(RunError::BadFrame)
    }

    fn join(&mut self, number: u64, mut frame: Frame) -> u64 {
        frame.response = self.answer(&frame.request);
        self.inside.push_back((number, frame));
        self.clocks
    }

    fn go(&mut self, until: u64, _: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        self.clocks = until;
        let last = self.inside.len() > 1 && self.inside.len() <= self.shuffles;
        Ok(if last { self.inside.pop_back() } else { self.inside.pop_front() })
    }

    fn reset(&mut self) {
        (self.set, self.key) = (Vec::new(), None);
        self.inside.clear();
    }

    fn clocks(&self) -> u64 {
        self.clocks
    }
}

/// Random numbers that a seed repeats.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % most
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

/// A frame of these operations for [`Quick`].
pub fn request(op: u8, payload: &[u8]) -> Vec<u8> {
    let flags = if op == KEY { flag::DECRYPT } else { 0 };
    let header = Header { algorithm: 1, op, flags, payload_len: payload.len() as u32, ..Header::default() };
    frame::assemble(header, &[payload]).to_vec()
}

/// What a board of the array needs, if it is built: the context sets of the library in the repository, and the slot's model.
fn file(built: &Path) -> Option<FileRef> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build").join(built);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped, nothing was checked: {} is not built", path.display());
        return None;
    };
    let sha256 = Sha256::digest(&bytes).into();
    Some(FileRef { path, bytes: bytes.len() as u64, sha256 })
}

/// The model of a configuration, if it is built.
pub fn configuration(name: &str) -> Option<Box<dyn SlotModel>> {
    let model = file(&Path::new("configurations").join(name).join(format!("lib{name}.so")))?;
    Some(Box::new(Model::open(&model, &[]).expect("a model")))
}

pub struct Array {
    pub model: FileRef,
    store: Arc<Store>,
}

impl Array {
    /// `None`, and why is said, where there is no model of the slot.
    pub fn built(name: &str) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let model = file(&Path::new("array").join(name))?;
        let controller =
            Controller { library: root.join("library/ace.lib"), ..BoardConfig::default().controller };
        let guard = Guard { trust: Trust::ANYBODY, seen: Seen::of_user(), allow_older: true };
        let store = Store::open(&controller, None, guard).expect("a library").expect("it is there");
        Some(Self { model, store: Arc::new(store) })
    }

    pub fn sets(&self) -> Vec<Loadable> {
        loadables(None, Some(Arc::clone(&self.store)), Unsigned::Refused).expect("sets")
    }

    pub fn board(&self, is: Description) -> Board {
        Board::new(is, vec![Box::new(Model::open(&self.model, &[]).expect("a model"))])
    }
}
