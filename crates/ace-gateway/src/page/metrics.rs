// SPDX-License-Identifier: Apache-2.0
//! What a gateway counts, in Prometheus' text format 0.0.4. A page of text needs no library: what there is to get wrong
//! is that a family's lines stand together and that labels are quoted.

use std::fmt::{Display, Write};

use crate::engines::{BoardView, SlotView, View};
use crate::status::{Sa, State, Traffic};

/// The lines of one exposition.
#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // A String takes all that is written.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{quoted}\"", if at == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    /// A family of one line for each entry.
    fn each<'a>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        of: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        self.family(name, "counter", help);
        for (key, value) in of {
            self.line(name, &[(label, key)], value);
        }
    }
}

/// All that a gateway says of itself.
pub fn exposition(State { status, sas, slots }: &State) -> String {
    let mut text = Text::default();
    text.family("ace_gateway_info", "gauge", "The gateway; always 1.");
    let labels = [
        ("version", status.version.as_str()),
        ("engine", status.figures.engine.as_str()),
        ("tun", status.tun.as_str()),
    ];
    text.line("ace_gateway_info", &labels, 1);
    text.family("ace_gateway_uptime_seconds", "gauge", "Since the gateway began.");
    text.line("ace_gateway_uptime_seconds", &[], status.seconds);
    text.family("ace_gateway_sas", "gauge", "Security associations.");
    text.line("ace_gateway_sas", &[], status.sas);
    if let Some(dropped) = status.clear_dropped {
        let name = "ace_gateway_clear_dropped_total";
        text.family(name, "counter", "Packets from outside that came in clear and were covered by a rule.");
        text.line(name, &[], dropped);
    }
    let packets = &status.figures.packets;
    let parts = [
        ("accepted", packets.accepted),
        ("protected", packets.protected),
        ("decapsulated", packets.decapsulated),
        ("bypassed", packets.bypassed),
    ];
    let of = |count: fn(&Traffic) -> u64| parts.iter().map(move |(what, of)| (*what, count(of)));
    let (name, help) = ("ace_gateway_packets_total", "Packets by what became of them.");
    text.each(name, help, "what", of(|of| of.packets));
    text.each("ace_gateway_bytes_total", "Their bytes as they left.", "what", of(|of| of.bytes));
    let dropped = packets.dropped.iter().map(|(cause, count)| (cause.as_str(), *count));
    text.each("ace_gateway_dropped_total", "Packets dropped by the data plane.", "cause", dropped);
    let (name, help) = ("ace_gateway_events_total", "What the gateway itself counts.");
    text.each(name, help, "what", status.figures.gateway.iter());
    let (name, help) = ("ace_gateway_losses_total", "What the kernel did not take or give.");
    text.each(name, help, "cause", status.figures.losses.iter());
    let (name, help) = ("ace_gateway_unwritten_total", "What the gateway had to say and could not.");
    text.each(name, help, "what", status.unwritten.iter());
    associations(&mut text, sas);
    if let Some(of) = &slots.board {
        board(&mut text, of);
        engines(&mut text, slots);
    }
    text.0
}

/// What of an SA a family has.
type Figure = fn(&Sa) -> u64;

fn associations(text: &mut Text, sas: &[Sa]) {
    let families: [(&str, &str, &str, Figure); 4] = [
        ("ace_sa_packets_total", "counter", "Packets forwarded.", |sa| sa.counters.forwarded.packets),
        ("ace_sa_bytes_total", "counter", "Bytes forwarded.", |sa| sa.counters.forwarded.bytes),
        ("ace_sa_sequence", "gauge", "The last sequence number, or the highest that was received.", |sa| {
            sa.sequence
        }),
        ("ace_sa_dropped_total", "counter", "Packets dropped, whatever the cause.", |sa| {
            sa.counters.dropped.values().sum()
        }),
    ];
    for (name, kind, help, value) in families {
        text.family(name, kind, help);
        for sa in sas {
            let spi = format!("{:#x}", sa.spi);
            let peer = sa.remote.map(|remote| remote.to_string()).unwrap_or_default();
            let labels = [
                ("name", sa.name.as_str()),
                ("spi", spi.as_str()),
                ("direction", sa.direction.as_str()),
                ("peer", peer.as_str()),
            ];
            text.line(name, &labels, value(sa));
        }
    }
}

fn board(text: &mut Text, board: &BoardView) {
    let mut one = |name: &str, help: &str, value: &dyn Display| {
        text.family(name, "counter", help);
        text.line(name, &[], value);
    };
    one("ace_board_loads_total", "Loads that configured a slot.", &board.loads);
    one("ace_board_refused_loads_total", "Loads that did not.", &board.refused_loads);
    one("ace_board_completed_total", "Operations with a result.", &board.completed);
    one("ace_board_failed_total", "Operations with an error.", &board.failed);
    one("ace_board_modelled_seconds_total", "Modelled time, not wall time.", &board.modelled_seconds);
    text.family("ace_slot_holds", "gauge", "The configuration that a slot holds; always 1.");
    for (at, slot) in board.slots.iter().enumerate() {
        if let Some(name) = &slot.resident {
            text.line("ace_slot_holds", &[("slot", &at.to_string()), ("configuration", name)], 1);
        }
    }
    let mut each = |name: &str, help: &str, value: fn(&SlotView) -> f64| {
        text.family(name, "counter", help);
        for (at, slot) in board.slots.iter().enumerate() {
            text.line(name, &[("slot", &at.to_string())], value(slot));
        }
    };
    each("ace_slot_loads_total", "Loads of a slot.", |slot| slot.loads as f64);
    each("ace_slot_operations_total", "Operations of a slot.", |slot| slot.operations as f64);
    let name = "ace_slot_modelled_execute_seconds_total";
    each(name, "Modelled time of executions.", |slot| slot.modelled_execute_seconds);
    let name = "ace_slot_modelled_load_seconds_total";
    each(name, "Modelled time of loads.", |slot| slot.modelled_load_seconds);
}

fn engines(text: &mut Text, slots: &View) {
    let families = [
        (
            "ace_engine_taken_over_total",
            "Packets that the board failed and the processor computed.",
            slots.taken_over,
        ),
        (
            "ace_engine_spilled_total",
            "Packets for the processor because the board's queue was full.",
            slots.spilled,
        ),
        ("ace_engine_refused_total", "Packets dropped because the board's queue was full.", slots.refused),
        ("ace_libraries_taken_total", "Newer libraries since the start.", slots.switched),
    ];
    for (name, help, value) in families {
        text.family(name, "counter", help);
        text.line(name, &[], value);
    }
    let (name, help) = ("ace_board_fails", "Whether every operation on the board has failed so far.");
    text.family(name, "gauge", help);
    text.line(name, &[], u8::from(slots.board_fails.is_some()));
    let packets = "ace_engine_packets_total";
    text.family(packets, "counter", "Packets by kind, length and engine.");
    for cost in &slots.costs {
        let bytes = cost.bytes.to_string();
        for (engine, count) in [("cpu", cost.by_cpu), ("board", cost.by_board)] {
            let labels = [("operation", cost.operation.as_str()), ("bytes_from", &bytes), ("engine", engine)];
            text.line(packets, &labels, count);
        }
    }
    let time = "ace_engine_packet_seconds";
    text.family(time, "gauge", "Wall time that one takes.");
    for cost in &slots.costs {
        let bytes = cost.bytes.to_string();
        for (engine, ns) in [("cpu", cost.cpu_ns), ("board", cost.board_ns)] {
            let labels = [("operation", cost.operation.as_str()), ("bytes_from", &bytes), ("engine", engine)];
            if let Some(ns) = ns {
                text.line(time, &labels, ns / 1e9);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::engines::CostView;
    use crate::status::{SaCounters, Status};

    #[test]
    fn every_line_belongs_to_the_family_above_it_and_labels_are_quoted() {
        let counts = |of: &[(&str, u64)]| of.iter().map(|(key, n)| ((*key).to_owned(), *n)).collect();
        let mut status = Status {
            version: "1".to_owned(),
            seconds: 2.5,
            tun: "ace0".to_owned(),
            sas: 1,
            ..Status::default()
        };
        status.figures.engine = "auto".to_owned();
        status.figures.packets.accepted = Traffic { packets: 3, bytes: 4 };
        status.figures.packets.dropped = counts(&[("no_sa", 7)]);
        status.figures.losses.outside_full = 5;
        status.unwritten.log = 4;
        let sa = Sa {
            name: "a\"b\\c\nd".to_owned(),
            spi: 256,
            direction: "out".to_owned(),
            remote: "192.0.2.2".parse().ok(),
            sequence: 9,
            counters: SaCounters {
                forwarded: Traffic { packets: 9, bytes: 90 },
                dropped: counts(&[("x", 1), ("y", 2)]),
                ..SaCounters::default()
            },
            ..Sa::default()
        };
        let slot = SlotView { resident: Some("aes".to_owned()), loads: 1, ..SlotView::default() };
        let cost = CostView {
            operation: "aes".to_owned(),
            bytes: 64,
            cpu_ns: Some(500.0),
            by_cpu: 3,
            ..CostView::default()
        };
        let board = BoardView { slots: vec![slot, SlotView::default()], ..BoardView::default() };
        let slots = View { board: Some(board), costs: vec![cost], ..View::default() };
        let mut state = State { status, sas: vec![sa], slots };
        let text = exposition(&state);
        let (mut family, mut seen) = (String::new(), HashSet::new());
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                family = help.split(' ').next().unwrap_or_default().to_owned();
                assert!(seen.insert(family.clone()), "{family} twice");
            } else if !line.starts_with("# TYPE ") {
                let (name, rest) = line.split_at(line.find(['{', ' ']).expect(line));
                assert_eq!(name, family, "{line}");
                let value = rest.rsplit(' ').next().expect(line);
                assert!(value.parse::<f64>().is_ok(), "{line}");
            }
        }
        for wanted in [
            "ace_gateway_dropped_total{cause=\"no_sa\"} 7",
            "ace_sa_packets_total{name=\"a\\\"b\\\\c\\nd\",spi=\"0x100\",direction=\"out\",peer=\"192.0.2.2\"} 9",
            "ace_sa_dropped_total{name=\"a\\\"b\\\\c\\nd\",spi=\"0x100\",direction=\"out\",peer=\"192.0.2.2\"} 3",
            "ace_slot_holds{slot=\"0\",configuration=\"aes\"} 1",
            "ace_engine_packets_total{operation=\"aes\",bytes_from=\"64\",engine=\"cpu\"} 3",
            "ace_engine_packet_seconds{operation=\"aes\",bytes_from=\"64\",engine=\"cpu\"} 0.0000005",
            "ace_gateway_unwritten_total{what=\"log\"} 4",
            "ace_gateway_losses_total{cause=\"outside_full\"} 5",
        ] {
            assert!(text.lines().any(|line| line == wanted), "{wanted} is not in\n{text}");
        }
        state.slots = View::default();
        assert!(!exposition(&state).contains("ace_board"));
    }
}
