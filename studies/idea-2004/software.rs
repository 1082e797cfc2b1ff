// SPDX-License-Identifier: Apache-2.0
//! IDEA in software, as the paper's loop has it: block after block, phase after phase, with either multiplication; and
//! many blocks at a time, which a compiler turns into vector instructions. Wall time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Blocks side by side.
const WIDE: usize = 32;
/// Characters of the paper's text, in whole blocks.
const BLOCKS: usize = 31880 / 8;

pub type Subkeys = [u16; 52];

/// Lai's low-high: a word of zero stands for 2^16 and is looked for first.
fn lai(x: u16, k: u16) -> u16 {
    if x == 0 {
        return 1u16.wrapping_sub(k);
    }
    if k == 0 {
        return 1u16.wrapping_sub(x);
    }
    low_high(u32::from(x) * u32::from(k))
}

/// Biham's: multiplied as they are; only a product of zero is looked for.
fn biham(x: u16, k: u16) -> u16 {
    let product = u32::from(x) * u32::from(k);
    if product == 0 { 1u16.wrapping_sub(x).wrapping_sub(k) } else { low_high(product) }
}

fn low_high(product: u32) -> u16 {
    let (low, high) = (product as u16, (product >> 16) as u16);
    low.wrapping_sub(high).wrapping_add(u16::from(low < high))
}

/// The 52 words of the key that encrypts: eight of it, which turns left by 25 bits for each eight more.
pub fn subkeys(key: &[u8; 16]) -> Subkeys {
    let mut key = u128::from_be_bytes(*key);
    let mut words = [0; 52];
    for eight in words.chunks_mut(8) {
        for (i, word) in eight.iter_mut().enumerate() {
            *word = (key >> (112 - 16 * i)) as u16;
        }
        key = key.rotate_left(25);
    }
    words
}

/// A phase of a block under six subkeys.
fn phase([x1, x2, x3, x4]: [u16; 4], z: &[u16; 6], multiply: fn(u16, u16) -> u16) -> [u16; 4] {
    let (a, b) = (multiply(x1, z[0]), x2.wrapping_add(z[1]));
    let (c, d) = (x3.wrapping_add(z[2]), multiply(x4, z[3]));
    let s = multiply(a ^ c, z[4]);
    let t = multiply(s.wrapping_add(b ^ d), z[5]);
    let u = s.wrapping_add(t);
    [a ^ t, c ^ t, b ^ u, d ^ u]
}

/// One block.
fn encrypt(x: [u16; 4], z: &Subkeys, multiply: fn(u16, u16) -> u16) -> [u16; 4] {
    let phases = z[..48].as_chunks::<6>().0;
    let [x1, x2, x3, x4] = phases.iter().fold(x, |x, z| phase(x, z, multiply));
    [multiply(x1, z[48]), x3.wrapping_add(z[49]), x2.wrapping_add(z[50]), multiply(x4, z[51])]
}

/// A block under a key, all phases or the first alone.
pub fn block(x: [u16; 4], z: &Subkeys, whole: bool) -> [u16; 4] {
    if whole { encrypt(x, z, lai) } else { phase(x, &std::array::from_fn(|i| z[i]), lai) }
}

type Lanes = [u16; WIDE];

/// Lane by lane; without branches, so that lanes stay side by side.
fn lanes(x: &Lanes, y: &Lanes, of: impl Fn(u16, u16) -> u16) -> Lanes {
    std::array::from_fn(|i| of(x[i], y[i]))
}

fn wide_multiply(x: &Lanes, k: u16) -> Lanes {
    std::array::from_fn(|i| {
        let product = u32::from(x[i]) * u32::from(k);
        let zero = 1u16.wrapping_sub(x[i]).wrapping_sub(k);
        if product == 0 { zero } else { low_high(product) }
    })
}

/// The first words of so many blocks, their second ones and so on.
fn encrypt_wide([mut x1, mut x2, mut x3, mut x4]: [Lanes; 4], z: &Subkeys) -> [Lanes; 4] {
    let plus = |x: &Lanes, k: u16| x.map(|x| x.wrapping_add(k));
    let xor = |x: &Lanes, y: &Lanes| lanes(x, y, |x, y| x ^ y);
    let sum = |x: &Lanes, y: &Lanes| lanes(x, y, u16::wrapping_add);
    for z in z[..48].as_chunks::<6>().0 {
        let (a, b, c, d) =
            (wide_multiply(&x1, z[0]), plus(&x2, z[1]), plus(&x3, z[2]), wide_multiply(&x4, z[3]));
        let s = wide_multiply(&xor(&a, &c), z[4]);
        let t = wide_multiply(&sum(&s, &xor(&b, &d)), z[5]);
        let u = sum(&s, &t);
        [x1, x2, x3, x4] = [xor(&a, &t), xor(&c, &t), xor(&b, &u), xor(&d, &u)];
    }
    [wide_multiply(&x1, z[48]), plus(&x3, z[49]), plus(&x2, z[50]), wide_multiply(&x4, z[51])]
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Speed {
    pub name: String,
    pub mbps: f64,
}

fn mbps(blocks: usize, budget: Duration, mut once: impl FnMut()) -> f64 {
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while best.is_infinite() || start.elapsed() < budget {
        let round = Instant::now();
        once();
        best = best.min(round.elapsed().as_secs_f64());
    }
    blocks as f64 * 64.0 / best.max(1e-12) / 1e6
}

/// The paper's text, encrypted on this CPU; the best of what fits into the budget.
pub fn measure(budget: Duration) -> Vec<Speed> {
    let z = subkeys(&std::array::from_fn(|i| (i * 59 + 23) as u8));
    let mut text: Vec<[u16; 4]> =
        (0..BLOCKS).map(|n| std::array::from_fn(|i| (n * 4099 + i * 7919) as u16)).collect();
    let mut plain = |multiply: fn(u16, u16) -> u16| {
        mbps(BLOCKS, budget, || {
            for block in &mut text {
                *block = encrypt(*block, black_box(&z), multiply);
            }
        })
    };
    let mut speeds = vec![
        Speed { name: "block after block, Lai's multiplication".into(), mbps: plain(lai) },
        Speed { name: "block after block, Biham's".into(), mbps: plain(biham) },
    ];
    let mut groups = vec![[[3u16; WIDE]; 4]; BLOCKS / WIDE];
    let wide = mbps(groups.len() * WIDE, budget, || {
        for group in &mut groups {
            *group = encrypt_wide(*group, black_box(&z));
        }
    });
    speeds.push(Speed { name: "32 blocks side by side, Biham's".into(), mbps: wide });
    speeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_are_idea() {
        // Lai's example.
        let key: [u8; 16] = std::array::from_fn(|i| if i % 2 == 1 { i as u8 / 2 + 1 } else { 0 });
        let z = subkeys(&key);
        let wanted = [0x11fb, 0xed2b, 0x0198, 0x6de5];
        assert_eq!(encrypt([0, 1, 2, 3], &z, lai), wanted);
        assert_eq!(encrypt([0, 1, 2, 3], &z, biham), wanted);
        for key in [[0; 16], [255; 16], std::array::from_fn(|i| (i * 37) as u8)] {
            let z = subkeys(&key);
            let blocks: [[u16; 4]; WIDE] =
                std::array::from_fn(|n| std::array::from_fn(|i| (n * (i + 1) * 9973 * (n % 5)) as u16));
            let wide = encrypt_wide(std::array::from_fn(|w| std::array::from_fn(|n| blocks[n][w])), &z);
            for (n, block) in blocks.into_iter().enumerate() {
                assert_eq!(encrypt(block, &z, lai), encrypt(block, &z, biham));
                assert_eq!(encrypt(block, &z, lai), std::array::from_fn(|w| wide[w][n]));
            }
        }
    }
}
