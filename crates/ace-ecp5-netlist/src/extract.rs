// SPDX-License-Identifier: Apache-2.0
//! From pads backwards: every cell that an output depends on, and nothing else.

use std::collections::HashMap;

use super::cells::{Netlist, Port};
use super::database::{Database, Pad};
use super::error::NetlistError;
use super::extractor::Extractor;
use super::fabric::Fabric;
use super::pads::Role;
use super::pins::Pins;
use ace_ecp5::memory::ConfigMemory;

/// The netlist that a configuration memory holds, and nothing but that netlist. Its ports are those of `pins`; a pad
/// that drives and is not among them is refused.
///
/// # Errors
/// Whatever the bits ask for and the translation does not cover, and every bit that the netlist does not rest on:
/// nothing is guessed, and nothing is passed over.
pub fn extract(memory: &ConfigMemory, database: &Database, pins: &Pins) -> Result<Netlist, NetlistError> {
    read(memory, database, pins, true)
}

/// As [`extract()`], but of what else the bits say, nothing is asked. A proof must not rest on it.
///
/// # Errors
/// What the bits of the netlist ask for and the translation does not cover.
pub fn follow(memory: &ConfigMemory, database: &Database, pins: &Pins) -> Result<Netlist, NetlistError> {
    read(memory, database, pins, false)
}

fn read(
    memory: &ConfigMemory,
    database: &Database,
    pins: &Pins,
    closed: bool,
) -> Result<Netlist, NetlistError> {
    let mut extractor = whole(Fabric::new(database, memory), pins, closed)?;
    let mut netlist = std::mem::take(&mut extractor.netlist);
    netlist.ports.sort_by(|a, b| a.name.cmp(&b.name));
    netlist.cells.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(netlist)
}

/// Reads all that a memory holds; the netlist is in no order.
pub(crate) fn whole<'a>(
    fabric: Fabric<'a>,
    pins: &Pins,
    closed: bool,
) -> Result<Extractor<'a>, NetlistError> {
    let (memory, database) = (fabric.memory, fabric.database);
    if memory.device() != database.device {
        return Err(NetlistError::Device(memory.device().name, database.device.name));
    }
    let pads = database.pads(&pins.package).ok_or_else(|| {
        NetlistError::Pins(0, format!("{} has no package {}", database.device, pins.package))
    })?;
    let mut extractor = Extractor::new(fabric);
    extractor.no_pad_registers()?;
    let mut balls: HashMap<Pad, &str> = HashMap::new();
    for (name, ball) in &pins.locations {
        let pad = pads.get(ball).ok_or_else(|| {
            NetlistError::Pins(0, format!("{name} is at {ball}, and {} has no such ball", pins.package))
        })?;
        balls.insert(*pad, name);
    }
    let mut all: Vec<&Pad> = pads.values().collect();
    all.sort_by_key(|pad| (pad.row, pad.col, pad.pio));
    let mut outputs = Vec::new();
    let mut roles = HashMap::new();
    for pad in all {
        match (extractor.drives(*pad)?, balls.get(pad)) {
            (true, Some(name)) => {
                roles.insert(*pad, Role::Output);
                outputs.push((*pad, *name));
            }
            (true, None) => {
                let place = format!("pad R{}C{}{}", pad.row, pad.col, pad.pio);
                return Err(NetlistError::Pins(0, format!("{place} is an output and has no name")));
            }
            (false, Some(name)) => {
                roles.insert(*pad, Role::Input);
                let net = extractor.netlist.net();
                let wire = extractor.pad_wire(*pad, "JPADDI")?;
                extractor.nets.insert(wire, net);
                let port = Port { name: (*name).to_owned(), net, output: false };
                extractor.netlist.ports.push(port);
            }
            (false, None) => {}
        }
    }
    for (pad, name) in outputs {
        let wire = extractor.pad_wire(pad, "PADDO")?;
        let net = extractor.need(wire)?;
        extractor.netlist.ports.push(Port { name: name.to_owned(), net, output: true });
    }
    extractor.finish()?;
    if closed {
        extractor.fabric.write_pads(&roles)?;
        extractor.fabric.write_short_list()?;
        extractor.residual_quadrants()?;
        extractor.residual_logic()?;
        extractor.fabric.close(&extractor.contents)?;
    }
    extractor.settle()?;
    Ok(extractor)
}
