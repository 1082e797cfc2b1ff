// SPDX-License-Identifier: Apache-2.0
//! What the circuit that bits are makes of random blocks, clock by clock, beside IDEA in software.

use crate::error::{Context, Result, ensure};
use ace_ecp5::ConfigMemory;
use ace_ecp5_netlist::{Database, Pins, extract};
use sha2::{Digest, Sha256};

use super::circuit::{Circuit, LANES, Lanes};
use super::design::Places;
use crate::idea_2004::software::{block, subkeys};

/// Pins of the harness of the flow (flow/ace_flow/sim/harness.py).
const CLOCK: &str = "clk_i";
const DATA: &str = "d_i";
const LOAD: &str = "load_i";
const RESULT: &str = "q_o";

/// Bit i of the words of every block.
fn lanes(blocks: &[[u16; 4]], bit: usize) -> Lanes {
    let mut lanes = Lanes::default();
    for (n, block) in blocks.iter().enumerate() {
        lanes[n / 64] |= u64::from(block[bit / 16] >> (bit % 16) & 1) << (n % 64);
    }
    lanes
}

/// Text number n for a key, as good as random. Words of zero stand for 2^16: one in eight is.
fn text(key: &[u8; 16], n: usize) -> [u16; 4] {
    let digest = Sha256::new().chain_update(key).chain_update((n as u64).to_be_bytes()).finalize();
    std::array::from_fn(|i| match digest[8 + i] {
        0..32 => 0,
        _ => u16::from_be_bytes([digest[2 * i], digest[2 * i + 1]]),
    })
}

/// The number of blocks that were the same.
///
/// # Errors
/// Bits that are no circuit, or not this one; a block that comes out otherwise.
pub fn enciphers(
    memory: &ConfigMemory,
    database: &Database,
    pins: &Pins,
    places: &Places,
    key: &[u8; 16],
) -> Result<usize> {
    let netlist = extract(memory, database, pins)?;
    let mut circuit = Circuit::new(&netlist, CLOCK)?;
    let z = subkeys(key);
    let mut blocks: Vec<[u16; 4]> = (0..LANES).map(|n| text(key, n)).collect();
    blocks[..2].copy_from_slice(&[[0; 4], [0xffff; 4]]);
    let (nothing, all) = (Lanes::default(), [u64::MAX; LANES / 64]);
    let tick = |circuit: &mut Circuit<'_>, data: Lanes, load: Lanes| -> Result<Lanes> {
        circuit.tick(&[(DATA, data), (LOAD, load)]);
        circuit.output(RESULT).with_context(|| format!("there is no port {RESULT}"))
    };
    for bit in (0..64).rev() {
        tick(&mut circuit, lanes(&blocks, bit), nothing)?;
    }
    // A block is in its place until the next clock, so many clocks on its result is, and is taken by the clock behind
    // that; the order to take it passes a register.
    for _ in 1..places.latency {
        tick(&mut circuit, nothing, nothing)?;
    }
    tick(&mut circuit, nothing, all)?;
    let wanted: Vec<[u16; 4]> = blocks.iter().map(|x| block(*x, &z, places.whole)).collect();
    for bit in (0..64).rev() {
        let made = tick(&mut circuit, nothing, nothing)?;
        ensure!(
            made == lanes(&wanted, bit),
            "the circuit is not IDEA under this key: bit {bit} of its blocks"
        );
    }
    Ok(blocks.len())
}
