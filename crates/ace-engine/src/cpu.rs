// SPDX-License-Identifier: Apache-2.0
//! The CPU engine: the same operations from well-kept crates, so that every result of the board can be
//! compared with an independent implementation.
//!
//! It holds no key policy: weak keys and bad parity are the business of whoever makes the SA.

use std::collections::VecDeque;

use cipher::consts::{U8, U16};
use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser,
    InvalidLength, KeyInit, KeyIvInit, StreamCipherCore,
};
use ctr::CtrCore;
use ctr::flavors::{Ctr64BE, Ctr128BE};
use hmac::digest::Digest;
use hmac::digest::block_api::EagerHash;
use hmac::{Hmac, Mac};
use ofb::OfbCore;

use crate::engine::{Completion, Engine, EngineError, Job};
use crate::operation::{Direction, Mode, Operation, Pass};

/// What the CPU engine runs for an algorithm: the functions of this module, instantiated with the crate's
/// type in the algorithm's row of the table.
#[derive(Clone, Copy)]
pub enum Software {
    /// One implementation per key length in bytes, in the order of `Kind::Cipher::keys`.
    Cipher(&'static [(usize, Cipher)]),
    /// The functions of a hash.
    Hash {
        /// The whole digest of a message.
        digest: fn(&[u8]) -> Vec<u8>,
        /// HMAC with a key of any length.
        hmac: MacFn,
    },
}

/// The functions of a cipher with one key length; [`block64`] and [`block128`] make them.
#[derive(Clone, Copy)]
pub struct Cipher {
    /// A whole pass.
    pub run: CipherFn,
    /// The key expansion alone, for measurements: what comes of it is neither kept nor wiped.
    pub set_up: fn(key: &[u8]) -> Result<(), EngineError>,
}

/// Transforms `data` in place; refuses lengths that do not fit the cipher.
pub type CipherFn =
    fn(mode: Mode, direction: Direction, key: &[u8], iv: &[u8], data: &mut [u8]) -> Result<(), EngineError>;

/// The whole HMAC of `data`.
pub type MacFn = fn(key: &[u8], data: &[u8]) -> Result<Vec<u8>, EngineError>;

impl std::fmt::Debug for Software {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Software::Cipher(_) => "Cipher",
            Software::Hash { .. } => "Hash",
        })
    }
}

/// A cipher with 8-byte blocks.
pub const fn block64<C>() -> Cipher
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U8>,
{
    let run: CipherFn = |mode, direction, key, iv, data| match mode {
        Mode::Ctr => key_stream(CtrCore::<C, Ctr64BE>::new_from_slices(key, iv), data),
        _ => any_block::<C>(mode, direction, key, iv, data),
    };
    Cipher { run, set_up: set_up::<C> }
}

/// A cipher with 16-byte blocks.
pub const fn block128<C>() -> Cipher
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16>,
{
    let run: CipherFn = |mode, direction, key, iv, data| match mode {
        Mode::Ctr => key_stream(CtrCore::<C, Ctr128BE>::new_from_slices(key, iv), data),
        _ => any_block::<C>(mode, direction, key, iv, data),
    };
    Cipher { run, set_up: set_up::<C> }
}

fn set_up<C: KeyInit>(key: &[u8]) -> Result<(), EngineError> {
    let cipher = C::new_from_slice(key).map_err(length)?;
    std::hint::black_box(&cipher);
    std::mem::forget(cipher);
    Ok(())
}

/// The digest of `data`.
pub fn digest<D: Digest>(data: &[u8]) -> Vec<u8> {
    D::digest(data).to_vec()
}

/// HMAC (RFC 2104) with a key of any length.
pub fn hmac<D: EagerHash + Digest>(key: &[u8], data: &[u8]) -> Result<Vec<u8>, EngineError> {
    let mac = <Hmac<D> as KeyInit>::new_from_slice(key).map_err(length)?;
    Ok(mac.chain_update(data).finalize().into_bytes().to_vec())
}

fn length(_: InvalidLength) -> EngineError {
    EngineError::Illegal("key or IV of a length that the cipher does not have".into())
}

/// Takes the core alone, because a whole `ctr::Ctr128BE` or `ofb::Ofb` takes keys of one length only.
fn key_stream<C: StreamCipherCore>(
    core: Result<C, InvalidLength>,
    data: &mut [u8],
) -> Result<(), EngineError> {
    core.map_err(length)?
        .try_apply_keystream_partial(data.into())
        .map_err(|_| EngineError::Illegal("the counter would come round to its start".into()))
}

/// The modes that are the same for every length of a block.
fn any_block<C>(
    mode: Mode,
    direction: Direction,
    key: &[u8],
    iv: &[u8],
    data: &mut [u8],
) -> Result<(), EngineError>
where
    C: KeyInit + BlockCipherEncrypt + BlockCipherDecrypt,
{
    let whole_blocks = |data| match Array::slice_as_chunks_mut(data) {
        (blocks, []) => Ok(blocks),
        _ => Err(EngineError::Illegal("the data are not whole blocks".into())),
    };
    match (mode, direction) {
        (Mode::Ecb, Direction::Encrypt) => {
            let mut cipher = ecb::Encryptor::<C>::new_from_slice(key).map_err(length)?;
            cipher.encrypt_blocks(whole_blocks(data)?);
        }
        (Mode::Ecb, Direction::Decrypt) => {
            let mut cipher = ecb::Decryptor::<C>::new_from_slice(key).map_err(length)?;
            cipher.decrypt_blocks(whole_blocks(data)?);
        }
        (Mode::Cbc, Direction::Encrypt) => {
            let mut cipher = cbc::Encryptor::<C>::new_from_slices(key, iv).map_err(length)?;
            cipher.encrypt_blocks(whole_blocks(data)?);
        }
        (Mode::Cbc, Direction::Decrypt) => {
            let mut cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).map_err(length)?;
            cipher.decrypt_blocks(whole_blocks(data)?);
        }
        (Mode::Cfb, Direction::Encrypt) => {
            cfb_mode::Encryptor::<C>::new_from_slices(key, iv).map_err(length)?.encrypt(data);
        }
        (Mode::Cfb, Direction::Decrypt) => {
            cfb_mode::Decryptor::<C>::new_from_slices(key, iv).map_err(length)?.decrypt(data);
        }
        (Mode::Cfb8, Direction::Encrypt) => {
            cfb8::Encryptor::<C>::new_from_slices(key, iv).map_err(length)?.encrypt(data);
        }
        (Mode::Cfb8, Direction::Decrypt) => {
            cfb8::Decryptor::<C>::new_from_slices(key, iv).map_err(length)?.decrypt(data);
        }
        (Mode::Ofb, _) => return key_stream(OfbCore::<C>::new_from_slices(key, iv), data),
        // Its width is that of the block: see `block64` and `block128`.
        (Mode::Ctr, _) => return Err(EngineError::Illegal("a counter of no width".into())),
    }
    Ok(())
}

/// Computes one operation.
///
/// # Errors
/// [`EngineError::Illegal`] when the parameters do not fit the algorithm.
pub fn compute(operation: Operation) -> Result<Vec<u8>, EngineError> {
    operation.pass.check(operation.data.len())?;
    let Operation { pass, mut data } = operation;
    match (&pass, pass.need().algorithm().software) {
        (Pass::Cipher { mode, direction, key, iv, .. }, Software::Cipher(by_key)) => {
            let run = by_key.iter().find(|(len, _)| *len == key.len()).map(|(_, cipher)| cipher.run);
            run.ok_or_else(|| no_software(&pass))?(*mode, *direction, key.as_bytes(), iv, &mut data)?;
            Ok(data)
        }
        (Pass::Hash { .. }, Software::Hash { digest, .. }) => Ok(digest(&data)),
        (Pass::Hmac { key, output_len, .. }, Software::Hash { hmac, .. }) => {
            let mut mac = hmac(key.as_bytes(), &data)?;
            mac.truncate(*output_len);
            Ok(mac)
        }
        _ => Err(no_software(&pass)),
    }
}

fn no_software(pass: &Pass) -> EngineError {
    EngineError::Illegal(format!("the CPU engine has nothing for {:?}", pass.need()))
}

/// Executes operations on the CPU, one after the other, when it is polled.
#[derive(Debug, Default)]
pub struct CpuEngine {
    queue: VecDeque<Job>,
}

impl CpuEngine {
    /// An engine with nothing to do.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn submit(&mut self, job: Job) {
        self.queue.push_back(job);
    }

    fn poll(&mut self) -> Vec<Completion> {
        self.queue.drain(..).map(|job| Completion { id: job.id, result: compute(job.operation) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{AES, ALGORITHMS, DES, Kind, MD5, SHA1, TDES};
    use crate::engine::run_one;
    use crate::operation::Secret;

    fn cipher(
        algorithm: &'static crate::Algorithm,
        mode: Mode,
        direction: Direction,
        key: &[u8],
        iv: &[u8],
        data: &[u8],
    ) -> Result<Vec<u8>, EngineError> {
        let pass =
            Pass::Cipher { algorithm, mode, direction, key: Secret::new(key.to_vec()), iv: iv.to_vec() };
        run_one(&mut CpuEngine::new(), Operation { pass, data: data.to_vec() })
    }

    #[test]
    fn every_key_length_of_the_table_has_software() {
        for algorithm in ALGORITHMS {
            match (&algorithm.kind, algorithm.software) {
                (Kind::Cipher { keys, .. }, Software::Cipher(by_key)) => {
                    assert_eq!(by_key.iter().map(|(len, _)| *len).collect::<Vec<_>>(), *keys);
                }
                (Kind::Hash { digest, .. }, Software::Hash { digest: run, .. }) => {
                    assert_eq!(run(b"").len(), *digest);
                }
                _ => panic!("{algorithm}: kind and software disagree"),
            }
        }
    }

    #[test]
    fn modes_are_their_definitions() {
        let ciphers = ALGORITHMS.iter().copied().filter_map(|algorithm| match algorithm.kind {
            Kind::Cipher { block, keys } => Some(keys.iter().map(move |&len| (algorithm, len, block))),
            Kind::Hash { .. } => None,
        });
        for (algorithm, key_len, block) in ciphers.flatten() {
            let key: Vec<u8> = (0..key_len).map(|i| (i * 37 + 5) as u8).collect();
            // The counter wraps over the whole block within the data.
            let mut iv = vec![0xff; block];
            iv[block - 1] = 0xfe;
            let data: Vec<u8> = (0..block * 5).map(|i| (i * i) as u8).collect();
            let one = |direction, data: &[u8]| {
                cipher(algorithm, Mode::Ecb, direction, &key, &[], data).expect("one block")
            };

            let mut ecb = Vec::new();
            let mut cbc = Vec::new();
            let mut ctr = Vec::new();
            let mut cfb = Vec::new();
            let mut ofb = Vec::new();
            let (mut chain, mut count) = (iv.clone(), iv.clone());
            let (mut fed, mut stream) = (iv.clone(), iv.clone());
            let xor = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
            for plain in data.chunks(block) {
                ecb.extend(one(Direction::Encrypt, plain));
                chain = one(Direction::Encrypt, &xor(plain, &chain));
                cbc.extend(&chain);
                ctr.extend(xor(&one(Direction::Encrypt, &count), plain));
                fed = xor(&one(Direction::Encrypt, &fed), plain);
                cfb.extend(&fed);
                stream = one(Direction::Encrypt, &stream);
                ofb.extend(xor(&stream, plain));
                for byte in count.iter_mut().rev() {
                    *byte = byte.wrapping_add(1);
                    if *byte != 0 {
                        break;
                    }
                }
            }
            // 8-bit segments: one byte of every output, and the input moves up by the byte that came of it.
            let (mut cfb8, mut shifted) = (Vec::new(), iv.clone());
            for plain in &data {
                let byte = one(Direction::Encrypt, &shifted)[0] ^ plain;
                shifted = [&shifted[1..], &[byte]].concat();
                cfb8.push(byte);
            }
            for (mode, expected) in Mode::ALL.into_iter().zip([ecb, cbc, ctr, cfb, cfb8, ofb]) {
                let iv = if mode == Mode::Ecb { &[] } else { &iv[..] };
                // The data may end anywhere where the last segment may be short.
                for len in [data.len(), data.len() - 1, block + 1, 1, 0] {
                    if mode.whole_blocks() && !len.is_multiple_of(block) {
                        continue;
                    }
                    let (data, expected) = (&data[..len], &expected[..len]);
                    let run = |direction, data| cipher(algorithm, mode, direction, &key, iv, data);
                    assert_eq!(
                        run(Direction::Encrypt, data).as_deref(),
                        Ok(expected),
                        "{algorithm} {mode:?}"
                    );
                    assert_eq!(
                        run(Direction::Decrypt, expected).as_deref(),
                        Ok(data),
                        "{algorithm} {mode:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn weak_keys_and_any_parity_are_keys() {
        for key in [[1u8; 8], [0; 8], [0xfe; 8], [0xff; 8]] {
            assert!(cipher(&DES, Mode::Ecb, Direction::Encrypt, &key, &[], &[0; 8]).is_ok());
        }
        let (k1, k2) = ([3u8; 8], [4u8; 8]);
        let two = [k1, k2].concat();
        let three = [k1, k2, k1].concat();
        assert_eq!(
            cipher(&TDES, Mode::Ecb, Direction::Encrypt, &two, &[], &[9; 8]),
            cipher(&TDES, Mode::Ecb, Direction::Encrypt, &three, &[], &[9; 8])
        );
        assert_eq!(
            cipher(&TDES, Mode::Ecb, Direction::Encrypt, &[5; 24], &[], &[9; 8]),
            cipher(&DES, Mode::Ecb, Direction::Encrypt, &[5; 8], &[], &[9; 8])
        );
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        let bad = |r: Result<Vec<u8>, EngineError>| matches!(r, Err(EngineError::Illegal(_)));
        assert!(bad(cipher(&AES, Mode::Ecb, Direction::Encrypt, &[0; 15], &[], &[0; 16])));
        assert!(bad(cipher(&AES, Mode::Ecb, Direction::Encrypt, &[0; 16], &[0; 16], &[0; 16])));
        assert!(bad(cipher(&AES, Mode::Cbc, Direction::Decrypt, &[0; 16], &[0; 16], &[0; 17])));
        for mode in [Mode::Ctr, Mode::Cfb, Mode::Cfb8, Mode::Ofb] {
            assert!(bad(cipher(&AES, mode, Direction::Encrypt, &[0; 16], &[0; 8], &[0; 17])));
            assert!(bad(cipher(&AES, mode, Direction::Decrypt, &[0; 16], &[], &[0; 16])));
            assert!(bad(cipher(&AES, mode, Direction::Decrypt, &[0; 15], &[0; 16], &[0; 16])));
        }
        assert!(bad(cipher(&SHA1, Mode::Ecb, Direction::Encrypt, &[0; 16], &[], &[0; 16])));
        assert!(bad(cipher(&DES, Mode::Ecb, Direction::Encrypt, &[], &[], &[])));
        assert_eq!(cipher(&AES, Mode::Cbc, Direction::Encrypt, &[0; 16], &[0; 16], &[]), Ok(vec![]));
        let run = |pass| run_one(&mut CpuEngine::new(), Operation { pass, data: vec![1] });
        let hmac =
            |algorithm, output_len| Pass::Hmac { algorithm, key: Secret::new(vec![7; 200]), output_len };
        assert!(bad(run(Pass::Hash { algorithm: &AES })));
        assert!(bad(run(hmac(&MD5, 17))));
        assert!(bad(run(hmac(&MD5, 0))));
        assert!(bad(run(hmac(&AES, 12))));
        assert_eq!(run(hmac(&MD5, 12)).map(|mac| mac.len()), Ok(12));
    }

    #[test]
    fn jobs_complete_in_their_order() {
        let mut engine = CpuEngine::new();
        assert!(engine.poll().is_empty());
        for id in 0..5 {
            let operation = Operation { pass: Pass::Hash { algorithm: &MD5 }, data: vec![id as u8] };
            engine.submit(Job { id, lane: 0, packet: id, operation, then: Vec::new() });
        }
        assert_eq!(engine.poll().iter().map(|done| done.id).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
