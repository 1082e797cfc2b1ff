// SPDX-License-Identifier: Apache-2.0
//! Packets that were captured, or are like those, as traces: what a packet in an ESP tunnel asks of slots.
//!
//! Times are nanoseconds. All packets are there at once, as in `ace run`: the packet buffer says how many are seen.

use ace_engine::{ConfigurationId, Table};

use crate::Time;
use crate::sim::simulate::{Packet, Trace};

/// What a slot does with one algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Bytes of a block; 64: a hash, which sees the IV and what HMAC adds.
    pub block: u64,
    /// Clocks from one block to the next.
    pub clocks: f64,
    /// The configuration's clock in MHz.
    pub mhz: f64,
}

/// `aes`, `md5`, `3des` and `sha1` in their iterative shapes: clocks a block and MHz by docs/configurations.md.
pub const ITERATIVE: [Pace; 4] = [
    Pace { block: 16, clocks: 11.0, mhz: 76.2 },
    Pace { block: 64, clocks: 66.0, mhz: 74.3 },
    Pace { block: 8, clocks: 49.0, mhz: 158.7 },
    Pace { block: 64, clocks: 85.0, mhz: 139.7 },
];

impl Pace {
    fn is_hash(&self) -> bool {
        self.block == 64
    }

    /// Time for a packet of so many bytes in a tunnel whose cipher has blocks of `iv` bytes.
    fn time(&self, packet: u64, iv: u64) -> Time {
        let body = (packet + 2).div_ceil(iv) * iv;
        // HMAC: ESP header, IV and body, padding; one block more for the outer call.
        let blocks =
            if self.is_hash() { (8 + iv + body + 9).div_ceil(64) + 1 } else { body / self.block.max(1) };
        (blocks as f64 * self.clocks / self.mhz * 1e3) as Time
    }
}

/// Association and length of each packet of the demo's capture (studies/scheduling/demo.csv). Associations 0 and 1 are those
/// between A and B, 2 and 3 those between A and C.
pub fn demo(csv: &str) -> Vec<(u32, u64)> {
    let line = |line: &str| {
        let (association, bytes) = line.split_once(',')?;
        Some((association.trim().parse().ok()?, bytes.trim().parse().ok()?))
    };
    csv.lines().filter_map(line).collect()
}

/// What an association's packets go through: a cipher and a hash, and which comes first.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The cipher's configuration.
    pub cipher: ConfigurationId,
    /// The hash's configuration.
    pub hash: ConfigurationId,
    /// Packets come in: the hash is checked first.
    pub inbound: bool,
}

/// Packets, an association and a length each, of associations with these suites.
pub fn trace(packets: &[(u32, u64)], suites: &[Suite], paces: &Table<Pace>) -> Trace {
    let order = |s: &Suite| if s.inbound { [s.hash, s.cipher] } else { [s.cipher, s.hash] };
    let packet = |&(flow, len): &(u32, u64)| {
        let suite = &suites[flow as usize % suites.len()];
        let iv = paces[suite.cipher].block;
        let [first, second] = order(suite).map(|c| paces[c].time(len, iv).max(1));
        let suite = flow % suites.len() as u32;
        Packet { arrival: 0, flow, suite, bytes: len as u32, costs: [first, second, 0] }
    };
    Trace {
        suites: suites.iter().map(|s| order(s).map(|c| vec![c]).to_vec()).collect(),
        packets: packets.iter().map(packet).collect(),
    }
}

/// The demo's suites: the cipher and the hash of A and B, then those of A and C; all of it outbound, or inbound.
pub fn demo_suites(inbound: bool) -> [Suite; 4] {
    let of = ConfigurationId::from_index;
    [0, 0, 2, 2].map(|cipher| Suite { cipher: of(cipher), hash: of(cipher + 1), inbound })
}
