// SPDX-License-Identifier: Apache-2.0
//! SAs and other ends. Each of them is a series of its own, and there may be ten thousand: so many are listed at most, and
//! what is so of all is counted as well.

use super::Text;
use crate::core::CheckStatus;
use crate::status::{Interface, Peer, Sa};

/// SAs that have lines of their own: the first ones.
pub const MOST_SAS: usize = 1000;
/// Other ends that have.
pub const MOST_PEERS: usize = 1000;

/// What of an SA a family has; `None`: nothing.
type Figure = fn(&Sa) -> Option<f64>;

/// `count`: of all.
pub fn associations(text: &mut Text, count: usize, sas: &[Sa]) {
    text.one("ace_gateway_sas", "Security associations.", count);
    let name = "ace_gateway_sas_expired";
    text.family(name, "gauge", "Security associations that are behind a limit of their lifetime.");
    text.line(name, &[("limit", "soft")], sas.iter().filter(|sa| sa.soft_lifetime_over).count());
    text.line(name, &[("limit", "hard")], sas.iter().filter(|sa| sa.hard_lifetime_over).count());
    let (name, help) =
        ("ace_gateway_sas_unlisted", "Security associations behind the first 1000, without ace_sa_*.");
    text.one(name, help, sas.len().saturating_sub(MOST_SAS));
    let families: [(&str, &str, &str, Figure); 8] = [
        ("ace_sa_packets_total", "counter", "Packets forwarded.", |sa| {
            Some(sa.counters.forwarded.packets as f64)
        }),
        ("ace_sa_bytes_total", "counter", "Bytes forwarded.", |sa| Some(sa.counters.forwarded.bytes as f64)),
        ("ace_sa_sequence", "gauge", "The last sequence number, or the highest that was received.", |sa| {
            Some(sa.sequence as f64)
        }),
        ("ace_sa_dropped_total", "counter", "Packets dropped, whatever the cause.", |sa| {
            Some(sa.counters.dropped.values().sum::<u64>() as f64)
        }),
        ("ace_sa_start_time_seconds", "gauge", "When it was installed, since 1970.", |sa| Some(sa.started)),
        ("ace_sa_soft_end_time_seconds", "gauge", "When the clock reaches its soft limit.", |sa| sa.soft_end),
        ("ace_sa_hard_end_time_seconds", "gauge", "When the clock reaches its hard limit.", |sa| sa.hard_end),
        (
            "ace_sa_last_authenticated_time_seconds",
            "gauge",
            "Inbound: when its last authentic packet came.",
            |sa| sa.authenticated,
        ),
    ];
    for (name, kind, help, value) in families {
        text.family(name, kind, help);
        for sa in sas.iter().take(MOST_SAS) {
            let Some(value) = value(sa) else { continue };
            let spi = format!("{:#x}", sa.spi);
            let peer = sa.remote.map(|remote| remote.to_string()).unwrap_or_default();
            let labels = [
                ("name", sa.name.as_str()),
                ("spi", spi.as_str()),
                ("direction", sa.direction.as_str()),
                ("peer", peer.as_str()),
                ("interface", sa.interface.as_str()),
            ];
            text.line(name, &labels, value);
        }
    }
}

pub fn interfaces(text: &mut Text, all: &[Interface]) {
    let name = "ace_interface_moved";
    text.family(name, "gauge", "Whether somebody has moved a device inside to another network namespace.");
    for one in all {
        let labels = [("interface", one.name.as_str()), ("if_id", &one.if_id.to_string())];
        text.line(name, &labels, u8::from(one.moved));
    }
}

pub fn peers(text: &mut Text, all: &[Peer]) {
    text.one("ace_gateway_peers", "Other ends, of SAs, of policies and of the configuration.", all.len());
    let without = all.iter().filter(|peer| peer.is_without_sa()).count();
    let (name, help) = (
        "ace_gateway_peers_without_sa",
        "Other ends to which nothing can go, or from which nothing can come.",
    );
    text.one(name, help, without);
    let (name, help) =
        ("ace_gateway_peers_unlisted", "Other ends behind the first 1000, without ace_peer_*.");
    text.one(name, help, all.len().saturating_sub(MOST_PEERS));
    let listed: Vec<(String, &Peer)> =
        all.iter().take(MOST_PEERS).map(|peer| (peer.address.to_string(), peer)).collect();
    let mut both = |name: &str, kind: &str, help: &str, of: fn(&Peer) -> [u64; 2]| {
        text.family(name, kind, help);
        for (address, peer) in &listed {
            let [sent, received] = of(peer);
            text.line(name, &[("peer", address), ("direction", "out")], sent);
            text.line(name, &[("peer", address), ("direction", "in")], received);
        }
    };
    both("ace_peer_packets_total", "counter", "ESP and AH to it, clear packets behind its own.", |peer| {
        [peer.sent.packets, peer.received.packets]
    });
    both("ace_peer_bytes_total", "counter", "Their bytes.", |peer| [peer.sent.bytes, peer.received.bytes]);
    both("ace_peer_sas", "gauge", "Security associations that can carry something.", |peer| {
        [peer.outbound_sas as u64, peer.inbound_sas as u64]
    });
    let name = "ace_peer_without_sa";
    text.family(name, "gauge", "Whether nothing can go to it, or nothing can come from it.");
    for (address, peer) in &listed {
        text.line(name, &[("peer", address)], u8::from(peer.is_without_sa()));
    }
    let mut looked = |name: &str, help: &str, of: fn(&CheckStatus<f64>) -> Option<f64>| {
        text.family(name, "gauge", help);
        for (address, peer) in &listed {
            if let Some(value) = peer.check.as_ref().and_then(of) {
                text.line(name, &[("peer", address)], value);
            }
        }
    };
    looked("ace_peer_up", "Whether it answers pings through the tunnel, where that is looked at.", |check| {
        check.up.map(|up| f64::from(u8::from(up)))
    });
    let name = "ace_peer_up_change_time_seconds";
    looked(name, "Since when it answers or does not, since 1970.", |check| check.since);
    looked("ace_peer_round_trip_seconds", "How long the last answer took.", |check| check.round_trip);
    let name = "ace_peer_longest_packet_bytes";
    looked(name, "The longest packet inside that a ping has brought through.", |check| {
        check.longest.map(f64::from)
    });
    let name = "ace_peer_last_authenticated_time_seconds";
    text.family(name, "gauge", "When its last authentic packet came, since 1970.");
    for (address, peer) in &listed {
        if let Some(at) = peer.authenticated {
            text.line(name, &[("peer", address)], at);
        }
    }
    let name = "ace_peer_dropped_total";
    text.family(name, "counter", "Packets that its SAs dropped.");
    for (address, peer) in &listed {
        for (cause, count) in &peer.dropped {
            text.line(name, &[("peer", address), ("cause", cause)], count);
        }
    }
}
