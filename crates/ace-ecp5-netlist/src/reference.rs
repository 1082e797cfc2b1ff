// SPDX-License-Identifier: Apache-2.0
//! The netlist of synthesis, from which registers take their names: Yosys JSON.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::cells::{CarryBit, Cell, Kind, Net, Netlist, Pin, Port};
use super::error::NetlistError;

#[derive(Deserialize)]
struct Design {
    modules: HashMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    ports: BTreeMap<String, JsonPort>,
    cells: BTreeMap<String, JsonCell>,
    #[serde(default)]
    attributes: HashMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct JsonPort {
    direction: String,
    bits: Vec<JsonBit>,
}

#[derive(Deserialize)]
struct JsonCell {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    #[serde(default)]
    port_directions: HashMap<String, String>,
    connections: BTreeMap<String, Vec<JsonBit>>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum JsonBit {
    Net(u32),
    Constant(String),
}

impl JsonBit {
    /// Yosys counts nets from 2. An undefined bit may be anything; here it is 0.
    fn net(&self) -> Net {
        match self {
            JsonBit::Net(number) => Net(*number),
            JsonBit::Constant(value) if value == "1" => Net::ONE,
            JsonBit::Constant(_) => Net::ZERO,
        }
    }
}

/// Reads a flat netlist of ECP5 cells as `synth_ecp5 -json` writes it: the top module's name and contents.
///
/// # Errors
/// Not a netlist, no top module, or a cell that is not known here.
pub fn reference(text: &str) -> Result<(String, Netlist), NetlistError> {
    let bad = NetlistError::Reference;
    let design: Design = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
    let top = |module: &Module| {
        module.attributes.get("top").and_then(|v| v.as_str()).is_some_and(|v| v.ends_with('1'))
    };
    let (name, module) =
        design.modules.iter().find(|(_, m)| top(m)).ok_or_else(|| bad("no top module".into()))?;
    let mut netlist = Netlist::default();
    for (name, port) in &module.ports {
        for (bit, net) in port.bits.iter().enumerate() {
            let name = if port.bits.len() == 1 { name.clone() } else { format!("{name}[{bit}]") };
            netlist.ports.push(Port { name, net: net.net(), output: port.direction == "output" });
        }
    }
    let mut highest = 1;
    for (name, cell) in &module.cells {
        let kind = cell.kind().ok_or_else(|| bad(format!("cell {name} of type {}", cell.kind)))?;
        for net in kind.inputs().into_iter().chain(kind.outputs()) {
            highest = highest.max(net.0);
        }
        netlist.cells.push(Cell { name: name.clone(), kind });
    }
    for port in &netlist.ports {
        highest = highest.max(port.net.0);
    }
    netlist.nets = highest + 1;
    // Outputs that are not connected get nets of their own, so that no two cells seem to drive one net.
    for index in 0..netlist.cells.len() {
        let mut next = netlist.nets;
        netlist.cells[index].kind.each_output(|net| {
            if matches!(*net, Net::ZERO | Net::ONE) {
                *net = Net(next);
                next += 1;
            }
        });
        netlist.nets = next;
    }
    Ok((name.clone(), netlist))
}

impl JsonCell {
    fn pin(&self, name: &str, absent: Net) -> Net {
        self.connections.get(name).and_then(|bits| bits.first()).map_or(absent, JsonBit::net)
    }

    fn number(&self, name: &str) -> Option<u16> {
        u16::from_str_radix(self.parameters.get(name)?, 2).ok()
    }

    fn text(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", |value| value.trim_end())
    }

    fn kind(&self) -> Option<Kind> {
        let pin = |name: &str| self.pin(name, Net::ZERO);
        Some(match self.kind.as_str() {
            "LUT4" => Kind::Lut {
                init: self.number("INIT")?,
                inputs: ["A", "B", "C", "D"].map(pin),
                output: pin("Z"),
            },
            "PFUMX" => Kind::Mux {
                wide: false,
                select: pin("C0"),
                zero: pin("BLUT"),
                one: pin("ALUT"),
                output: pin("Z"),
            },
            "L6MUX21" => {
                Kind::Mux { wide: true, select: pin("SD"), zero: pin("D0"), one: pin("D1"), output: pin("Z") }
            }
            "CCU2C" => {
                let bit = |half: usize| {
                    let pins = ["A", "B", "C", "D"].map(|name| pin(&format!("{name}{half}")));
                    Some(CarryBit {
                        init: self.number(&format!("INIT{half}"))?,
                        inject: self.text(&format!("INJECT1_{half}")) != "NO",
                        inputs: pins,
                        sum: pin(&format!("S{half}")),
                    })
                };
                Kind::Carry { carry_in: pin("CIN"), bits: [bit(0)?, bit(1)?], carry_out: pin("COUT") }
            }
            "TRELLIS_FF" => {
                let always = self.text("CEMUX") == "1";
                let enable = if always { Net::ONE } else { self.pin("CE", Net::ONE) };
                Kind::Ff {
                    clock: (pin("CLK"), self.text("CLKMUX") == "INV"),
                    enable: (enable, !always && self.text("CEMUX") == "INV"),
                    reset: (pin("LSR"), self.text("LSRMUX") == "INV"),
                    asynchronous: self.text("SRMODE") == "ASYNC",
                    set: self.text("REGSET") == "SET",
                    data: pin("DI"),
                    output: pin("Q"),
                }
            }
            "TRELLIS_DPR16X4" => self.block("TRELLIS_DPR16X4"),
            "DP16KD" => self.block("DP16KD"),
            "MULT18X18D" => self.block("MULT18X18D"),
            _ => return None,
        })
    }

    fn block(&self, cell: &'static str) -> Kind {
        let mut pins = Vec::new();
        for (name, bits) in &self.connections {
            let output = self.port_directions.get(name).is_some_and(|d| d == "output");
            // The third operand, clocks, enables and resets of a multiplier without registers do not count.
            if cell == "MULT18X18D" && (name.starts_with('C') || name.starts_with("RST")) {
                continue;
            }
            for (bit, net) in bits.iter().enumerate() {
                let name = if bits.len() == 1 { name.clone() } else { format!("{name}[{bit}]") };
                pins.push(Pin { name, net: net.net(), output });
            }
        }
        Kind::Block { cell, parameters: self.parameters.clone(), pins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_netlist_is_read() {
        let text = r#"{"modules": {"t": {"attributes": {"top": "01"},
            "ports": {"a": {"direction": "input", "bits": [2, 3]}, "z": {"direction": "output", "bits": [4]}},
            "cells": {"l": {"type": "LUT4", "parameters": {"INIT": "1000100010001000"},
                "connections": {"A": [2], "B": [3], "C": ["1"], "D": ["x"], "Z": [4]}}}}}}"#;
        let (name, netlist) = reference(text).expect("good");
        assert_eq!((name.as_str(), netlist.ports.len(), netlist.nets), ("t", 3, 5));
        assert_eq!(netlist.ports[1].name, "a[1]");
        let inputs = [Net(2), Net(3), Net::ONE, Net::ZERO];
        assert_eq!(netlist.cells[0].kind, Kind::Lut { init: 0x8888, inputs, output: Net(4) });
        assert!(reference(&text.replace("LUT4", "EHXPLLL")).is_err());
        assert!(reference("{}").is_err());
    }
}
