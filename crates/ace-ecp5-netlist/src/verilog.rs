// SPDX-License-Identifier: Apache-2.0
//! A netlist as structural Verilog: the cells that synthesis writes, with the same pins and parameters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::cells::{Kind, Net, Netlist};

/// The name and the bit of a port, where it has one.
pub(super) fn bus(name: &str) -> (&str, Option<usize>) {
    let split = name.strip_suffix(']').and_then(|rest| rest.split_once('['));
    match split.and_then(|(base, bit)| Some((base, bit.parse().ok()?))) {
        Some((base, bit)) => (base, Some(bit)),
        None => (name, None),
    }
}

fn net(net: Net) -> String {
    match net {
        Net::ZERO => "1'b0".to_owned(),
        Net::ONE => "1'b1".to_owned(),
        Net(number) => format!("n{number}"),
    }
}

/// A name as Verilog escapes it.
fn escaped(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain { name.to_owned() } else { format!("\\{name} ") }
}

/// Pins by name; bits of one bus become one connection.
fn connections(pins: &[(String, Net)]) -> String {
    let mut groups: BTreeMap<&str, BTreeMap<usize, Net>> = BTreeMap::new();
    for (name, connected) in pins {
        let (base, bit) = bus(name);
        groups.entry(base).or_default().insert(bit.unwrap_or(0), *connected);
    }
    let one = |(base, bits): (&&str, &BTreeMap<usize, Net>)| {
        let list: Vec<String> = bits.values().rev().map(|n| net(*n)).collect();
        match &list[..] {
            [single] => format!(".{base}({single})"),
            _ => format!(".{base}({{{}}})", list.join(", ")),
        }
    };
    groups.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Netlist {
    /// The netlist as a module of this name.
    pub fn verilog(&self, module: &str) -> String {
        let mut out = String::new();
        let mut ports: BTreeMap<&str, (bool, BTreeMap<Option<usize>, Net>)> = BTreeMap::new();
        for port in &self.ports {
            let (base, bit) = bus(&port.name);
            ports.entry(base).or_insert((port.output, BTreeMap::new())).1.insert(bit, port.net);
        }
        let list: Vec<&str> = ports.keys().copied().collect();
        let _ = writeln!(out, "module {}({});", escaped(module), list.join(", "));
        for (name, (output, bits)) in &ports {
            let direction = if *output { "output" } else { "input" };
            let range = match bits.keys().next_back() {
                Some(Some(high)) => format!(" [{high}:0]"),
                _ => String::new(),
            };
            let _ = writeln!(out, "  {direction}{range} {name};");
        }
        for number in 2..self.nets {
            let _ = writeln!(out, "  wire n{number};");
        }
        for (name, (output, bits)) in &ports {
            for (bit, connected) in bits {
                let place = bit.map_or_else(|| (*name).to_owned(), |bit| format!("{name}[{bit}]"));
                let (to, from) = if *output { (place, net(*connected)) } else { (net(*connected), place) };
                let _ = writeln!(out, "  assign {to} = {from};");
            }
        }
        for cell in &self.cells {
            let (parameters, pins) = describe(&cell.kind);
            let parameters: Vec<String> =
                parameters.iter().map(|(name, value)| format!(".{name}({value})")).collect();
            let list =
                if parameters.is_empty() { String::new() } else { format!(" #({})", parameters.join(", ")) };
            let name = escaped(&cell.name);
            let _ = writeln!(out, "  {}{list} {name} ({});", cell.kind.cell(), connections(&pins));
        }
        out.push_str("endmodule\n");
        out
    }
}

pub(super) type Named<T> = Vec<(String, T)>;

/// Parameters and pins of a cell.
pub(super) fn describe(kind: &Kind) -> (Named<String>, Named<Net>) {
    let text = |pairs: &[(&str, String)]| -> Named<String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    };
    let nets = |pairs: &[(&str, Net)]| -> Named<Net> {
        pairs.iter().map(|(name, net)| ((*name).to_owned(), *net)).collect()
    };
    let init = |value: u16| format!("16'h{value:04x}");
    let mux = |inverted: bool, name: &str| format!("\"{}\"", if inverted { "INV" } else { name });
    match kind {
        Kind::Lut { init: value, inputs: [a, b, c, d], output } => (
            text(&[("INIT", init(*value))]),
            nets(&[("A", *a), ("B", *b), ("C", *c), ("D", *d), ("Z", *output)]),
        ),
        Kind::Mux { wide: false, select, zero, one, output } => {
            (Vec::new(), nets(&[("ALUT", *one), ("BLUT", *zero), ("C0", *select), ("Z", *output)]))
        }
        Kind::Mux { wide: true, select, zero, one, output } => {
            (Vec::new(), nets(&[("D0", *zero), ("D1", *one), ("SD", *select), ("Z", *output)]))
        }
        Kind::Carry { carry_in, bits, carry_out } => {
            let mut parameters = Vec::new();
            let mut pins = nets(&[("CIN", *carry_in), ("COUT", *carry_out)]);
            for (half, bit) in bits.iter().enumerate() {
                parameters.push((format!("INIT{half}"), init(bit.init)));
                let inject = if bit.inject { "\"YES\"" } else { "\"NO\"" };
                parameters.push((format!("INJECT1_{half}"), inject.to_owned()));
                for (letter, input) in ['A', 'B', 'C', 'D'].into_iter().zip(bit.inputs) {
                    pins.push((format!("{letter}{half}"), input));
                }
                pins.push((format!("S{half}"), bit.sum));
            }
            (parameters, pins)
        }
        Kind::Ff { clock, enable, reset, asynchronous, set, data, output } => {
            let enabled = if *enable == (Net::ONE, false) { "\"1\"".into() } else { mux(enable.1, "CE") };
            let quoted = |value: &str| format!("\"{value}\"");
            let parameters = text(&[
                ("GSR", quoted("DISABLED")),
                ("CEMUX", enabled),
                ("CLKMUX", mux(clock.1, "CLK")),
                ("LSRMUX", mux(reset.1, "LSR")),
                ("SRMODE", quoted(if *asynchronous { "ASYNC" } else { "LSR_OVER_CE" })),
                ("REGSET", quoted(if *set { "SET" } else { "RESET" })),
            ]);
            let pins = [("CLK", clock.0), ("CE", enable.0), ("LSR", reset.0), ("DI", *data), ("Q", *output)];
            (parameters, nets(&pins))
        }
        Kind::Block { parameters, pins, .. } => (
            parameters.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            pins.iter().map(|pin| (pin.name.clone(), pin.net)).collect(),
        ),
    }
}
