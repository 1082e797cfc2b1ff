// SPDX-License-Identifier: Apache-2.0
//! Random words that stand for those of blocks and keys.

/// So many values every term has.
pub const DRAWS: usize = 8;

/// The values of a term.
pub type Draws = [u32; DRAWS];

/// The values of a word of the block or the key, which hang on its number alone.
pub fn drawn(number: u64) -> Draws {
    let mut next = stream(number);
    [(); DRAWS].map(|()| next())
}

/// Random words that hang on a number (SplitMix64).
pub fn stream(number: u64) -> impl FnMut() -> u32 {
    let mut state = number.wrapping_mul(0xD134_2543_DE82_EF95);
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) as u32
    }
}
