// SPDX-License-Identifier: Apache-2.0
//! The points at which circuits are compared: what registers and blocks are given, and what outputs show.

use super::cells::{Kind, Net, Netlist};

/// Something that is compared: a pin of a register or of a block, or an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub net: Net,
    pub inverted: bool,
}

/// What is compared of a circuit, by name.
pub(crate) fn points(netlist: &Netlist) -> Vec<(String, Point)> {
    let outputs = netlist.ports.iter().filter(|port| port.output);
    let plain = |net: Net, inverted: bool| Point { net, inverted };
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
            // Every pin counts, also where nothing uses it: an inversion that no other pin shows is a difference.
            Kind::Block { parameters, pins, .. } => {
                let inverted = |pin: &str| {
                    parameters.get(&format!("{pin}MUX")).is_some_and(|value| value.trim_matches('"') == "INV")
                };
                for pin in pins.iter().filter(|pin| !pin.output) {
                    let point = plain(pin.net, inverted(&pin.name));
                    all.push((format!("{}.{}", cell.name, pin.name), point));
                }
            }
            _ => {}
        }
    }
    all
}
