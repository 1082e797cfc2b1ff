// SPDX-License-Identifier: Apache-2.0
//! What a gateway says of itself: the same types for whoever tells it, adds it up, shows it and reads it from the socket.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::AddAssign;

use ace_ipsec::{Direction, Protocol, SaMode};
use serde::{Deserialize, Serialize};

use crate::core::{Counters, PeerStatus, SaView};
use crate::engines::View;
use crate::io::Losses;

/// Counts by the name of what is counted; what never happened may be left out.
pub type Counts = BTreeMap<String, u64>;

/// The answer to `status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub version: String,
    /// Since it began.
    pub seconds: f64,
    pub tun: String,
    /// Where ESP in UDP comes, if it does.
    pub listening: Option<SocketAddr>,
    /// Where the page is, if there is one.
    pub page: Option<SocketAddr>,
    /// Security associations.
    pub sas: usize,
    #[serde(flatten)]
    pub figures: Figures,
    #[serde(default)]
    pub peers: Vec<PeerStatus>,
    /// Of several cores each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Vec<CoreStatus>>,
    /// Why every operation on the board has failed so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_fails: Option<String>,
}

/// What a core counts, or all together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub engine: String,
    pub packets: Packets,
    pub gateway: Counters,
    pub losses: Losses,
}

/// Packets by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packets {
    pub accepted: Traffic,
    pub protected: Traffic,
    pub decapsulated: Traffic,
    pub bypassed: Traffic,
    /// By cause.
    pub dropped: Counts,
}

/// Packets, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    pub packets: u64,
    pub bytes: u64,
}

/// What tells one core from the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreStatus {
    pub alive: bool,
    pub sas: Option<usize>,
    pub accepted: Option<u64>,
    pub handed_over_refused: u64,
    pub misrouted: Option<u64>,
}

/// A security association, of the answer to `sas`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sa {
    pub id: u32,
    pub name: String,
    pub spi: u32,
    /// `out` or `in`.
    pub direction: String,
    /// `esp` or `ah`.
    pub protocol: String,
    /// `tunnel` or `transport`.
    pub mode: String,
    pub cipher: String,
    pub auth: String,
    pub esn: bool,
    pub replay_window: u32,
    pub sequence: u64,
    pub exhausted: bool,
    pub soft_lifetime_over: bool,
    pub hard_lifetime_over: bool,
    pub counters: SaCounters,
    pub local: Option<IpAddr>,
    pub remote: Option<IpAddr>,
    pub selector: String,
}

/// What one association did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaCounters {
    pub accepted: Traffic,
    pub forwarded: Traffic,
    pub dropped: Counts,
}

/// All three answers at one instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    pub status: Status,
    pub sas: Vec<Sa>,
    pub slots: View,
}

impl Figures {
    /// The first one's engine is as good as any.
    pub fn add(&mut self, other: Self) {
        let Self { packets, gateway, losses, .. } = other;
        self.packets += packets;
        self.gateway += gateway;
        self.losses += losses;
    }
}

impl AddAssign for Packets {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.protected += other.protected;
        self.decapsulated += other.decapsulated;
        self.bypassed += other.bypassed;
        for (cause, count) in other.dropped {
            *self.dropped.entry(cause).or_default() += count;
        }
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl From<ace_ipsec::Traffic> for Traffic {
    fn from(of: ace_ipsec::Traffic) -> Self {
        Self { packets: of.packets, bytes: of.bytes }
    }
}

fn counts(of: &ace_ipsec::Drops) -> Counts {
    of.iter().map(|(cause, count)| (cause.name().to_owned(), count)).collect()
}

impl From<&ace_ipsec::Counters> for Packets {
    fn from(of: &ace_ipsec::Counters) -> Self {
        Self {
            accepted: of.accepted.into(),
            protected: of.protected.into(),
            decapsulated: of.decapsulated.into(),
            bypassed: of.bypassed.into(),
            dropped: counts(&of.dropped),
        }
    }
}

impl From<SaView> for Sa {
    fn from(SaView { status: of, local, remote, selector }: SaView) -> Self {
        Self {
            id: of.id.slot(),
            name: of.name,
            spi: of.spi,
            direction: match of.direction {
                Direction::Out => "out".to_owned(),
                Direction::In => "in".to_owned(),
            },
            protocol: match of.protocol {
                Protocol::Esp => "esp".to_owned(),
                Protocol::Ah => "ah".to_owned(),
            },
            mode: match of.mode {
                SaMode::Tunnel => "tunnel".to_owned(),
                SaMode::Transport => "transport".to_owned(),
            },
            cipher: of.cipher.to_owned(),
            auth: of.auth.to_owned(),
            esn: of.esn,
            replay_window: of.replay_window,
            sequence: of.sequence,
            exhausted: of.exhausted,
            soft_lifetime_over: of.soft_lifetime_over,
            hard_lifetime_over: of.hard_lifetime_over,
            counters: SaCounters {
                accepted: of.counters.accepted.into(),
                forwarded: of.counters.forwarded.into(),
                dropped: counts(&of.counters.dropped),
            },
            local: Some(local),
            remote: Some(remote),
            selector,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_added_and_read_back() {
        let traffic = |packets| Traffic { packets, bytes: 10 * packets };
        let of = |accepted, cause: &str, no_peer, full| Figures {
            engine: "cpu".to_owned(),
            packets: Packets {
                accepted: traffic(accepted),
                dropped: Counts::from([(cause.to_owned(), accepted)]),
                ..Packets::default()
            },
            gateway: Counters { no_peer, ..Counters::default() },
            losses: Losses { outside_full: full, ..Losses::default() },
        };
        let mut all = of(1, "no_sa", 2, 3);
        all.add(of(4, "replayed", 5, 6));
        all.add(of(1, "no_sa", 0, 0));
        assert_eq!((all.packets.accepted, all.gateway.no_peer, all.losses.outside_full), (traffic(6), 7, 9));
        assert_eq!(all.packets.dropped, Counts::from([("no_sa".to_owned(), 2), ("replayed".to_owned(), 4)]));
        let status = Status { figures: all, tun: "ace0".to_owned(), ..Status::default() };
        let text = serde_json::to_string(&status).expect("it is data");
        assert!(text.contains(r#""engine":"cpu""#) && !text.contains("figures"), "{text}");
        assert_eq!(serde_json::from_str::<Status>(&text).expect("the same"), status);
    }
}
