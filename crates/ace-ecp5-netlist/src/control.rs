// SPDX-License-Identifier: Apache-2.0
//! A memory that computes something else, by one bit: a proof that does not refute it proves nothing.

use super::cells::{Kind, Net, Netlist};
use super::database::Database;
use super::error::NetlistError;
use ace_ecp5::memory::ConfigMemory;

/// The entry of the table that is changed.
const ENTRY: usize = 6;

/// The bit that was changed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Control {
    /// The LUT, by its place in the device.
    pub cell: String,
    /// Frame of the bit.
    pub frame: usize,
    /// The bit in its frame.
    pub bit: usize,
}

/// The same memory with one bit of a LUT's table changed: a LUT with four inputs in front of a register, and if
/// there is one, with nothing but registers in front of it.
///
/// # Errors
/// No LUT is like that, or the netlist is not of this memory.
pub fn control(
    memory: &ConfigMemory,
    database: &Database,
    netlist: &Netlist,
) -> Result<(ConfigMemory, Control), NetlistError> {
    let mut free = vec![false; netlist.nets as usize];
    let mut data = vec![false; netlist.nets as usize];
    for port in netlist.ports.iter().filter(|port| !port.output) {
        free[port.net.index()] = true;
    }
    for cell in &netlist.cells {
        if let Kind::Ff { data: net, output, .. } = &cell.kind {
            data[net.index()] = true;
            free[output.index()] = true;
        }
    }
    let distinct = |inputs: &[Net; 4]| {
        (0..4).all(|i| !matches!(inputs[i], Net::ZERO | Net::ONE) && !inputs[..i].contains(&inputs[i]))
    };
    let luts = netlist.cells.iter().filter_map(|cell| match &cell.kind {
        Kind::Lut { inputs, output, .. } if distinct(inputs) && data[output.index()] => {
            Some((inputs.iter().filter(|net| free[net.index()]).count(), &cell.name))
        }
        _ => None,
    });
    let none =
        || NetlistError::Unsupported("the netlist".into(), "a change of a LUT (there is none fit)".into());
    let (_, name) = luts.max_by_key(|(count, name)| (*count, std::cmp::Reverse(*name))).ok_or_else(none)?;
    let (frame, bit) = place(database, name).ok_or_else(none)?;
    let mut changed = memory.clone();
    let mut bytes = memory.frame(frame).ok_or_else(none)?.to_vec();
    let byte = bytes.len().checked_sub(bit / 8 + 1).ok_or_else(none)?;
    bytes[byte] ^= 1 << (bit % 8);
    if !changed.set_frame(frame, &bytes) {
        return Err(none());
    }
    Ok((changed, Control { cell: name.clone(), frame, bit }))
}

/// Where an entry of a LUT's table is in the memory; the name is that which [`super::extract()`] gave.
fn place(database: &Database, name: &str) -> Option<(usize, usize)> {
    let (tile, lut) = name.split_once("_K")?;
    let (row, col) = tile.strip_prefix('R')?.split_once('C')?;
    let (row, col, lut): (i16, i16, usize) = (row.parse().ok()?, col.parse().ok()?, lut.parse().ok()?);
    let setting = format!("SLICE{}.K{}.INIT", ["A", "B", "C", "D"].get(lut / 2)?, lut % 2);
    database.at.get(&(row, col))?.iter().find_map(|index| {
        let tile = &database.tiles[*index];
        let digits = database.types[usize::from(tile.kind)].words.get(&setting)?;
        let bits = digits.get(ENTRY)?.as_ref()?;
        let bit = bits.first()?;
        Some((tile.frame + usize::from(bit.frame), tile.bit + usize::from(bit.bit)))
    })
}
