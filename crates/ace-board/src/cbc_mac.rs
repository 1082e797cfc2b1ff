// SPDX-License-Identifier: Apache-2.0
//! MACs that are CBC encryption of a message whose last block is another one: AES-CMAC (RFC 4493, 2.4) and AES-XCBC-MAC
//! (RFC 3566, 4). A slot enciphers; the host makes the subkeys and the last block, and takes the last block of the result.

use ace_engine::algorithm::AES;
use ace_engine::{Direction, Key, Mac, Mode, Need, Purpose, Secret, compute};
use zeroize::Zeroizing;

use crate::pass::{Pass, Task};

/// Bytes of a block of AES.
const BLOCK: usize = 16;

/// What a slot has to compute for `need`: of such a MAC a cipher's pass.
pub fn computed(need: &Need) -> Need {
    let cbc =
        |key_len| Need::Cipher { algorithm: &AES, mode: Mode::Cbc, direction: Direction::Encrypt, key_len };
    match need {
        Need::Cmac { key_len } => cbc(*key_len),
        Need::Xcbc => cbc(BLOCK),
        need => *need,
    }
}

/// Whether the tag of a key is the last block of a cipher's result.
pub fn is_one(key: &Key) -> bool {
    matches!(key.purpose(), Purpose::Mac(Mac::Cmac | Mac::Xcbc))
}

/// The last block of a result, in which such a tag begins.
pub fn tag(result: &[u8]) -> &[u8] {
    &result[result.len().saturating_sub(BLOCK)..]
}

/// Bytes that are enciphered for a message.
pub fn data_len(message: usize) -> usize {
    message.max(1).next_multiple_of(BLOCK)
}

/// The pass for a message under a key for which [`is_one`] says so.
pub fn task(key: &Key, message: Vec<u8>) -> Option<Task> {
    let secret = key.secret().as_bytes();
    let enciphered = |block: [u8; BLOCK]| -> Option<Zeroizing<[u8; BLOCK]>> {
        let out = compute::cipher(&AES, Mode::Ecb, Direction::Encrypt, secret, &[], &block).ok()?;
        Some(Zeroizing::new(Zeroizing::new(out).as_slice().try_into().ok()?))
    };
    let (key, whole, cut) = match key.purpose() {
        Purpose::Mac(Mac::Cmac) => {
            let whole = doubled(&*enciphered([0; BLOCK])?);
            let cut = doubled(&whole);
            (key.secret().clone(), whole, cut)
        }
        Purpose::Mac(Mac::Xcbc) => {
            let [first, whole, cut] = [1, 2, 3].map(|byte| enciphered([byte; BLOCK]));
            (Secret::new(first?.to_vec()), whole?, cut?)
        }
        _ => return None,
    };
    let mut data = message;
    let last = data.len().saturating_sub(1) / BLOCK * BLOCK;
    let subkey = match data.len() - last == BLOCK {
        true => whole,
        false => {
            data.push(0x80);
            data.resize(last + BLOCK, 0);
            cut
        }
    };
    data[last..].iter_mut().zip(subkey.iter()).for_each(|(byte, mask)| *byte ^= mask);
    let (mode, direction, iv) = (Mode::Cbc, Direction::Encrypt, vec![0; BLOCK]);
    Some(Task { pass: Pass::Cipher { algorithm: &AES, mode, direction, key, iv }, data })
}

/// A block times x in the field of 2^128 elements, without a branch on it (RFC 4493, 2.3).
fn doubled(block: &[u8; BLOCK]) -> Zeroizing<[u8; BLOCK]> {
    let number = u128::from_be_bytes(*block);
    Zeroizing::new(((number << 1) ^ ((number >> 127) * 0x87)).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the software engine, at every length around a block and keys of every length.
    #[test]
    fn the_last_block_of_the_pass_is_the_tag() {
        for (mac, lengths) in [(Mac::Cmac, &[16, 24, 32][..]), (Mac::Xcbc, &[16])] {
            for key_len in lengths {
                let secret: Vec<u8> = (0..*key_len).map(|i: u8| i.wrapping_mul(29) ^ 0x5a).collect();
                let key = Key::mac(mac, &secret).unwrap();
                assert!(is_one(&key));
                for len in [0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 100] {
                    let message: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(7)).collect();
                    let task = task(&key, message.clone()).unwrap();
                    assert_eq!(task.data.len(), data_len(message.len()), "{len}");
                    let out = task.result(&compute::run(task.operation().unwrap()).unwrap());
                    assert_eq!(tag(&out), compute::mac(mac, &secret, &message, 16).unwrap(), "{len}");
                }
            }
        }
        assert!(task(&Key::cipher(&AES, Mode::Cbc, &[0; 16]).unwrap(), vec![0; 16]).is_none());
    }
}
