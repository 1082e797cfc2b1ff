// SPDX-License-Identifier: Apache-2.0
//! AES-CCM (SP 800-38C) as two passes of AES, both of which encipher: CBC over the first block, associated data and text,
//! whose last block is the tag before it is masked, and CTR over a block of zeros and the text, whose first block is the mask.
//! A packet is changed by the second pass alone. So a text whose tag is another one stays as it came.

use ace_engine::algorithm::AES;
use ace_engine::ccm::{BLOCK, Front, counter};
use ace_engine::{
    Action, Aead, Direction, EngineError, Illegal, Key, Mode, Need, Purpose, Secret, Source, Span,
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::pass::{Carried, Pass, Task};

/// An action that is AES-CCM.
pub struct Ccm<'a> {
    key: &'a Key,
    direction: Direction,
    nonce: &'a Source,
    aad: &'a Source,
    text: Span,
    tag: Span,
}

/// What slots have to compute for AES-CCM: both passes, in their order.
pub fn computed(direction: Direction, key_len: usize) -> (Need, Need) {
    let pass = |mode: Mode| {
        // CTR has no direction: its need is that of encryption.
        Need::Cipher { algorithm: &AES, mode, direction: Direction::Encrypt, key_len }
    };
    let (mac, stream) = (pass(Mode::Cbc), pass(Mode::Ctr));
    match direction {
        Direction::Encrypt => (mac, stream),
        Direction::Decrypt => (stream, mac),
    }
}

impl<'a> Ccm<'a> {
    /// The action, if it is one of AES-CCM.
    pub fn of(action: &'a Action) -> Option<Self> {
        let Action::Aead { key, direction, nonce, aad, text, tag } = action else { return None };
        let own = key.purpose() == Purpose::Aead(Aead::Ccm);
        own.then_some(Self { key, direction: *direction, nonce, aad, text: *text, tag: *tag })
    }

    /// What the action's passes ask for.
    pub fn needs(&self) -> (Need, Need) {
        computed(self.direction, self.key.secret().len())
    }

    /// Whether the first or second pass is that of the tag.
    fn is_mac(&self, second: bool) -> bool {
        second != (self.direction == Direction::Encrypt)
    }

    /// Bytes that the first or second pass enciphers.
    pub fn data_len(&self, second: bool) -> usize {
        if !self.is_mac(second) {
            return BLOCK + self.text.len();
        }
        let aad = self.front().length().len() + self.aad.len();
        BLOCK + aad.next_multiple_of(BLOCK) + self.text.len().next_multiple_of(BLOCK)
    }

    fn front(&self) -> Front {
        // Only its lengths count where there is no packet.
        self.front_of(&[0; 13][..self.nonce.len().min(13)])
    }

    fn front_of(&self, nonce: &[u8]) -> Front {
        Front::new(nonce, self.aad.len(), self.text.len(), self.tag.len())
    }

    /// The first or second pass, the latter with what the former has left.
    pub fn task(&self, second: bool, packet: &[u8], first: &Carried) -> Option<Task> {
        let pass = |mode, iv: [u8; BLOCK]| {
            let (direction, key): (_, Secret) = (Direction::Encrypt, self.key.secret().clone());
            Pass::Cipher { algorithm: &AES, mode, direction, key, iv: iv.to_vec() }
        };
        let nonce = self.nonce.bytes(packet);
        let text = packet.get(self.text.range())?;
        if !self.is_mac(second) {
            let data = [&[0; BLOCK], text].concat();
            return Some(Task { pass: pass(Mode::Ctr, counter(nonce, 0)), data });
        }
        // When decrypting the text is what the first pass has made.
        let text = match second {
            true => first.as_ref()?.get(BLOCK..)?,
            false => text,
        };
        let front = self.front_of(nonce);
        let mut data = Vec::with_capacity(self.data_len(second));
        data.extend_from_slice(front.first());
        for part in [&[front.length(), self.aad.bytes(packet)].concat(), text] {
            data.extend_from_slice(part);
            data.resize(data.len().next_multiple_of(BLOCK), 0);
        }
        Some(Task { pass: pass(Mode::Cbc, [0; BLOCK]), data })
    }

    /// Takes the result of a pass: the first one leaves it for the second, with which text and tag are done.
    ///
    /// # Errors
    /// [`EngineError::Mismatch`] if the tag is another one.
    pub fn apply(
        &self,
        second: bool,
        result: &[u8],
        packet: &mut [u8],
        first: &Carried,
    ) -> Result<Carried, EngineError> {
        if !second {
            let left = match self.direction {
                Direction::Encrypt => last_block(result),
                Direction::Decrypt => result,
            };
            return Ok(Some(Zeroizing::new(left.to_vec())));
        }
        let first = first.as_deref().ok_or(Illegal::Range)?;
        let (stream, sum) = match self.direction {
            Direction::Encrypt => (result, first.as_slice()),
            Direction::Decrypt => (first.as_slice(), last_block(result)),
        };
        let (mask, text) = stream.split_at_checked(BLOCK).ok_or(Illegal::Range)?;
        let tag: Zeroizing<Vec<u8>> = Zeroizing::new(mask.iter().zip(sum).map(|(a, b)| a ^ b).collect());
        let tag = tag.get(..self.tag.len()).ok_or(Illegal::TagLength(self.tag.len()))?;
        let place = packet.get_mut(self.tag.range()).ok_or(Illegal::Range)?;
        match self.direction {
            Direction::Encrypt => place.copy_from_slice(tag),
            Direction::Decrypt if bool::from(tag.ct_eq(place)) => {}
            Direction::Decrypt => return Err(EngineError::Mismatch),
        }
        let place = packet.get_mut(self.text.range()).ok_or(Illegal::Range)?;
        place.copy_from_slice(text.get(..place.len()).ok_or(Illegal::Range)?);
        Ok(None)
    }
}

fn last_block(result: &[u8]) -> &[u8] {
    &result[result.len().saturating_sub(BLOCK)..]
}

#[cfg(test)]
mod tests {
    use ace_engine::{Operation, compute};

    use super::*;
    use crate::pass;

    /// Both passes, as the software engine does them.
    fn passes(operation: Operation) -> Result<Vec<u8>, EngineError> {
        let Operation { action, mut buffer } = operation;
        let mut carried = None;
        for second in [false, true] {
            let task = Task::of(&action, second, &buffer, &carried).unwrap();
            assert_eq!(task.data.len(), pass::data_len(&action, second));
            let needs = pass::needs(&action);
            assert_eq!(Some(task.pass.need()), if second { needs.1 } else { Some(needs.0) });
            let before = buffer.to_vec();
            let result = task.result(&compute::run(task.operation().unwrap()).unwrap());
            let applied = pass::apply(&action, second, &result, &mut buffer, &carried);
            if !second || applied.is_err() {
                assert_eq!(buffer.to_vec(), before, "nothing is changed before the tag is known");
            }
            carried = applied?;
        }
        Ok(buffer.to_vec())
    }

    /// At every length around a block, with AAD on both sides of its long form, every nonce and some tags.
    #[test]
    fn two_passes_are_what_the_software_engine_does_at_once() {
        for (key_len, nonce_len, tag_len) in [(16, 7, 4), (24, 11, 8), (32, 12, 12), (16, 13, 16)] {
            let key: Vec<u8> = (0..key_len).map(|i: u8| i.wrapping_mul(29) ^ 0x5a).collect();
            let key = Key::aead(Aead::Ccm, &key).unwrap();
            let nonce: Vec<u8> = (0..nonce_len).map(|i: u8| i.wrapping_mul(3)).collect();
            for aad_len in [0, 1, 13, 14, 15, 30, 255, 0xfeff, 0xff00] {
                for len in [0, 1, 15, 16, 17, 100] {
                    let aad: Vec<u8> = (0..aad_len).map(|i: usize| (i % 251) as u8).collect();
                    let text: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(7)).collect();
                    let operation = Operation::aead(key.clone(), &nonce, &aad, &text, tag_len);
                    let wanted = compute::run(operation.clone()).unwrap().to_vec();
                    assert_eq!(passes(operation).unwrap(), wanted, "{len} {aad_len}");
                    let (sealed, tag) = wanted[..text.len() + tag_len].split_at(text.len());
                    let back = Operation::check_aead(key.clone(), &nonce, &aad, sealed, tag);
                    assert_eq!(passes(back).unwrap()[..text.len()], text);
                    let mut wrong = tag.to_vec();
                    wrong[tag_len - 1] ^= 0x80;
                    let back = Operation::check_aead(key.clone(), &nonce, &aad, sealed, &wrong);
                    assert_eq!(passes(back), Err(EngineError::Mismatch));
                }
            }
        }
    }
}
