// SPDX-License-Identifier: Apache-2.0
//! The points at which circuits are compared: what registers and blocks are given, and what outputs show.

use super::cells::{Kind, Net, Netlist};

/// Something that is compared: a pin of a register or of a block, or an output. Pins that count only while a block
/// writes are with that (`when`: any of these).
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub net: Net,
    pub inverted: bool,
    pub when: Vec<(Net, bool)>,
}

/// What is compared of a circuit, by name.
pub(crate) fn points(netlist: &Netlist) -> Vec<(String, Point)> {
    let outputs = netlist.ports.iter().filter(|port| port.output);
    let plain = |net: Net, inverted: bool| Point { net, inverted, when: Vec::new() };
    let mut all: Vec<(String, Point)> =
        outputs.map(|port| (port.name.clone(), plain(port.net, false))).collect();
    for cell in &netlist.cells {
        match &cell.kind {
            Kind::Ff { clock, enable, reset, data, .. } => {
                let pins =
                    [("clock", *clock), ("enable", *enable), ("reset", *reset), ("data", (*data, false))];
                all.extend(
                    pins.map(|(pin, (net, inverted))| (format!("{}.{pin}", cell.name), plain(net, inverted))),
                );
            }
            Kind::Block { cell: kind, parameters, pins } => {
                let told = |name: &str| parameters.get(name).map(|value| value.trim_matches('"'));
                let inverted = |pin: &str| told(&format!("{pin}MUX")) == Some("INV");
                let writes = |side: char| {
                    let name = format!("WE{side}");
                    let pin = pins.iter().find(|pin| pin.name == name)?;
                    Some((pin.net, inverted(&name)))
                };
                for pin in pins.iter().filter(|pin| !pin.output) {
                    let when =
                        if *kind == "DP16KD" { block_pin(&pin.name, told, writes) } else { Some(Vec::new()) };
                    let Some(when) = when else { continue };
                    let point = Point { net: pin.net, inverted: inverted(&pin.name), when };
                    all.push((format!("{}.{}", cell.name, pin.name), point));
                }
            }
            _ => {}
        }
    }
    all
}

/// While what a pin of a block memory counts: always if that is empty. `None`: never.
fn block_pin<'a>(
    pin: &str,
    told: impl Fn(&str) -> Option<&'a str>,
    writes: impl Fn(char) -> Option<(Net, bool)>,
) -> Option<Vec<(Net, bool)>> {
    let side_and_bit = |name: &str| {
        let rest = pin.strip_prefix(name)?;
        let side = rest.chars().next()?;
        Some((side, rest[1..].parse::<usize>().ok()))
    };
    let width = |side: char| told(&format!("DATA_WIDTH_{side}"));
    if let Some((side, Some(_))) = side_and_bit("DI") {
        let other = if side == 'A' { 'B' } else { 'A' };
        // The wide mode takes its upper half from the other port's pins.
        let both = (width(other) == Some("36")).then_some(other);
        return Some([Some(side), both].into_iter().flatten().filter_map(writes).collect());
    }
    if let Some((side, Some(bit))) = side_and_bit("AD") {
        let enables = match width(side) {
            Some("36") => 4,
            Some("18") => 2,
            _ => 0,
        };
        return Some(if bit < enables { writes(side).into_iter().collect() } else { Vec::new() });
    }
    match side_and_bit("OCE") {
        Some((side, None)) if told(&format!("REGMODE_{side}")) != Some("OUTREG") => None,
        _ => Some(Vec::new()),
    }
}
