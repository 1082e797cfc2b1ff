// SPDX-License-Identifier: Apache-2.0
//! What `ace run` did: printed, written as JSON, and drawn by the report.

use std::collections::BTreeMap;

use ace_board::trace::BoardReport;
use ace_ipsec::{Cause, Counters, SaStatus};
use ace_pcap::Offloaded;
use serde::Serialize;

/// What a run did. Times of the board are modelled, `wall_seconds` is not.
#[derive(Default, Serialize)]
pub struct Summary {
    /// Capture that was read.
    pub input: String,
    /// Capture that was written.
    pub output: String,
    /// Name of the engine.
    pub engine: &'static str,
    /// Frames read.
    pub frames: u64,
    /// Frames that hold no IP packet; the policy decided about them.
    pub not_ip: u64,
    /// Datagrams at UDP port 4500 for an end of an SA, which are no ESP: IKE and keepalives (RFC 3948); the policy decided
    /// about them.
    pub beside_esp: u64,
    /// ESP in UDP, of which the UDP header was taken off.
    pub esp_in_udp: u64,
    /// Packets that came as ESP in TCP (RFC 9329).
    pub esp_in_tcp: u64,
    /// Segments of TCP that carried them, or parts of them.
    pub tcp_segments: u64,
    /// Segments, or messages in them, of which nothing came, by why.
    pub lost_in_tcp: BTreeMap<String, u64>,
    /// Packets that were put together of fragments.
    pub reassembled: u64,
    /// Those fragments.
    pub fragments: u64,
    /// Fragments that nothing came of, by why.
    pub unassembled: BTreeMap<String, u64>,
    /// Frames of which nobody can say whether they hold one, by what they are; dropped, or else `bypass_opaque`.
    pub opaque: BTreeMap<&'static str, u64>,
    /// Whether such frames leave as they came.
    pub bypass_opaque: bool,
    /// Frames of which the capture kept only the beginning; dropped.
    pub cut_short: u64,
    /// Those of them that should have been protected, or should have come out of ESP.
    pub cut_short_missing: u64,
    /// Packets whose headers a network card would have filled in.
    pub offloaded: Offloads,
    /// Records of which nothing can be made, by why.
    pub unreadable: BTreeMap<&'static str, u64>,
    /// Frames that have no place in the output, by why.
    pub unwritable: BTreeMap<String, u64>,
    /// Frames written.
    pub written: u64,
    /// What the data plane counted.
    pub packets: Counters,
    /// Its security associations.
    pub sas: Vec<SaStatus>,
    /// The board, if one computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardReport>,
    /// The board under the policies that it is compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<BoardReport>,
    /// What the engine reported about packets it lost, with how often.
    pub engine_errors: BTreeMap<String, u64>,
    /// What is wrong with the end of the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// Whether somebody ended it early.
    pub interrupted: bool,
    /// How long it took on the wall.
    pub wall_seconds: f64,
}

/// What packets left to a network card, and how many did. Nothing about them is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Offloads {
    /// The length field is 0: the frame's length was taken.
    pub length: u64,
    /// The same, and an option says the length (RFC 2675).
    pub jumbogram: u64,
    /// The checksum of an IPv4 header in front of ESP or AH is 0: it was filled in.
    pub checksum: u64,
}

impl Offloads {
    /// Counts a packet.
    pub fn count(&mut self, packet: Offloaded) {
        self.length += u64::from(packet.length);
        self.jumbogram += u64::from(packet.jumbogram);
        self.checksum += u64::from(packet.checksum);
    }
}

/// Causes for which nothing is missing: the packet came before, has no content, or must go by the standard.
const NOTHING_MISSING: [Cause; 3] = [Cause::Replayed, Cause::Dummy, Cause::Congestion];

impl Summary {
    /// Whether something about the run is wrong: what should have been protected or should have come out of ESP did not,
    /// or what was read or written is not complete.
    pub fn is_wrong(&self) -> bool {
        self.packets.dropped.iter().any(|(cause, _)| !NOTHING_MISSING.contains(&cause))
            || self.cut_short_missing > 0
            || self.damage.is_some()
            || !(self.engine_errors.is_empty() && self.unreadable.is_empty() && self.unwritable.is_empty())
            || !(self.unassembled.is_empty() && self.lost_in_tcp.is_empty())
    }

    /// What there is to say of a run whose engine had a choice and that no slot has worked for.
    pub fn all_on_cpu(&self) -> Option<&'static str> {
        let board = self.board.as_ref().filter(|_| self.engine == "auto")?;
        let packets = self.packets.protected.packets + self.packets.decapsulated.packets;
        if packets == 0 || board.slots.iter().any(|slot| slot.operations > 0) {
            return None;
        }
        Some(match (board.configurations.is_empty(), board.totals.computed) {
            (true, _) => "everything was computed by the CPU: the board has no configuration",
            (_, 0) => "everything was computed by the CPU: the board can do none of it",
            _ => "everything was computed by the CPU: no slot would have been done with any of it sooner",
        })
    }

    /// Whether there is nothing to report of the board, nor of the processor beside it: of all that was computed the model has
    /// no time.
    pub fn nothing_on_board(&self) -> bool {
        let board = self.board.as_ref().filter(|board| board.totals.computed == 0);
        board.is_some() && self.compared.is_empty() && self.all_on_cpu().is_some()
    }

    /// Packets that did not leave. One may lie in several frames, and a segment of TCP carry several.
    pub fn dropped(&self) -> u64 {
        let lost: u64 = self.lost_in_tcp.values().sum();
        let came = self.frames + self.reassembled + self.esp_in_tcp + lost;
        came.saturating_sub(self.fragments + self.tcp_segments + self.written)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ace_ipsec::Drops;
    use ace_pcap::link::WrapError;
    use ace_pcap::{Lost, fragments, tcp};

    use super::*;

    /// Every cause, and whether something is missing: each was looked at.
    const CAUSES: [(&str, bool); Cause::ALL.len()] = [
        ("malformed_packet", true),
        ("bad_ip_checksum", true),
        ("policy_discard", true),
        ("no_sa", true),
        ("unprotected", true),
        ("unknown_spi", true),
        ("esp_fragment", true),
        ("ports_unknown", true),
        ("fragment", true),
        ("sequence_exhausted", true),
        ("sequence_withheld", true),
        ("lifetime_exceeded", true),
        ("too_big", true),
        ("path_mtu", true),
        ("iv_unavailable", true),
        ("no_configuration", true),
        ("load_failed", true),
        ("engine_failed", true),
        ("overload", true),
        ("esp_too_short", true),
        ("bad_ah", true),
        ("source_route", true),
        ("bad_length", true),
        ("sequence_zero", true),
        ("replayed", false),
        ("too_old", true),
        ("icv_mismatch", true),
        ("bad_padding", true),
        ("wrong_next_header", true),
        ("dummy", false),
        ("bad_inner_packet", true),
        ("selector_mismatch", true),
        ("congestion", false),
    ];

    fn of(change: impl FnOnce(&mut Summary)) -> Summary {
        let mut summary = Summary::default();
        change(&mut summary);
        summary
    }

    /// Every reason for which a frame does not leave, or leaves as it came, with what a run of nothing else says.
    fn reasons() -> Vec<(String, Summary, bool)> {
        let mut all = Vec::new();
        for (&cause, (name, missing)) in Cause::ALL.iter().zip(CAUSES) {
            assert_eq!(cause.name(), name, "in the order of the causes");
            let dropped = [(cause, 1)].into_iter().collect::<Drops>();
            all.push((name.to_owned(), of(|s| s.packets.dropped = dropped), missing));
        }
        let mut add = |what: &dyn ToString, missing, change: &dyn Fn(&mut Summary, String)| {
            all.push((what.to_string(), of(|summary| change(summary, what.to_string())), missing));
        };
        for why in fragments::Why::ALL {
            add(&why, true, &|s, why| s.unassembled.extend([(why, 1)]));
        }
        for why in tcp::Why::ALL {
            add(&why, true, &|s, why| s.lost_in_tcp.extend([(why, 1)]));
        }
        for why in Lost::ALL {
            add(&why, true, &|s, why| s.unwritable.extend([(why, 1)]));
        }
        for why in [WrapError::Length, WrapError::Family] {
            add(&why, true, &|s, why| s.unwritable.extend([(why, 1)]));
        }
        add(&"unreadable", true, &|s, _| s.unreadable.extend([("longer than any frame", 1)]));
        add(&"engine_errors", true, &|s, why| s.engine_errors.extend([(why, 1)]));
        add(&"damage", true, &|s, why| s.damage = Some(why));
        add(&"cut_short_missing", true, &|s, _| s.cut_short_missing = 1);
        // Of somebody else's packets; what need not be protected; what the policy decides about.
        add(&"cut_short", false, &|s, _| s.cut_short = 1);
        add(&"opaque", false, &|s, _| s.opaque.extend([("MACsec", 1)]));
        add(&"not_ip", false, &|s, _| s.not_ip = 1);
        add(&"beside_esp", false, &|s, _| s.beside_esp = 1);
        add(&"offloaded", false, &|s, _| s.offloaded.length = 1);
        add(&"esp_in_udp", false, &|s, _| s.esp_in_udp = 1);
        add(&"esp_in_tcp", false, &|s, _| (s.esp_in_tcp, s.tcp_segments) = (1, 2));
        add(&"reassembled", false, &|s, _| (s.reassembled, s.fragments) = (1, 2));
        all
    }

    #[test]
    fn every_reason_has_its_exit_code() {
        let all = reasons();
        let names: BTreeSet<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "no name twice");
        for (name, summary, missing) in &all {
            assert_eq!(summary.is_wrong(), *missing, "{name}");
        }
        assert!(!Summary::default().is_wrong());
    }

    /// A field of the summary that is none of the list's is none that a packet can go by.
    #[test]
    fn every_field_of_the_summary_is_a_reason_or_none() {
        let filled: BTreeSet<String> = reasons()
            .iter()
            .flat_map(|(_, summary, _)| {
                let (of, empty) = (fields(summary), fields(&Summary::default()));
                of.into_iter()
                    .filter(|field| !empty.contains(field))
                    .map(|(name, _)| name)
                    .collect::<Vec<_>>()
            })
            .collect();
        let others = [
            "input",
            "output",
            "engine",
            "frames",
            "written",
            "sas",
            "bypass_opaque",
            "interrupted",
            "wall_seconds",
        ];
        for (name, _) in fields(&Summary::default()) {
            assert_eq!(filled.contains(&name), !others.contains(&name.as_str()), "{name}");
        }
    }

    fn fields(summary: &Summary) -> Vec<(String, serde_json::Value)> {
        let value = serde_json::to_value(summary).expect("a summary is JSON");
        value.as_object().expect("of fields").clone().into_iter().collect()
    }

    #[test]
    fn a_cause_of_which_nothing_is_missing_is_named_and_no_other() {
        let page = include_str!("../../../../docs/captures.md");
        let row = page.lines().find(|line| line.starts_with("| 0 |")).expect("the row of exit code 0");
        for (name, missing) in CAUSES {
            assert_eq!(row.contains(&format!("`{name}`")), !missing, "{name}");
        }
    }
}
