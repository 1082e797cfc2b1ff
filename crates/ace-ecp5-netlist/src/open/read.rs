// SPDX-License-Identifier: Apache-2.0
//! A memory from its pads backwards.

use std::collections::{BTreeMap, HashMap};

use ace_ecp5::memory::ConfigMemory;

use super::pad_bits::{BASE, Groups, Setting};
use super::{Open, OpenPins, PadReading, suffixed};
use crate::cells::{Net, Port};
use crate::database::{Database, Pad, Tile};
use crate::error::NetlistError;
use crate::extractor::Extractor;
use crate::fabric::Fabric;

/// Attributes that nextpnr writes though the file of pins does not name them.
const UNTOLD: [&str; 2] = ["HYSTERESIS", "PULLMODE"];
/// Types whose drive can be set.
const DRIVEN: [&str; 2] = ["LVCMOS33", "LVCMOS33D"];
/// Types of referenced inputs and outputs begin so: they have no slew rate.
const REFERENCED: [&str; 2] = ["SSTL", "HSUL"];

/// A pad in use.
struct Used {
    pad: Pad,
    tiles: Vec<Tile>,
    reading: PadReading,
}

/// The circuit that a configuration memory holds, with what it says of pads and of the device. `pins` may name no port: then
/// ports are called as their balls.
///
/// # Errors
/// Whatever the circuit of the pads asks for and the translation does not cover: nothing is guessed. What else is set is
/// no error but is listed.
pub fn extract_open(
    memory: &ConfigMemory,
    database: &Database,
    pins: &OpenPins,
) -> Result<Open, NetlistError> {
    if memory.device() != database.device {
        return Err(NetlistError::Device(memory.device().name, database.device.name));
    }
    let mut fabric = Fabric::new(database, memory);
    fabric.open = true;
    let mut extractor = Extractor::new(fabric);
    extractor.no_global_reset()?;
    extractor.fabric.write_base()?;
    let used = extractor.used_pads(pins)?;
    for one in &used {
        if one.reading.direction != "OUTPUT" {
            let wire = extractor.pad_wire(one.pad, "JPADDI")?;
            let net = extractor.netlist.net();
            extractor.nets.insert(wire, net);
            extractor.netlist.ports.push(Port { name: one.reading.port.clone(), net, output: false });
        }
    }
    for one in used.iter().filter(|one| one.reading.direction != "INPUT") {
        let off = extractor.pad_off(one.pad, &one.tiles)?;
        let net = extractor.pad_out(one.pad, &one.tiles)?;
        let name = &one.reading.port;
        let mut port = |name: String, net| extractor.netlist.ports.push(Port { name, net, output: true });
        if one.reading.direction == "OUTPUT" && off == Net::ZERO {
            port(name.clone(), net);
        } else {
            port(suffixed(name, "$out"), net);
            port(suffixed(name, "$off"), off);
        }
    }
    let logic = used
        .iter()
        .map(|one| (one.reading.port.clone(), extractor.explain_logic(one.pad, &one.tiles)))
        .filter(|(_, settings)| !settings.is_empty())
        .collect();
    extractor.user_clock()?;
    extractor.finish()?;
    extractor.residual_quadrants()?;
    extractor.residual_logic()?;
    extractor.settle()?;
    let settings = extractor.fabric.device_settings();
    let mut unexplained = extractor.fabric.residue();
    let contents = memory.ebr().filter(|(id, _)| !extractor.contents.contains(id));
    unexplained.extend(contents.map(|(id, _)| format!("block memory {id}: contents that no block has")));
    let mut netlist = std::mem::take(&mut extractor.netlist);
    netlist.ports.sort_by(|a, b| a.name.cmp(&b.name));
    netlist.cells.sort_by(|a, b| a.name.cmp(&b.name));
    let pads = used.into_iter().map(|one| one.reading).collect();
    Ok(Open { netlist, pads, logic, settings, unexplained })
}

impl Extractor<'_> {
    /// The pads that are not set to `NONE`.
    fn used_pads(&self, pins: &OpenPins) -> Result<Vec<Used>, NetlistError> {
        let database = self.fabric.database;
        let wrong = |what: String| NetlistError::Pins(0, what);
        let balls = database
            .pads(&pins.package)
            .ok_or_else(|| wrong(format!("{} has no package {}", database.device, pins.package)))?;
        let ball_of: HashMap<Pad, &String> = balls.iter().map(|(ball, pad)| (*pad, ball)).collect();
        let mut names: HashMap<&String, &String> = HashMap::new();
        for (name, ball) in &pins.locations {
            if !balls.contains_key(ball) {
                return Err(wrong(format!("{name} is at {ball}, and {} has no such ball", pins.package)));
            }
            names.insert(ball, name);
        }
        let mut pads: Vec<Pad> = database.supplied.iter().map(|supplied| supplied.pad).collect();
        pads.sort_by_key(|pad| (pad.row, pad.col, pad.pio));
        let mut used = Vec::new();
        let mut at = 0;
        while let Some(first) = pads.get(at).copied() {
            // A and B, and C and D, of a place share bits.
            let second = pads.get(at + 1).copied().filter(|pad| {
                (pad.row, pad.col) == (first.row, first.col)
                    && matches!((first.pio, pad.pio), ('A', 'B') | ('C', 'D'))
            });
            let pair: Vec<Pad> = std::iter::once(first).chain(second).collect();
            at += pair.len();
            let tiles: Vec<Vec<Tile>> = pair.iter().map(|pad| self.fabric.open_pad_tiles(*pad)).collect();
            let groups: Vec<Groups> =
                pair.iter().zip(&tiles).map(|(pad, tiles)| self.fabric.pad_groups(tiles, *pad)).collect();
            let groups: Vec<&Groups> = groups.iter().collect();
            let name = |pad: &Pad| ball_of.get(pad).and_then(|ball| names.get(ball).copied());
            let told: Vec<Option<&BTreeMap<String, String>>> =
                pair.iter().map(|pad| name(pad).and_then(|name| pins.attributes.get(name))).collect();
            let (settings, as_told) = self.read_pair(&pair, &groups, &told)?;
            self.fabric.explain_pads(&groups, &settings);
            for ((pad, setting), (told, tiles)) in pair.iter().zip(settings).zip(told.iter().zip(tiles)) {
                if setting.base == "NONE" {
                    continue;
                }
                let ball = ball_of.get(pad).map(|ball| (*ball).clone());
                if let (Some(told), false, Some(name)) = (told, as_told, name(pad)) {
                    let told: Vec<String> =
                        told.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    let is = format!("{} {:?}", setting.base, setting.attributes);
                    return Err(wrong(format!("{name} is to be {}, and its pad is {is}", told.join(" "))));
                }
                let (direction, io_type) = setting.base.split_once('_').unwrap_or((&setting.base, ""));
                let unnamed =
                    || ball.clone().unwrap_or_else(|| format!("pad_R{}C{}{}", pad.row, pad.col, pad.pio));
                let reading = PadReading {
                    port: name(pad).map_or_else(unnamed, Clone::clone),
                    ball: ball.clone(),
                    direction: direction.to_owned(),
                    io_type: io_type.to_owned(),
                    attributes: setting.attributes.clone(),
                    as_told: told.is_some(),
                };
                used.push(Used { pad: *pad, tiles, reading });
            }
        }
        Ok(used)
    }

    /// What two pads are set to, and whether that is what the file of pins says, where it says something.
    fn read_pair(
        &self,
        pair: &[Pad],
        groups: &[&Groups],
        told: &[Option<&BTreeMap<String, String>>],
    ) -> Result<(Vec<Setting>, bool), NetlistError> {
        let any = |_: usize, _: &str, _: &str| true;
        let all = |_: usize, _: &Setting| true;
        let blank = |_: usize, name: &str, value: &str| name == BASE && value == "NONE";
        if let Some(settings) = self.fabric.pair_settings(groups, &blank, &all) {
            return Ok((settings, true));
        }
        let allowed = |pad: usize, name: &str, value: &str| match told[pad] {
            _ if name == BASE => true,
            Some(told) => {
                UNTOLD.contains(&name)
                    || name.starts_with("TERMINATION")
                    || told.get(name).is_some_and(|v| v == value)
            }
            None => true,
        };
        let fits = |pad: usize, setting: &Setting| {
            setting.base == "NONE" || told[pad].is_none_or(|told| as_told(setting, told))
        };
        if let Some(settings) = self.fabric.pair_settings(groups, &allowed, &fits) {
            return Ok((settings, true));
        }
        let found = self.fabric.pair_settings(groups, &any, &all);
        let place = format!("pad R{}C{}{}", pair[0].row, pair[0].col, pair[0].pio);
        found
            .map(|settings| (settings, false))
            .ok_or_else(|| NetlistError::Setting(place, format!("PIO{}.BASE_TYPE", pair[0].pio)))
    }
}

/// Whether a setting is what a file of pins says: the type, and all attributes that the type has.
fn as_told(setting: &Setting, told: &BTreeMap<String, String>) -> bool {
    let default = "LVCMOS33".to_owned();
    let wanted = told.get("IO_TYPE").unwrap_or(&default);
    let Some((_, io_type)) = setting.base.split_once('_') else { return false };
    let applies = |key: &str| match key {
        "IO_TYPE" | "TERMINATION" => false,
        "DRIVE" => DRIVEN.contains(&wanted.as_str()),
        "SLEWRATE" => !REFERENCED.iter().any(|begin| wanted.starts_with(begin)),
        _ => true,
    };
    io_type == wanted
        && told.iter().all(|(key, value)| !applies(key) || setting.attributes.get(key) == Some(value))
        && setting.attributes.keys().all(|key| {
            told.contains_key(key) || UNTOLD.contains(&key.as_str()) || key.starts_with("TERMINATION")
        })
}
