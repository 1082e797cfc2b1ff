// SPDX-License-Identifier: Apache-2.0
//! Blocks as words, for the ciphers that are written here.

use cipher::InOut;
use cipher::array::Array;
use cipher::consts::U16;

/// A block as four little-endian words through `run`.
pub(crate) fn little_endian(
    mut block: InOut<'_, '_, Array<u8, U16>>,
    run: impl FnOnce([u32; 4]) -> [u32; 4],
) {
    let bytes = block.get_in();
    let words = std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| bytes[4 * i + j])));
    let words = run(words);
    for (bytes, word) in block.get_out().chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}
