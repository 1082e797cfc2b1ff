// SPDX-License-Identifier: Apache-2.0
//! What a gateway counts, in Prometheus' text format 0.0.4. A page of text needs no library: what there is to get wrong
//! is that a family's lines stand together and that labels are quoted.

use std::fmt::Write;

use serde_json::Value;

/// The lines of one exposition.
#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // A String takes all that is written.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Nothing, where there is no number.
    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: &Value) {
        if !value.is_number() {
            return;
        }
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{}{label}=\"{quoted}\"", if at == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    /// One line for each entry of an object.
    fn each(&mut self, name: &str, label: &str, of: &Value) {
        for (key, value) in of.as_object().into_iter().flatten() {
            self.line(name, &[(label, key)], value);
        }
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// From the answers to `status`, `sas` and `slots`.
pub fn exposition(status: &Value, sas: &Value, slots: &Value) -> String {
    let mut text = Text::default();
    text.family("ace_gateway_info", "gauge", "The gateway; always 1.");
    let labels = [
        ("version", word(&status["version"])),
        ("engine", word(&status["engine"])),
        ("tun", word(&status["tun"])),
    ];
    text.line("ace_gateway_info", &labels, &1.into());
    text.family("ace_gateway_uptime_seconds", "gauge", "Since the gateway began.");
    text.line("ace_gateway_uptime_seconds", &[], &status["seconds"]);
    text.family("ace_gateway_sas", "gauge", "Security associations.");
    text.line("ace_gateway_sas", &[], &status["sas"]);
    let packets = &status["packets"];
    for (name, key, help) in [
        ("ace_gateway_packets_total", "packets", "Packets by what became of them."),
        ("ace_gateway_bytes_total", "bytes", "Their bytes as they left."),
    ] {
        text.family(name, "counter", help);
        for what in ["accepted", "protected", "decapsulated", "bypassed"] {
            text.line(name, &[("what", what)], &packets[what][key]);
        }
    }
    for (name, label, of, help) in [
        ("ace_gateway_dropped_total", "cause", &packets["dropped"], "Packets dropped by the data plane."),
        ("ace_gateway_events_total", "what", &status["gateway"], "What the gateway itself counts."),
        ("ace_gateway_losses_total", "cause", &status["losses"], "What the kernel did not take or give."),
    ] {
        text.family(name, "counter", help);
        text.each(name, label, of);
    }
    associations(&mut text, sas);
    board(&mut text, &slots["board"]);
    engines(&mut text, slots);
    text.0
}

/// What of an SA a family has.
type Figure = fn(&Value) -> Value;

fn associations(text: &mut Text, sas: &Value) {
    let families: [(&str, &str, &str, Figure); 4] = [
        ("ace_sa_packets_total", "counter", "Packets forwarded.", |sa| {
            sa["counters"]["forwarded"]["packets"].clone()
        }),
        ("ace_sa_bytes_total", "counter", "Bytes forwarded.", |sa| {
            sa["counters"]["forwarded"]["bytes"].clone()
        }),
        ("ace_sa_sequence", "gauge", "The last sequence number, or the highest that was received.", |sa| {
            sa["sequence"].clone()
        }),
        ("ace_sa_dropped_total", "counter", "Packets dropped, whatever the cause.", |sa| {
            let causes = sa["counters"]["dropped"].as_object().into_iter().flatten();
            causes.filter_map(|(_, count)| count.as_u64()).sum::<u64>().into()
        }),
    ];
    for (name, kind, help, value) in families {
        text.family(name, kind, help);
        for sa in items(sas) {
            let spi = format!("{:#x}", sa["spi"].as_u64().unwrap_or_default());
            let labels = [
                ("name", word(&sa["name"])),
                ("spi", spi.as_str()),
                ("direction", word(&sa["direction"])),
                ("peer", word(&sa["remote"])),
            ];
            text.line(name, &labels, &value(sa));
        }
    }
}

fn board(text: &mut Text, board: &Value) {
    if board.is_null() {
        return;
    }
    for (name, key, help) in [
        ("ace_board_loads_total", "loads", "Loads that configured a slot."),
        ("ace_board_refused_loads_total", "refused_loads", "Loads that did not."),
        ("ace_board_completed_total", "completed", "Operations with a result."),
        ("ace_board_failed_total", "failed", "Operations with an error."),
        ("ace_board_modelled_seconds_total", "modelled_seconds", "Modelled time, not wall time."),
    ] {
        text.family(name, "counter", help);
        text.line(name, &[], &board[key]);
    }
    text.family("ace_slot_holds", "gauge", "The configuration that a slot holds; always 1.");
    for (at, slot) in items(&board["slots"]).iter().enumerate() {
        if let Some(name) = slot["resident"].as_str() {
            text.line("ace_slot_holds", &[("slot", &at.to_string()), ("configuration", name)], &1.into());
        }
    }
    for (name, key, help) in [
        ("ace_slot_loads_total", "loads", "Loads of a slot."),
        ("ace_slot_operations_total", "operations", "Operations of a slot."),
        (
            "ace_slot_modelled_execute_seconds_total",
            "modelled_execute_seconds",
            "Modelled time of executions.",
        ),
        ("ace_slot_modelled_load_seconds_total", "modelled_load_seconds", "Modelled time of loads."),
    ] {
        text.family(name, "counter", help);
        for (at, slot) in items(&board["slots"]).iter().enumerate() {
            text.line(name, &[("slot", &at.to_string())], &slot[key]);
        }
    }
}

fn engines(text: &mut Text, slots: &Value) {
    if slots["board"].is_null() {
        return;
    }
    for (name, key, help) in [
        (
            "ace_engine_taken_over_total",
            "taken_over",
            "Packets that the board failed and the processor computed.",
        ),
        (
            "ace_engine_spilled_total",
            "spilled",
            "Packets for the processor because the board's queue was full.",
        ),
        ("ace_engine_refused_total", "refused", "Packets dropped because the board's queue was full."),
        ("ace_libraries_taken_total", "switched", "Newer libraries since the start."),
    ] {
        text.family(name, "counter", help);
        text.line(name, &[], &slots[key]);
    }
    for (name, kind, help, keys, parts) in [
        (
            "ace_engine_packets_total",
            "counter",
            "Packets by kind, length and engine.",
            ["by_cpu", "by_board"],
            1.0,
        ),
        ("ace_engine_packet_seconds", "gauge", "Wall time that one takes.", ["cpu_ns", "board_ns"], 1e9),
    ] {
        text.family(name, kind, help);
        for cost in items(&slots["costs"]) {
            let bytes = cost["bytes"].as_u64().unwrap_or_default().to_string();
            for (engine, key) in ["cpu", "board"].into_iter().zip(keys) {
                let labels = [
                    ("operation", word(&cost["operation"])),
                    ("bytes_from", bytes.as_str()),
                    ("engine", engine),
                ];
                let value = match cost[key].as_f64().filter(|_| parts != 1.0) {
                    Some(value) => (value / parts).into(),
                    None => cost[key].clone(),
                };
                text.line(name, &labels, &value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_line_belongs_to_the_family_above_it_and_labels_are_quoted() {
        let status = json!({
            "version": "1", "seconds": 2.5, "engine": "auto", "tun": "ace0", "sas": 1,
            "packets": {"accepted": {"packets": 3, "bytes": 4}, "dropped": {"no_sa": 7}},
            "gateway": {"no_peer": 0}, "losses": {"outside_full": 5}
        });
        let sas = json!([{"name": "a\"b\\c\nd", "spi": 256, "direction": "out", "remote": "192.0.2.2", "sequence": 9,
            "counters": {"forwarded": {"packets": 9, "bytes": 90}, "dropped": {"x": 1, "y": 2}}}]);
        let slots = json!({"board": {"slots": [{"resident": "aes", "loads": 1}, {"resident": null, "loads": 0}]},
            "costs": [{"operation": "aes", "bytes": 64, "cpu_ns": 500.0, "board_ns": null, "by_cpu": 3}]});
        let text = exposition(&status, &sas, &slots);
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
            "ace_engine_packet_seconds{operation=\"aes\",bytes_from=\"64\",engine=\"cpu\"} 5e-7",
        ] {
            assert!(text.lines().any(|line| line == wanted), "{wanted} is not in\n{text}");
        }
        let none = exposition(&status, &json!([]), &json!({"board": null, "costs": []}));
        assert!(!none.contains("ace_board"));
    }
}
