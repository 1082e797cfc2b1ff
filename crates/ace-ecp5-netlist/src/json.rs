// SPDX-License-Identifier: Apache-2.0
//! A netlist as Yosys JSON: the form in which synthesis writes its own.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::cells::{Net, Netlist};
use super::verilog::{bus, describe};

/// A constant is told by text, a net by its number.
fn bit(net: Net) -> Value {
    match net {
        Net::ZERO => json!("0"),
        Net::ONE => json!("1"),
        Net(number) => json!(number),
    }
}

/// A parameter as it stands in Verilog (`"text"`, `16'h1234`, `36`), as Yosys writes it: numbers in binary, and a space
/// behind text that could be taken for one.
fn parameter(text: &str) -> String {
    if let Some(text) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let number = text.bytes().all(|b| matches!(b, b'0' | b'1' | b'x' | b'z' | b' '));
        return if number { format!("{text} ") } else { text.to_owned() };
    }
    let Some((width, digits)) = text.split_once("'h") else {
        return format!("{:032b}", text.parse::<u32>().unwrap_or(0));
    };
    let width: usize = width.parse().unwrap_or(0);
    let four = |digit: char| format!("{:04b}", digit.to_digit(16).unwrap_or(0));
    let bits: String = digits.chars().map(four).collect();
    let bits = format!("{:0>width$}", bits);
    bits[bits.len() - width..].to_owned()
}

impl Netlist {
    /// The netlist as a design with one module of this name.
    pub fn json(&self, module: &str) -> String {
        let mut free = self.nets;
        let mut ports: BTreeMap<&str, (bool, BTreeMap<usize, Net>)> = BTreeMap::new();
        for port in &self.ports {
            let (base, number) = bus(&port.name);
            let entry = ports.entry(base).or_insert((port.output, BTreeMap::new()));
            entry.1.insert(number.unwrap_or(0), port.net);
        }
        let mut listed = Map::new();
        for (name, (output, bits)) in &ports {
            let width = bits.keys().next_back().map_or(0, |high| high + 1);
            let all: Vec<Value> = (0..width)
                .map(|number| match bits.get(&number) {
                    Some(net) => bit(*net),
                    None => {
                        free += 1;
                        json!(free - 1)
                    }
                })
                .collect();
            let direction = if *output { "output" } else { "input" };
            listed.insert((*name).to_owned(), json!({ "direction": direction, "bits": all }));
        }
        let mut cells = Map::new();
        for cell in &self.cells {
            let (parameters, pins) = describe(&cell.kind);
            let parameters: Map<String, Value> =
                parameters.iter().map(|(name, value)| (name.clone(), json!(parameter(value)))).collect();
            let mut groups: BTreeMap<&str, BTreeMap<usize, Value>> = BTreeMap::new();
            for (name, net) in &pins {
                let (base, number) = bus(name);
                groups.entry(base).or_default().insert(number.unwrap_or(0), bit(*net));
            }
            let connections: Map<String, Value> = groups
                .into_iter()
                .map(|(name, bits)| (name.to_owned(), Value::Array(bits.into_values().collect())))
                .collect();
            let value = json!({
                "type": cell.kind.cell(), "parameters": parameters, "attributes": {}, "connections": connections,
            });
            cells.insert(cell.name.clone(), value);
        }
        let top = json!({ "attributes": { "top": "1" }, "ports": listed, "cells": cells, "netnames": {} });
        let design = json!({ "creator": "ace netlist", "modules": { module: top } });
        format!("{design}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{Cell, Kind, Port};
    use crate::reference;

    #[test]
    fn parameters_are_as_yosys_writes_them() {
        assert_eq!(parameter("\"INV\""), "INV");
        assert_eq!(parameter("\"1\""), "1 ");
        assert_eq!(parameter("\"0b101\""), "0b101");
        assert_eq!(parameter("16'h8001"), "1000000000000001");
        assert_eq!(parameter("5'h13"), "10011");
        assert_eq!(parameter("36"), format!("{:032b}", 36));
    }

    #[test]
    fn what_is_written_is_read() {
        let [a, b, z] = [2, 3, 4].map(Net);
        let port = |name: &str, net, output| Port { name: name.into(), net, output };
        let lut = Kind::Lut { init: 0x8888, inputs: [a, b, Net::ONE, Net::ZERO], output: z };
        let ff = Kind::Ff {
            clock: (a, false),
            enable: (Net::ONE, false),
            reset: (b, true),
            asynchronous: true,
            set: true,
            data: z,
            output: Net(5),
        };
        let cells = [("l", lut), ("f", ff)].map(|(name, kind)| Cell { name: name.into(), kind });
        let netlist = Netlist {
            ports: vec![port("a[0]", a, false), port("a[1]", b, false), port("q", Net(5), true)],
            cells: cells.to_vec(),
            nets: 6,
        };
        let (name, read) = reference(&netlist.json("top")).expect("a netlist");
        assert_eq!(name, "top");
        assert_eq!(read.ports, netlist.ports);
        assert_eq!(read.cells.iter().find(|c| c.name == "l"), Some(&netlist.cells[0]));
        assert_eq!(read.cells.iter().find(|c| c.name == "f"), Some(&netlist.cells[1]));
        assert_eq!(read.nets, netlist.nets);
    }
}
