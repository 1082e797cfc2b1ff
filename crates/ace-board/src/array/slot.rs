// SPDX-License-Identifier: Apache-2.0
//! The array's slot as one that takes every frame of the slot boundary: what a frame needs is loaded and keyed in front of
//! it, and compiled if need be. Keys are expanded here, on the host.

use std::collections::HashMap;

use ace_array::Named;
use ace_array::algorithms::{self, AEADS, SERVED, Served};
use ace_array::compile;
use ace_array::frontend::{Built, Program};
use ace_array::host::to_words;
use ace_array::schedule::Effort;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_engine::{Aead, Direction, Mode};
use zeroize::Zeroizing;

use super::ArrayError;
use crate::capability::{Capability, HashOperation};
use crate::frame::{self, Header, flag, op};
use crate::model::{Frame, Options, RunError, SlotModel, Stopped};

/// Byte 1 of a frame, as `rtl/array/array_front_pkg.sv`.
const LOAD: u8 = 0x51;
const KEY: u8 = 0x52;
/// Words of a hash's key: two states of four beats each.
const STATE_WORDS: usize = 8;

struct Variant {
    program: Program,
    built: Built,
    set: Set,
    bytes: Vec<u8>,
}

/// A key as it came last.
struct Key {
    name: String,
    served: &'static Served,
    bytes: Zeroizing<Vec<u8>>,
}

/// A model of `array_slot` behind frames that know nothing of context sets.
pub struct ArraySlot {
    model: Box<dyn SlotModel>,
    shape: Shape,
    variants: HashMap<String, Variant>,
    /// What each bank holds, and which of them runs, as the slot knows it too.
    banks: [Option<String>; 2],
    running: usize,
    key: Option<Key>,
    /// The slot has that key.
    keyed: bool,
    /// Another set than the first one is not loaded.
    fixed: bool,
    /// Clocks from the first beat of that one's frame to the slot's answer.
    loading: u64,
    /// What the frames that joined have become: each part's number is one more than that of the one before.
    parts: HashMap<u64, Part>,
    next_part: u64,
}

/// One of the frames that a frame became.
struct Part {
    /// The number of that frame, and of its last part.
    whole: u64,
    last: u64,
    /// What came of it.
    answer: Option<Frame>,
}

/// Why a frame cannot be translated; it goes to the slot as it is, which refuses it.
struct Strange;

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
        let mut slot = Self { fixed: true, ..Self::new(model) };
        let wrong = |error: ace_array::Error| ArrayError::set(name, error);
        let set = Set::from_bytes(&bytes, &slot.shape).map_err(wrong)?;
        if set.keys {
            return Err(ArrayError::SetsUp(name.to_owned()));
        }
        let named = Named::find(name).ok_or_else(|| ArrayError::Unknown(name.to_owned()))?;
        let Named { served, variant, .. } = named;
        let program = algorithms::program(served.file).map_err(wrong)?;
        let built = program.build(&variant).map_err(wrong)?;
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
        slot.variants.insert(variant, Variant { program, built, set, bytes });
        Ok(slot)
    }

    /// The answer to a frame that is sent when nothing else is in the slot.
    fn alone(&mut self, header: Header, payload: &[u8]) -> Result<Frame, RunError> {
        let mut frames = [Frame::new(frame::assemble(header, &[payload]).to_vec(), 2 * frame::BEAT)];
        self.model.run(&mut frames, &Options::default())?;
        let [frame] = frames;
        Ok(frame)
    }

    /// What frames may ask for.
    pub fn can() -> Vec<Capability> {
        SERVED
            .iter()
            .chain(AEADS)
            .map(|served| capability(served, &Direction::BOTH, &[Mode::Ecb, Mode::Cbc, Mode::Ctr]))
            .collect()
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

    /// The frames that one frame becomes, the last of which brings its answer.
    fn translate(&mut self, request: &[u8]) -> Result<Vec<Zeroizing<Vec<u8>>>, Strange> {
        let header = Header::from_bytes(request).ok_or(Strange)?;
        let body = &request[frame::HEADER..];
        let fresh = header.flags & flag::FRESH_KEY != 0;
        let secret = if fresh { body.get(..usize::from(header.key_len)).ok_or(Strange)? } else { &[] };
        let rest = body.get(frame::padded(secret.len())..).ok_or(Strange)?;
        let cipher = matches!(header.op, op::ECB | op::CBC | op::CTR);
        let aead = header.op == op::AEAD;
        let turns = aead || (cipher && header.op != op::CTR);
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
                frames.push(frame::assemble(load, &[bytes]));
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
            frames.push(key_frame(header, decrypt, variant, &key.bytes)?);
            key.name.clone_from(&name);
            self.keyed = true;
        }
        let op = if header.op == op::HMAC_KEY { op::HMAC_STATES } else { header.op };
        let plain = Header { op, flags: header.flags & !flag::FRESH_KEY, key_len: 0, ..header };
        frames.push(frame::assemble(plain, &[rest]));
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

/// A key's words for the slot: those of the set-up, or two states.
fn key_frame(
    header: Header,
    decrypt: bool,
    variant: &mut Variant,
    secret: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Strange> {
    let set = &variant.set;
    let words = if set.chain.is_empty() {
        variant.program.expand(&mut variant.built, secret).map_err(|_| Strange)?
    } else {
        let graph = &variant.built.graph;
        let state = |pad: u8| {
            let mut block = Zeroizing::new(vec![pad; 64]);
            block.iter_mut().zip(secret).for_each(|(byte, key)| *byte ^= key);
            let words = [set.chain.clone(), to_words(set.input, &block)].concat();
            let mut state = graph.evaluate(&words, &[]);
            state.resize(STATE_WORDS, 0);
            state
        };
        [state(0x36), state(0x5C)].concat()
    };
    let count = u8::try_from(words.len()).map_err(|_| Strange)?;
    let bytes: Zeroizing<Vec<u8>> =
        Zeroizing::new(words.iter().flat_map(|word| word.to_le_bytes()).collect());
    let key = Header {
        algorithm: header.algorithm,
        op: KEY,
        flags: if decrypt { flag::DECRYPT } else { 0 },
        tag: header.tag,
        result_len: count,
        payload_len: bytes.len() as u32,
        ..Header::default()
    };
    Ok(frame::assemble(key, &[&bytes]))
}

/// Makes the answer of a frame out of those to its parts: a set or a key that was refused says why it has none.
fn merge(frame: &mut Frame, parts: &[Frame]) {
    let refused =
        |part: &&Frame| frame::response(&part.response).is_ok_and(|r| r.status != frame::Status::Ok);
    let answer = parts.iter().find(refused).or(parts.last());
    if let (Some(first), Some(answer)) = (parts.first(), answer) {
        frame.response.clone_from(&answer.response);
        (frame.first_in, frame.first_out, frame.last_out) =
            (first.first_in, answer.first_out, answer.last_out);
    }
}

impl SlotModel for ArraySlot {
    fn run(&mut self, frames: &mut [Frame], options: &Options) -> Result<(), RunError> {
        let mut all = Vec::new();
        let mut ends = Vec::new();
        for frame in frames.iter() {
            match self.translate(&frame.request) {
                Ok(parts) => all.extend(parts.iter().map(|part| Frame::new(part.to_vec(), frame.capacity))),
                Err(Strange) => all.push(Frame::new(frame.request.clone(), frame.capacity)),
            }
            ends.push(all.len());
        }
        let run = self.model.run(&mut all, options);
        let mut begin = 0;
        for (frame, end) in frames.iter_mut().zip(ends) {
            merge(frame, &all[begin..end]);
            begin = end;
        }
        run
    }

    fn join(&mut self, number: u64, frame: Frame) -> u64 {
        let capacity = frame.capacity;
        let parts: Vec<Frame> = match self.translate(&frame.request) {
            Ok(parts) => parts.iter().map(|part| Frame::new(part.to_vec(), capacity)).collect(),
            Err(Strange) => vec![frame],
        };
        let last = self.next_part + parts.len() as u64 - 1;
        let mut start = None;
        for part in parts {
            self.parts.insert(self.next_part, Part { whole: number, last, answer: None });
            let clock = self.model.join(self.next_part, part);
            start.get_or_insert(clock);
            self.next_part += 1;
        }
        start.unwrap_or(self.model.clocks())
    }

    fn go(&mut self, until: u64, max_clocks: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        while let Some((number, answer)) = self.model.go(until, max_clocks)? {
            let Some(part) = self.parts.get_mut(&number) else { continue };
            let (whole, last) = (part.whole, part.last);
            part.answer = Some(answer);
            let own = |part: &Part| part.whole == whole && part.last == last;
            if self.parts.values().any(|part| own(part) && part.answer.is_none()) {
                continue;
            }
            let mut all: Vec<(u64, Frame)> = self
                .parts
                .extract_if(|_, part| own(part))
                .filter_map(|(n, p)| Some((n, p.answer?)))
                .collect();
            all.sort_by_key(|(number, _)| *number);
            let all: Vec<Frame> = all.into_iter().map(|(_, answer)| answer).collect();
            let mut frame = Frame::default();
            merge(&mut frame, &all);
            return Ok(Some((whole, frame)));
        }
        Ok(None)
    }

    fn reset(&mut self) {
        self.model.reset();
        self.banks = [None, None];
        self.running = 0;
        self.keyed = false;
        self.parts.clear();
    }

    fn clocks(&self) -> u64 {
        self.model.clocks()
    }

    fn loading(&self) -> u64 {
        self.loading
    }
}
