// SPDX-License-Identifier: Apache-2.0
//! The paper's board as a model: clocks of the operations, and of the ways in and out. Modelled time.

use serde::{Deserialize, Serialize};

pub const BLOCK_BITS: f64 = 64.0;
const PHASES: u64 = 8;
/// The largest number of clocks that is tried for an operation or an access.
const MOST: u64 = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
pub enum Path {
    S,
    SR,
    P,
}

pub const PATHS: [Path; 3] = [Path::S, Path::SR, Path::P];

/// Clocks of a multiplication, an addition, an exclusive-or, and of an access to the memory in a row of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Clocks {
    pub mt: u64,
    pub at: u64,
    pub xt: u64,
    pub access: u64,
}

impl Path {
    /// Equations 1 to 3: multiplications, additions, exclusive-ors one behind the other in a phase.
    pub fn operations(self) -> [u64; 3] {
        match self {
            Path::S => [4, 4, 6],
            Path::SR => [3, 2, 2],
            Path::P => [4, 2, 2],
        }
    }

    pub fn phase(self, c: Clocks) -> u64 {
        let [m, a, x] = self.operations();
        m * c.mt + a * c.at + x * c.xt
    }

    /// What stands behind the phases: two multiplications and two additions, in parallel with replication.
    fn transformation(self, c: Clocks) -> u64 {
        match self {
            Path::S => 2 * (c.mt + c.at),
            Path::SR => c.mt.max(c.at),
            Path::P => 0,
        }
    }

    /// Clocks of `blocks` blocks that are all there.
    pub fn compute(self, c: Clocks, blocks: u64) -> u64 {
        match self {
            // The first result comes when the others are in the phases behind it.
            Path::P => (blocks + PHASES) * self.phase(c),
            _ => blocks * (PHASES * self.phase(c) + self.transformation(c)),
        }
    }

    /// Through the internal array: it is filled, worked on, emptied, as often as the text needs it.
    pub fn array_mbps(self, c: Clocks, accesses: u64, array_bytes: u64, text_bytes: u64, mhz: f64) -> f64 {
        let (mut left, mut clocks) = (text_bytes / 8, 0);
        let blocks = left;
        while left > 0 {
            let part = left.min((array_bytes / 8).max(1));
            clocks += self.compute(c, part) + part * accesses * c.access;
            left -= part;
        }
        blocks as f64 * BLOCK_BITS * mhz / clocks as f64
    }

    /// Over a link of which each block needs so many accesses: the slower of both, link and path.
    pub fn link_mbps(self, c: Clocks, accesses: u64, access_us: f64, text_bytes: u64, mhz: f64) -> f64 {
        let blocks = text_bytes / 8;
        let compute = self.compute(c, blocks) as f64 / mhz;
        let link = (blocks * accesses) as f64 * access_us;
        blocks as f64 * BLOCK_BITS / compute.max(link)
    }
}

/// What an access takes if so much goes through a link with so many of them a block.
pub fn fitted_us(mbps: f64, accesses: u64) -> f64 {
    BLOCK_BITS / mbps / accesses as f64
}

/// The whole clocks that come nearest to what was published: the largest of its errors is the smallest. And how many
/// sets stay within 10 %.
pub fn fit(published: [f64; 3], mbps: impl Fn(Path, Clocks) -> f64) -> (Clocks, [f64; 3], usize) {
    let mut best = (Clocks { mt: 1, at: 1, xt: 1, access: 1 }, [f64::INFINITY; 3]);
    let mut within = 0;
    let largest = |errors: &[f64; 3]| errors.iter().fold(0.0, |most: f64, e| most.max(e.abs()));
    for n in 0..MOST.pow(4) {
        let digit = |at: u32| 1 + n / MOST.pow(at) % MOST;
        let clocks = Clocks { mt: digit(3), at: digit(2), xt: digit(1), access: digit(0) };
        let errors = [0, 1, 2].map(|i| mbps(PATHS[i], clocks) / published[i] - 1.0);
        within += usize::from(largest(&errors) <= 0.1);
        if largest(&errors) < largest(&best.1) {
            best = (clocks, errors);
        }
    }
    (best.0, best.1, within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_the_equations() {
        let one = Clocks { mt: 1, at: 1, xt: 1, access: 1 };
        assert_eq!(PATHS.map(|p| p.phase(one)), [14, 7, 8]);
        let c = Clocks { mt: 5, at: 3, xt: 2, access: 1 };
        // Equation 1 less equation 2, as the paper has it.
        assert_eq!(Path::S.phase(c) - Path::SR.phase(c), c.mt + 2 * c.at + 4 * c.xt);
        assert_eq!(Path::P.phase(c) - Path::SR.phase(c), c.mt);
        assert_eq!(Path::S.compute(one, 2), 2 * (8 * 14 + 4));
        assert_eq!(Path::P.compute(one, 10), 18 * 8);
        // 20 MHz, blocks of which each needs two accesses of 10 µs and 116 clocks: the link is slower.
        assert_eq!(Path::S.link_mbps(one, 2, 10.0, 80, 20.0), 64.0 / 20.0);
    }
}
