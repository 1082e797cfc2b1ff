// SPDX-License-Identifier: Apache-2.0
//! Single answers from the software engine, for known answers, tests and whoever has no packets.

use crate::algorithm::Algorithm;
use crate::buffer::Buffer;
use crate::error::EngineError;
use crate::key::Key;
use crate::need::{Aead, Direction, Mac, Mode};
use crate::operation::Operation;
use crate::software;

/// Executes one operation.
///
/// # Errors
/// As an engine.
pub fn run(operation: Operation) -> Result<Buffer, EngineError> {
    let Operation { action, mut buffer } = operation;
    software::execute(&action, &mut buffer)?;
    Ok(buffer)
}

/// A cipher pass over `text`. `iv` is empty for ECB, the first counter block for CTR.
///
/// # Errors
/// Lengths that do not fit the cipher.
pub fn cipher(
    algorithm: &'static Algorithm,
    mode: Mode,
    direction: Direction,
    key: &[u8],
    iv: &[u8],
    text: &[u8],
) -> Result<Vec<u8>, EngineError> {
    let key = Key::cipher(algorithm, mode, key)?;
    run(Operation::cipher(key, direction, iv, text)?).map(|buffer| buffer.to_vec())
}

/// The leftmost `len` bytes of a MAC.
///
/// # Errors
/// A key or a length that the MAC does not have.
pub fn mac(mac: Mac, key: &[u8], message: &[u8], len: usize) -> Result<Vec<u8>, EngineError> {
    behind(Key::mac(mac, key)?, message, len)
}

/// The whole digest.
///
/// # Errors
/// If the algorithm is no hash.
pub fn digest(algorithm: &'static Algorithm, message: &[u8]) -> Result<Vec<u8>, EngineError> {
    let key = Key::hash(algorithm)?;
    let len = key.tag_len();
    behind(key, message, len)
}

fn behind(key: Key, message: &[u8], len: usize) -> Result<Vec<u8>, EngineError> {
    run(Operation::mac(key, message, len)).map(|buffer| buffer[message.len()..].to_vec())
}

/// Ciphertext and, behind it, the tag.
///
/// # Errors
/// Lengths that the AEAD does not have.
pub fn seal(
    aead: Aead,
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
    tag_len: usize,
) -> Result<Vec<u8>, EngineError> {
    let operation = Operation::aead(Key::aead(aead, key)?, nonce, aad, text, tag_len);
    run(operation).map(|buffer| buffer[..text.len() + tag_len].to_vec())
}

/// The plaintext of a ciphertext whose tag is right.
///
/// # Errors
/// [`EngineError::Mismatch`] if it is not; lengths that the AEAD does not have.
pub fn open(
    aead: Aead,
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
    tag: &[u8],
) -> Result<Vec<u8>, EngineError> {
    let operation = Operation::check_aead(Key::aead(aead, key)?, nonce, aad, text, tag);
    run(operation).map(|buffer| buffer[..text.len()].to_vec())
}
