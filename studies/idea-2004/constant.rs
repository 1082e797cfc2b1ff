// SPDX-License-Identifier: Apache-2.0
//! The key in the contents of LUTs: its netlist, as `python -m ace_flow constant-key` has it, and its bits, as
//! `python -m ace_flow constant-bits` has placed, routed and shown them.

use crate::error::{Context, Result};
use serde::{Deserialize, Serialize};

use super::built::Substages;
use crate::routed::Route;
use ace_board::library::Load;
use ace_report::{Page, say};

/// Words of the key's schedule, which the general design takes one a clock.
const SUBKEYS: u64 = 52;

/// studies/idea-2004/constant.json and constant-bits.json.
#[derive(Serialize)]
pub struct Constant {
    netlist: Netlist,
    bits: Bits,
}

#[derive(Deserialize, Serialize)]
struct Netlist {
    written_by: String,
    area: Area,
    /// Under which the netlist was looked at; of which the contents were compared with the RTL's; blocks of each.
    keys: u64,
    elaborated: u64,
    blocks: u64,
    /// Clocks from a block to its result.
    latency: u64,
}

#[derive(Deserialize, Serialize)]
struct Area {
    lut4: u64,
    ccu2c: u64,
    ff: u64,
    mult18: u64,
    /// LUTs of the key, which lut4 counts too.
    kept: u64,
}

#[derive(Deserialize, Serialize)]
struct Bits {
    written_by: String,
    routes: Vec<Route>,
    median: Route,
    /// At which the bits as they were placed are proven to be the netlist.
    points: u64,
    keys: Vec<Key>,
    deltas: Vec<Delta>,
}

/// A key whose bits were looked at.
#[derive(Deserialize, Serialize)]
struct Key {
    key: String,
    /// Of all that is not in the key's LUTs.
    outside_sha256: String,
    /// Enciphered by the circuit that was read back.
    blocks: u64,
    /// At which that circuit is proven to be the netlist with this key's contents.
    points: Option<u64>,
}

/// What makes one key of another.
#[derive(Deserialize, Serialize)]
struct Delta {
    held: String,
    key: String,
    frames: u64,
    bytes: usize,
    whole_bytes: usize,
}

pub fn read() -> Result<Constant> {
    let netlist = serde_json::from_str(include_str!("constant.json"))
        .context("studies/idea-2004/constant.json: write it anew with python -m ace_flow constant-key")?;
    let bits = serde_json::from_str(include_str!("constant-bits.json")).context(
        "studies/idea-2004/constant-bits.json: write it anew with python -m ace_flow constant-bits",
    )?;
    Ok(Constant { netlist, bits })
}

impl Constant {
    /// The most that another key takes: bytes, and µs of the port.
    pub fn largest_delta(&self) -> (usize, f64) {
        let bytes = self.bits.deltas.iter().map(|delta| delta.bytes).max().unwrap_or(0);
        (bytes, 1e3 * Load::of(bytes, 0).parallel_ms)
    }
}

impl Netlist {
    fn lut_sites(&self) -> u64 {
        self.area.lut4 + 2 * self.area.ccu2c
    }
}

fn seeds(fmax_mhz: impl Iterator<Item = f64>) -> String {
    fmax_mhz.map(|mhz| format!("{mhz:.1}")).collect::<Vec<_>>().join(", ")
}

pub fn print(page: &mut Page, constant: &Constant, general: &Substages) {
    let Constant { netlist, bits } = constant;
    let (a, mhz) = (&netlist.area, bits.median.fmax_mhz);
    say!(page, "\n## A key in the contents of LUTs\n");
    say!(
        page,
        "| | LUT4 (measured: placed) | of them the key's (measured: placed) | FF (measured: placed) | MULT18 (measured: placed) | MHz by seed (measured: placed) | median (measured: placed) | Mb/s, ECB (measured: RTL) | clocks until a result (measured: RTL) |"
    );
    say!(page, "|---|--:|--:|--:|--:|---|--:|--:|--:|");
    say!(
        page,
        "| constant key | {} | {} | {} | {} | {} | {mhz:.1} | {:.0} | {} |",
        netlist.lut_sites(),
        a.kept,
        a.ff,
        a.mult18,
        seeds(bits.routes.iter().map(|route| route.fmax_mhz)),
        64.0 * mhz,
        netlist.latency
    );
    say!(
        page,
        "| any key, stages | {} | – | {} | {} | {} | {:.1} | {:.0} | {} |",
        general.lut_sites,
        general.ff,
        general.mult18,
        seeds(general.fmax_mhz.iter().copied()),
        general.median_mhz,
        general.mbps,
        general.stages
    );
    say!(
        page,
        "\n| another key | frames (measured: bits) | bytes (measured: bits) | µs by the 8-bit port (predicted) | by SPI (predicted) |"
    );
    say!(page, "|---|--:|--:|--:|--:|");
    for d in &bits.deltas {
        let load = Load::of(d.bytes, 0);
        say!(
            page,
            "| frames, {:.8}… to {:.8}… | {} | {} | {:.0} | {:.0} |",
            d.held,
            d.key,
            d.frames,
            d.bytes,
            load.parallel_ms * 1e3,
            load.spi_ms * 1e3
        );
    }
    if let Some(d) = bits.deltas.last() {
        let load = Load::of(d.whole_bytes, 0);
        let (port, spi) = (load.parallel_ms * 1e3, load.spi_ms * 1e3);
        say!(
            page,
            "| all of the configuration, {:.8}… | – | {} | {port:.0} | {spi:.0} |",
            d.key,
            d.whole_bytes
        );
    }
    let us = SUBKEYS as f64 / general.median_mhz;
    say!(page, "| stages: {SUBKEYS} subkeys, one a clock | – | – | {us:.2} | {us:.2} |");
    say!(
        page,
        "\n| key | blocks from the bits (measured: bits) | points proven (measured: bits) | outside of the key's LUTs |"
    );
    say!(page, "|---|--:|--:|---|");
    for k in &bits.keys {
        let points = k.points.map_or("–".into(), |points| points.to_string());
        say!(page, "| `{}` | {} | {points} | `{:.16}…` |", k.key, k.blocks, k.outside_sha256);
    }
    say!(
        page,
        "\nPlaced and routed once, for all keys, and proven to be the netlist at {} points, with contents in the key's LUTs that look at every \
         input. A key's contents are worked out from it (`ace rekey`); the frames that differ are written over a slot with another key, \
         and what is in its memory then is looked at: all bits outside of the key's LUTs have the digest of the design that was proven, \
         those inside are worked out anew and compared. Read back from these bits, the circuit enciphers blocks as IDEA does in \
         software under the key; where points are given, it is also proven to be the netlist with that key's contents. The netlist alone enciphers {} \
         blocks under each of {} keys; for {} of them the contents are those that the RTL is elaborated to. Times are the port's, \
         with frames in the device's own compression. The last of the deltas is that of the key of zeros, which leaves nothing of the key \
         before: the memory is then the same, whichever that was.",
        bits.points,
        netlist.blocks,
        netlist.keys,
        netlist.elaborated
    );
    say!(
        page,
        "\nWhat a resident key costs: the subkeys stand in the configuration memory, and with them the key, from its load to the next one. \
         Whoever can read that memory back, has the bitstream of the load, or sees the port while it loads, has the key. Slots of the library \
         forget a key with a frame that wipes and with a reset; here nothing but other frames takes it away. It is the exception, of this \
         study alone, and no library holds it."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_a_table_for_each_multiplication_and_sum() {
        let Netlist { area, keys, elaborated, .. } = read().unwrap().netlist;
        assert_eq!(area.kept, 34 * (4 * 17 + 16) + 18 * 16);
        assert_eq!(area.mult18, 0);
        assert!(area.lut4 > area.kept && keys >= 16 && elaborated >= 3);
    }

    #[test]
    fn all_keys_are_shown_from_bits_that_differ_in_nothing_else() {
        let bits = read().unwrap().bits;
        let zero = "0".repeat(32);
        for key in [zero.clone(), "f".repeat(32)] {
            assert!(bits.keys.iter().any(|k| k.key == key && k.points.is_some_and(|points| points > 1000)));
        }
        assert!(bits.keys.len() >= 5 && bits.points > 1000);
        assert!(bits.keys.iter().all(|k| k.outside_sha256 == bits.keys[0].outside_sha256 && k.blocks > 1000));
        // From each to the next, and back to the fixed one.
        assert_eq!(bits.deltas.len(), bits.keys.len());
        assert_eq!(bits.deltas.last().unwrap().key, zero);
        assert!(bits.deltas.iter().all(|d| d.frames > 0 && d.bytes < d.whole_bytes));
    }
}
