// SPDX-License-Identifier: Apache-2.0
//! The frames that one frame becomes on its way into the array's slot, and what their answers say together.

use ace_array::host::to_words;
use zeroize::Zeroizing;

use super::slot::{KEY, LOAD, STATE_WORDS, Strange, Variant};
use crate::frame::{self, Header, flag, op};
use crate::model::Frame;

/// What a part is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// It lets the tile run a bank that has no key yet, and is answered so.
    Run,
    /// A set or a key.
    Prepares,
    /// A key that the slot expands: it is answered, and so is the key's frame.
    Expands,
    /// What was asked for.
    Data,
    /// The same, and its result is a hash's frame.
    Joins,
}

impl What {
    fn answers(self) -> usize {
        if matches!(self, What::Expands | What::Joins) { 2 } else { 1 }
    }
}

/// A frame for the slot.
pub(super) struct Piece(pub(super) What, pub(super) Zeroizing<Vec<u8>>);

impl Piece {
    pub(super) fn frame(&self, capacity: usize) -> Frame {
        Frame { chained: self.0.answers() == 2, ..Frame::new(self.1.to_vec(), capacity) }
    }
}

/// What loads a set beside the one that frames of `header` ask for. A load goes to the bank that does not run, so that one
/// has to run first: a frame without data does that, whether there is a key for it or not.
pub(super) fn load_beside(header: Header, decrypt: bool, set: &[u8]) -> [Piece; 2] {
    let Header { algorithm, tag, .. } = header;
    let flags = if decrypt { flag::DECRYPT } else { 0 };
    let run = Header { algorithm, op: op::ECB, flags, tag, ..Header::default() };
    let load = Header { op: LOAD, tag, payload_len: set.len() as u32, ..Header::default() };
    [Piece(What::Run, frame::assemble(run, &[])), Piece(What::Prepares, frame::assemble(load, &[set]))]
}

/// A key's words for the slot: those of the set-up, or two states.
pub(super) fn key_frame(
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

/// Why a part was refused. Of one whose result is a frame the last answer says it.
fn refused(what: What, answer: &Frame) -> bool {
    let trailer = answer.response.len().saturating_sub(frame::BEAT);
    let seen = if what.answers() == 2 { &answer.response[trailer..] } else { &answer.response[..] };
    what != What::Run && frame::response(seen).is_ok_and(|r| r.status != frame::Status::Ok)
}

/// Makes the answer of a frame out of those to its parts: a set or a key that was refused says why it has none. True if one
/// was.
pub(super) fn merge(frame: &mut Frame, parts: &[(What, Frame)]) -> bool {
    let why = parts.iter().find(|(what, answer)| refused(*what, answer));
    if let (Some((_, first)), Some((what, answer))) = (parts.first(), why.or(parts.last())) {
        let trailer = answer.response.len().saturating_sub(frame::BEAT);
        let from = if why.is_some() && what.answers() == 2 { trailer } else { 0 };
        frame.response = answer.response[from..].to_vec();
        (frame.first_in, frame.first_out, frame.last_out) =
            (first.first_in, answer.first_out, answer.last_out);
        frame.passed_on = answer.passed_on;
    }
    why.is_some()
}
