// SPDX-License-Identifier: Apache-2.0
//! What a gateway counts, in Prometheus' text format 0.0.4. A page of text needs no library: what there is to get wrong
//! is that a family's lines stand together and that labels are quoted.

mod tunnels;

use std::fmt::{Display, Write};

use ace_ipsec::Cause;

use crate::engines::{BoardView, LinkView, SlotView, View};
use crate::status::{State, Traffic};

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

    /// A gauge of one line.
    fn one(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, "gauge", help);
        self.line(name, &[], value);
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
    text.one("ace_gateway_uptime_seconds", "Since the gateway began.", status.seconds);
    text.one("process_start_time_seconds", "When the gateway began, since 1970.", status.started);
    let (name, help) = ("ace_gateway_open_key_files", "SA files that others may read or write.");
    text.one(name, help, u8::from(status.open_keys.is_some()));
    let (name, help) = ("ace_gateway_rules_without_sa", "Rules whose packets find no SA.");
    text.one(name, help, status.rules_without_sa);
    if let Some(dropped) = status.clear_dropped {
        let name = "ace_gateway_clear_dropped_total";
        text.family(name, "counter", "Clear packets that a rule covers, from outside or on another way out.");
        text.line(name, &[], dropped);
    }
    if let Some(standby) = &status.standby {
        let (name, help) = ("ace_standby_attached", "Whether the standby has all that the gateway may use.");
        text.one(name, help, u8::from(standby.attached));
        text.one("ace_standby_take_overs", "How often the keys were taken over.", standby.take_overs);
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
    // Rates want to see a cause before it happens.
    let count = |cause: &Cause| packets.dropped.get(cause.name()).copied().unwrap_or_default();
    let dropped = Cause::ALL.iter().map(|cause| (cause.name(), count(cause)));
    text.each("ace_gateway_dropped_total", "Packets dropped by the data plane.", "cause", dropped);
    let (name, help) = ("ace_gateway_events_total", "What the gateway itself counts.");
    text.each(name, help, "what", status.figures.gateway.iter());
    let (name, help) = ("ace_gateway_losses_total", "What the kernel did not take or give.");
    text.each(name, help, "cause", status.figures.losses.iter());
    let (name, help) = ("ace_gateway_unwritten_total", "What the gateway had to say and could not.");
    text.each(name, help, "what", status.unwritten.iter());
    tunnels::associations(&mut text, status.sas, sas);
    tunnels::interfaces(&mut text, &status.interfaces);
    tunnels::peers(&mut text, &status.peers);
    if let Some(of) = &slots.board {
        board(&mut text, of);
        engines(&mut text, slots);
    }
    text.0
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
    if board.link.is_none() {
        one("ace_board_modelled_seconds_total", "Modelled time, not wall time.", &board.modelled_seconds);
    }
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
    if let Some(of) = &board.link {
        return link(text, of);
    }
    let name = "ace_slot_modelled_execute_seconds_total";
    each(name, "Modelled time of executions.", |slot| slot.modelled_execute_seconds);
    let name = "ace_slot_modelled_load_seconds_total";
    each(name, "Modelled time of loads.", |slot| slot.modelled_load_seconds);
}

/// The cable to a board of which no time is modelled.
fn link(text: &mut Text, link: &LinkView) {
    text.one("ace_link_up", "Whether there is a session with the board.", u8::from(link.loss.is_none()));
    for (name, help, value) in [
        ("ace_link_sessions_lost_total", "Sessions with the board that were lost.", link.sessions_lost),
        (
            "ace_link_sessions_renewed_total",
            "Sessions that were begun anew because a slot held something else.",
            link.sessions_renewed,
        ),
        ("ace_link_cable_loads_total", "Loads that went over the cable.", link.loads_by_cable),
        ("ace_link_named_loads_total", "Loads from the board's store.", link.loads_by_name),
        (
            "ace_link_refused_recalls_total",
            "Loads by name that the board's store did not have.",
            link.refused_recalls,
        ),
        ("ace_link_keys_total", "Keys that were sent.", link.keys),
        ("ace_link_frames_total", "Frames of slots that were sent, once each.", link.frames),
        ("ace_link_resent_total", "Frames of slots that were sent again.", link.resent),
        ("ace_link_stale_total", "Data that came back uncomputed.", link.stale),
        ("ace_link_strange_total", "Frames that belonged to nothing.", link.strange),
    ] {
        text.family(name, "counter", help);
        text.line(name, &[], value);
    }
    text.one("ace_link_store_words", "Words of 8 bytes of the board's store.", link.store_words);
    text.one("ace_link_store_filled_words", "Words of it that sets have.", link.store_filled);
    if let Some(trip) = link.round_trip_seconds {
        text.one("ace_link_round_trip_seconds", "From a frame to its answer, smoothed.", trip);
    }
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
mod tests;
