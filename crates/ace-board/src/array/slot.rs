// SPDX-License-Identifier: Apache-2.0
//! The array's slot as one that takes every frame of the slot boundary: what a frame needs is loaded and keyed in front of
//! it, and compiled if need be. Keys are expanded here, on the host, or by the slot, if it is given the sets for it.

use std::collections::HashMap;
use std::sync::Arc;

use ace_array::Named;
use ace_array::algorithms::{self, AEADS, SERVED, Served};
use ace_array::compile;
use ace_array::frontend::{Built, Program};
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_engine::{Aead, Direction, Mode};
use zeroize::Zeroizing;

use super::ArrayError;
use super::pieces::{Piece, What, key_frame, load_beside, merge};
use super::setup::KeySet;
use crate::capability::{Capability, HashOperation};
use crate::frame::{self, Header, flag, op};
use crate::model::{Frame, KeyFrames, Options, RunError, SlotModel, Stopped};

/// Byte 1 of a frame, as `rtl/array/array_front_pkg.sv`.
pub(super) const LOAD: u8 = 0x51;
pub(super) const KEY: u8 = 0x52;
/// Modes of a set that encrypts.
pub const MODES: &[Mode] = &[Mode::Ecb, Mode::Cbc, Mode::Ctr, Mode::Cfb, Mode::Ofb];
/// Words of a hash's key: two states of four beats each.
pub(super) const STATE_WORDS: usize = 8;

pub(super) struct Variant {
    pub(super) program: Program,
    pub(super) built: Built,
    pub(super) set: Set,
    pub(super) bytes: Vec<u8>,
}

/// A key as it came last.
struct Key {
    name: String,
    served: &'static Served,
    bytes: Zeroizing<Vec<u8>>,
}

/// A model of `array_slot` behind frames that know nothing of context sets.
pub struct ArraySlot {
    pub(super) model: Box<dyn SlotModel>,
    pub(super) shape: Shape,
    pub(super) variants: HashMap<String, Variant>,
    /// What each bank holds, and which of them runs, as the slot knows it too.
    banks: [Option<String>; 2],
    running: usize,
    key: Option<Key>,
    /// The slot has that key.
    keyed: bool,
    /// The sets with which the slot expands keys itself, and which of them is in the bank beside the one that is fixed.
    key_sets: Vec<KeySet>,
    sets_up: Option<usize>,
    /// Sets of hashes for the other tile, and the one that is there.
    pub(super) hashes: Vec<(String, Vec<u8>)>,
    pub(super) beside: Option<Arc<str>>,
    /// Another set than the first one is not loaded.
    fixed: bool,
    /// Clocks from the first beat of that one's frame to the slot's answer.
    loading: u64,
    /// What the frames that joined have become: each part's number is one more than that of the one before.
    pub(super) parts: HashMap<u64, Part>,
    next_part: u64,
}

/// One of the frames that a frame became.
pub(super) struct Part {
    /// The number of that frame, and of its last part.
    whole: u64,
    last: u64,
    what: What,
    /// What came of it.
    answer: Option<Frame>,
}

/// Why a frame cannot be translated; it goes to the slot as it is, which refuses it.
pub(super) struct Strange;

impl Variant {
    /// The set of a name, with what its source says.
    pub(super) fn of(named: &Named, set: Set, bytes: Vec<u8>) -> Result<Self, ace_array::Error> {
        Self::of_source(algorithms::program(named.served.file)?, named, set, bytes)
    }

    fn of_source(
        program: Program,
        named: &Named,
        set: Set,
        bytes: Vec<u8>,
    ) -> Result<Self, ace_array::Error> {
        let built = program.build(&named.variant)?;
        Ok(Self { program, built, set, bytes })
    }
}

impl ArraySlot {
    /// A slot with the array of [`Shape::standard`], into which no set is loaded yet.
    pub fn new(model: Box<dyn SlotModel>) -> Self {
        Self {
            model,
            shape: Shape::standard(),
            variants: HashMap::new(),
            banks: [None, None],
            running: 0,
            key: None,
            keyed: false,
            key_sets: Vec::new(),
            sets_up: None,
            hashes: Vec::new(),
            beside: None,
            fixed: false,
            loading: 0,
            parts: HashMap::new(),
            next_part: 0,
        }
    }

    /// A slot that a board has loaded with one set of a variant; it says itself what is wrong with that.
    ///
    /// # Errors
    /// Why there is no such variant, or the slot refuses the set.
    pub fn loaded(model: Box<dyn SlotModel>, name: &str, bytes: Vec<u8>) -> Result<Self, ArrayError> {
        Self::loaded_of(model, name, bytes, None)
    }

    /// The same of a set that may have a source of its own, which says then what its keys are.
    ///
    /// # Errors
    /// Those of [`ArraySlot::loaded`].
    pub(super) fn loaded_of(
        model: Box<dyn SlotModel>,
        name: &str,
        bytes: Vec<u8>,
        source: Option<Program>,
    ) -> Result<Self, ArrayError> {
        let mut slot = Self { fixed: true, ..Self::new(model) };
        let wrong = |error: ace_array::Error| ArrayError::set(name, error);
        let set = Set::from_bytes(&bytes, &slot.shape).map_err(wrong)?;
        if set.keys {
            return Err(ArrayError::SetsUp(name.to_owned()));
        }
        let named = Named::find(name).ok_or_else(|| ArrayError::Unknown(name.to_owned()))?;
        let own = match source {
            Some(program) => Variant::of_source(program, &named, set, bytes.clone()),
            None => Variant::of(&named, set, bytes.clone()),
        };
        let own = own.map_err(wrong)?;
        let variant = named.variant;
        let load = Header { op: LOAD, payload_len: bytes.len() as u32, ..Header::default() };
        // A frame of no operation is refused when the slot has done what it does after a reset, which is not of the load.
        slot.alone(Header::default(), &[])?;
        let frame = slot.alone(load, &bytes)?;
        let status = frame::response(&frame.response)?.status;
        if status != frame::Status::Ok {
            return Err(ArrayError::Refused(status));
        }
        slot.loading = frame.cycles();
        // It went to the bank that does not run; the first frame makes it run.
        slot.banks[1] = Some(variant.clone());
        slot.variants.insert(variant, own);
        Ok(slot)
    }

    /// Lets a slot that a board has loaded expand keys itself, with those of these sets that are for its cipher. They come into
    /// the bank that the board does not use, when there is a key for them.
    #[must_use]
    pub fn expanding(mut self, sets: Vec<KeySet>) -> Self {
        self.key_sets = sets;
        self
    }

    /// The answer to a frame that is sent when nothing else is in the slot.
    pub(super) fn alone(&mut self, header: Header, payload: &[u8]) -> Result<Frame, RunError> {
        let mut frames = [Frame::new(frame::assemble(header, &[payload]).to_vec(), 2 * frame::BEAT)];
        self.model.run(&mut frames, &Options::default())?;
        let [frame] = frames;
        Ok(frame)
    }

    /// What frames may ask for.
    pub fn can() -> Vec<Capability> {
        SERVED.iter().chain(AEADS).map(|served| capability(served, &Direction::BOTH, MODES)).collect()
    }

    fn variant(&mut self, served: &'static Served, decrypt: bool) -> Result<String, Strange> {
        let name = served.variant(decrypt);
        if !self.variants.contains_key(&name) {
            if self.fixed {
                return Err(Strange);
            }
            let program = algorithms::program(served.file).map_err(|_| Strange)?;
            let compiled = compile(&program, &name, &self.shape, Effort::default()).map_err(|_| Strange)?;
            let (built, set) = (compiled.built, compiled.set);
            let bytes = set.to_bytes();
            self.variants.insert(name.clone(), Variant { program, built, set, bytes });
        }
        Ok(name)
    }

    /// The frames that one frame becomes, the last of which brings its answer. Frames with two answers are there only for a
    /// stream.
    pub(super) fn translate(&mut self, request: &[u8], stream: bool) -> Result<Vec<Piece>, Strange> {
        let header = Header::from_bytes(request).ok_or(Strange)?;
        let body = &request[frame::HEADER..];
        let fresh = header.flags & flag::FRESH_KEY != 0;
        let secret = if fresh { body.get(..usize::from(header.key_len)).ok_or(Strange)? } else { &[] };
        let rest = body.get(frame::padded(secret.len())..).ok_or(Strange)?;
        let aead = header.op == op::AEAD;
        // The other modes use a set that encrypts in both directions.
        let turns = aead || matches!(header.op, op::ECB | op::CBC);
        let decrypt = turns && header.flags & flag::DECRYPT != 0;
        let find = if aead { Served::aead } else { Served::find };
        let keyed = header.op != op::HASH;
        if fresh {
            let served = find(header.algorithm, secret.len()).ok_or(Strange)?;
            self.key = Some(Key { name: String::new(), served, bytes: Zeroizing::new(secret.to_vec()) });
            self.keyed = false;
        }
        let served = match &self.key {
            Some(Key { served, .. })
                if keyed && served.code == header.algorithm && served.aead.is_some() == aead =>
            {
                served
            }
            _ => find(header.algorithm, secret.len()).ok_or(Strange)?,
        };
        let name = self.variant(served, decrypt)?;
        let mut frames = Vec::new();
        let at = match self.banks.iter().position(|bank| bank.as_ref() == Some(&name)) {
            Some(at) => at,
            None => {
                let at = 1 - self.running;
                let bytes = &self.variants[&name].bytes;
                let load = Header {
                    op: LOAD,
                    tag: header.tag,
                    payload_len: bytes.len() as u32,
                    ..Header::default()
                };
                frames.push(Piece(What::Prepares, frame::assemble(load, &[bytes])));
                if self.key.as_ref().is_some_and(|key| self.banks[at].as_ref() == Some(&key.name)) {
                    self.keyed = false;
                }
                self.banks[at] = Some(name.clone());
                at
            }
        };
        self.running = at;
        if let Some(key) = self.key.as_mut().filter(|key| keyed && !(self.keyed && key.name == name)) {
            let variant = self.variants.get_mut(&name).ok_or(Strange)?;
            let sets = self.key_sets.iter().position(|set| set.takes(key.bytes.len()));
            match sets.filter(|_| stream) {
                Some(sets) => {
                    let words = u8::try_from(variant.set.key_words).map_err(|_| Strange)?;
                    let set = &self.key_sets[sets];
                    if self.sets_up.replace(sets) != Some(sets) {
                        frames.extend(load_beside(header, decrypt, &set.bytes));
                    }
                    frames.push(Piece(What::Expands, set.frame(header, decrypt, words, &key.bytes)));
                }
                None => {
                    frames.push(Piece(What::Prepares, key_frame(header, decrypt, variant, &key.bytes)?));
                }
            }
            key.name.clone_from(&name);
            self.keyed = true;
        }
        let op = if header.op == op::HMAC_KEY { op::HMAC_STATES } else { header.op };
        let plain = Header { op, flags: header.flags & !flag::FRESH_KEY, key_len: 0, ..header };
        frames.push(Piece(What::Data, frame::assemble(plain, &[rest])));
        Ok(frames)
    }
}

/// What frames may ask of an algorithm's sets, in these directions if it is a cipher, and in these modes if they are for such
/// and not for an AEAD.
pub fn capability(served: &Served, directions: &[Direction], modes: &[Mode]) -> Capability {
    let mut can = Capability::of(served.algorithm, served.code);
    can.key_bytes = served.keys.to_vec();
    match (served.aead, served.keys) {
        (Some(name), _) => {
            (can.directions, can.aeads) = (directions.to_vec(), Aead::by_name(name).into_iter().collect());
        }
        (None, []) => can.operations = HashOperation::ALL.to_vec(),
        _ => (can.directions, can.modes) = (directions.to_vec(), modes.to_vec()),
    }
    can
}

impl SlotModel for ArraySlot {
    fn run(&mut self, frames: &mut [Frame], options: &Options) -> Result<(), RunError> {
        let (mut all, mut whats, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for frame in frames.iter() {
            let own = |_| vec![Piece(What::Data, Zeroizing::new(frame.request.clone()))];
            let pieces = self.translate(&frame.request, false).unwrap_or_else(own);
            all.extend(pieces.iter().map(|piece| piece.frame(frame.capacity)));
            whats.extend(pieces.iter().map(|piece| piece.0));
            ends.push(all.len());
        }
        let run = self.model.run(&mut all, options);
        let mut parts = whats.into_iter().zip(all);
        let mut begin = 0;
        for (frame, end) in frames.iter_mut().zip(ends) {
            let own: Vec<(What, Frame)> = parts.by_ref().take(end - begin).collect();
            merge(frame, &own);
            begin = end;
        }
        run
    }

    fn join(&mut self, number: u64, frame: Frame) -> u64 {
        let capacity = frame.capacity;
        let own = |_| vec![Piece(What::Data, Zeroizing::new(frame.request.clone()))];
        let pieces = match &frame.beside {
            Some(set) => self.translate_joint(&frame.request, set),
            None => self.translate(&frame.request, true),
        };
        let pieces = pieces.unwrap_or_else(own);
        drop(Zeroizing::new(frame.request));
        let last = self.next_part + pieces.len() as u64 - 1;
        let mut start = None;
        for piece in pieces {
            let part = Part { whole: number, last, what: piece.0, answer: None };
            self.parts.insert(self.next_part, part);
            let clock = self.model.join(self.next_part, piece.frame(capacity));
            start.get_or_insert(clock);
            self.next_part += 1;
        }
        start.unwrap_or(self.model.clocks())
    }

    fn go(&mut self, until: u64, max_clocks: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        while let Some((number, mut answer)) = self.model.go(until, max_clocks)? {
            drop(Zeroizing::new(std::mem::take(&mut answer.request)));
            let Some(part) = self.parts.get_mut(&number) else { continue };
            let (whole, last) = (part.whole, part.last);
            part.answer = Some(answer);
            let own = |part: &Part| part.whole == whole && part.last == last;
            if self.parts.values().any(|part| own(part) && part.answer.is_none()) {
                continue;
            }
            let mut all: Vec<(u64, What, Frame)> = self
                .parts
                .extract_if(|_, part| own(part))
                .filter_map(|(number, part)| Some((number, part.what, part.answer?)))
                .collect();
            all.sort_by_key(|(number, ..)| *number);
            let all: Vec<(What, Frame)> = all.into_iter().map(|(_, what, answer)| (what, answer)).collect();
            let mut frame = Frame::default();
            if merge(&mut frame, &all) {
                // Whether it was the set or what came behind it: it is loaded again.
                self.sets_up = None;
            }
            return Ok(Some((whole, frame)));
        }
        Ok(None)
    }

    fn reset(&mut self) {
        self.model.reset();
        self.banks = [None, None];
        self.running = 0;
        (self.keyed, self.sets_up, self.beside) = (false, None, None);
        self.parts.clear();
    }

    fn clocks(&self) -> u64 {
        self.model.clocks()
    }

    fn loading(&self) -> u64 {
        self.loading
    }

    fn keys(&self) -> KeyFrames {
        let set = self.variants.values().next().map(|variant| &variant.set).filter(|_| self.fixed);
        let words =
            |set: &Set| if set.chain.is_empty() { usize::from(set.key_words) } else { 2 * STATE_WORDS };
        let bytes = |set| (frame::HEADER + 4 * words(set) + frame::BEAT) as u64;
        KeyFrames { expanded: set.map(bytes), slot: self.key_sets.iter().map(KeySet::costs).collect() }
    }

    fn passes_to(&self) -> Vec<String> {
        self.hashes.iter().map(|(name, _)| name.clone()).collect()
    }
}
