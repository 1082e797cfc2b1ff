// SPDX-License-Identifier: Apache-2.0
//! What a gateway says of itself: the same types for whoever tells it, adds it up, shows it and reads it from the socket.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::ops::AddAssign;
use std::time::Duration;

use ace_ipsec::{Direction, Protocol, Remote, SaMode};
use serde::{Deserialize, Serialize};

use crate::core::{CheckStatus, Counters, SaView};
use crate::counted::counted;
use crate::engines::View;
use crate::io::Losses;

/// Counts by the name of what is counted; what never happened may be left out.
pub type Counts = BTreeMap<String, u64>;

/// The answer to `status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Version of the gateway's program.
    pub version: String,
    /// Since it began.
    pub seconds: f64,
    /// Name of the TUN device.
    pub tun: String,
    /// Devices inside with numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<Interface>,
    /// Where ESP in UDP comes, if it does.
    pub listening: Option<SocketAddr>,
    /// Where the page is, if there is one.
    pub page: Option<SocketAddr>,
    /// Security associations.
    pub sas: usize,
    /// Of all cores together.
    #[serde(flatten)]
    pub figures: Figures,
    /// When it began, in seconds since 1970.
    #[serde(default)]
    pub started: f64,
    /// The other ends: of SAs, of policies, and those that the configuration names.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// Rules for what comes from inside whose packets find no SA; those that wait for a first packet are none.
    #[serde(default)]
    pub rules_without_sa: usize,
    /// The SA file, and that others may read or write it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_keys: Option<String>,
    /// Of several cores each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Vec<CoreStatus>>,
    /// Clear packets that a rule covers, which came from outside or wanted to leave by another way, and were dropped; `None`:
    /// nothing looks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clear_dropped: Option<u64>,
    /// What the gateway had to say and could not.
    #[serde(default)]
    pub unwritten: Unwritten,
    /// The pair that the gateway is one of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby: Option<Standby>,
    /// Why every operation on the board has failed so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_fails: Option<String>,
}

/// A device inside with a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Of the device.
    pub name: String,
    /// `if_id` of its SAs and policies.
    pub if_id: u32,
    /// Somebody has moved it to another network namespace.
    pub moved: bool,
}

/// One of two gateways, of which one is the other's standby.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standby {
    /// `active` or `standby`.
    pub role: String,
    /// How it stands, in words.
    pub state: String,
    /// The standby has all that the active one may use.
    pub attached: bool,
    /// Where the other one is.
    pub peer: Option<SocketAddr>,
    /// How often the keys were taken over.
    pub take_overs: u64,
}

counted! {
    /// Lines and pieces that were lost: a disk is full, a pipe is not read, a reader is gone.
    Unwritten {
        /// Events of the log.
        log,
        /// Pieces of the recording; the first one ends it.
        record,
    }
}

/// What a core counts, or all together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The name of what computes: `cpu`, `board`.
    pub engine: String,
    /// What the data plane counts.
    pub packets: Packets,
    /// What the gateway counts around the data plane.
    pub gateway: Counters,
    /// What the kernel did not take or give.
    pub losses: Losses,
}

/// Packets by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packets {
    /// What came in, from both sides.
    pub accepted: Traffic,
    /// What left as ESP or AH.
    pub protected: Traffic,
    /// What left in clear behind ESP or AH.
    pub decapsulated: Traffic,
    /// What left as it came; a gateway lets nothing do so.
    pub bypassed: Traffic,
    /// By cause.
    pub dropped: Counts,
}

/// Packets, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Number of packets.
    pub packets: u64,
    /// Their bytes, from the first byte of the IP header.
    pub bytes: u64,
}

/// What tells one core from the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreStatus {
    /// Whether its thread runs.
    pub alive: bool,
    /// SAs that are installed on it; `None`: its thread has panicked.
    pub sas: Option<usize>,
    /// Packets that came in; `None`: its thread has panicked.
    pub accepted: Option<u64>,
    /// Packets for this core that another one had to drop, because too many waited for it.
    pub handed_over_refused: u64,
    /// Packets that were nobody's, or another core's after a change of SAs; `None`: its thread has panicked.
    pub misrouted: Option<u64>,
}

/// A security association, of the answer to `sas`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sa {
    /// Its place in the data plane; a later SA may have the place again.
    pub id: u32,
    /// As in the SA file.
    pub name: String,
    /// The Security Parameters Index (RFC 4303, 2.1).
    pub spi: u32,
    /// `out` or `in`.
    pub direction: String,
    /// `esp` or `ah`.
    pub protocol: String,
    /// `tunnel` or `transport`.
    pub mode: String,
    /// As in SA files: `aes-128-cbc`.
    pub cipher: String,
    /// As in SA files: `hmac-sha1-96`.
    pub auth: String,
    /// Extended sequence numbers (RFC 4303, 2.2.1).
    pub esn: bool,
    /// In packets; 0 for outbound SAs and where replays are not looked for.
    pub replay_window: u32,
    /// Outbound: the last number sent; inbound: the highest authenticated one.
    pub sequence: u64,
    /// Outbound: that was the last number there is.
    pub exhausted: bool,
    /// A soft limit was reached: it is time for a successor.
    pub soft_lifetime_over: bool,
    /// A hard limit was reached: the SA carries nothing any more.
    pub hard_lifetime_over: bool,
    /// What it carried and dropped.
    pub counters: SaCounters,
    /// Our end.
    pub local: Option<IpAddr>,
    /// The other end.
    pub remote: Option<IpAddr>,
    /// What it protects, as people write it.
    pub selector: String,
    /// The device inside that its packets come from and go to.
    #[serde(default)]
    pub interface: String,
    /// When it was installed, in seconds since 1970.
    #[serde(default)]
    pub started: f64,
    /// When the clock reaches its soft limit, if that is known.
    #[serde(default)]
    pub soft_end: Option<f64>,
    /// When the clock reaches its hard limit, if that is known.
    #[serde(default)]
    pub hard_end: Option<f64>,
    /// When its last authentic packet came.
    #[serde(default)]
    pub authenticated: Option<f64>,
}

/// The gateway's clock, in seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock(pub f64);

impl Clock {
    /// A time of the gateway, to the millisecond.
    pub fn at(self, since: Duration) -> f64 {
        ((self.0 + since.as_secs_f64()) * 1e3).round() / 1e3
    }

    /// The same as exactly as it can be told.
    pub fn at_nanos(self, since: Duration) -> f64 {
        self.0 + since.as_secs_f64()
    }
}

/// Another end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peer {
    /// `remote` of the SAs with it.
    pub address: IpAddr,
    /// Where packets for it go now, if it has outbound SAs.
    pub endpoint: Option<SocketAddr>,
    /// Whether authentic packets from elsewhere move the endpoint: two in a row, each the newest of its SA.
    #[serde(default)]
    pub roaming: bool,
    /// Outbound SAs that can carry something.
    pub outbound_sas: usize,
    /// Inbound ones.
    pub inbound_sas: usize,
    /// ESP and AH to it, by SAs that are and that were.
    pub sent: Traffic,
    /// Clear packets behind its ESP and AH.
    pub received: Traffic,
    /// What its SAs dropped, by cause.
    pub dropped: Counts,
    /// When its last authentic packet came, in seconds since 1970.
    pub authenticated: Option<f64>,
    /// Whether it answers, where somebody looks; times in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckStatus<f64>>,
}

impl Peer {
    /// It is configured, and nothing can go to it or come from it.
    pub fn is_without_sa(&self) -> bool {
        self.outbound_sas == 0 || self.inbound_sas == 0
    }

    /// What the data plane has of an end.
    pub fn of(address: IpAddr, of: &Remote, clock: Clock) -> Self {
        Self {
            address,
            endpoint: None,
            roaming: false,
            outbound_sas: of.outbound,
            inbound_sas: of.inbound,
            sent: of.sent.into(),
            received: of.received.into(),
            dropped: counts(&of.dropped),
            authenticated: of.authenticated.map(|at| clock.at(at)),
            check: None,
        }
    }
}

/// What one association did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaCounters {
    /// What it took in.
    pub accepted: Traffic,
    /// What left: ESP or AH of an outbound SA, clear packets of an inbound one.
    pub forwarded: Traffic,
    /// By cause.
    pub dropped: Counts,
}

/// All three answers at one instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The answer to `status`.
    pub status: Status,
    /// The answer to `sas`.
    pub sas: Vec<Sa>,
    /// The answer to `slots`.
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

impl Sa {
    /// Cipher and authentication, without what is none.
    pub fn suite(&self) -> String {
        match self.auth.as_str() {
            "none" => self.cipher.clone(),
            auth => format!("{} + {auth}", self.cipher),
        }
    }

    /// As a core has it; devices have names.
    pub fn of(
        SaView { status: of, local, remote, selector }: SaView,
        clock: Clock,
        name: impl Fn(u32) -> String,
    ) -> Self {
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
            interface: name(of.if_id),
            started: clock.at(of.times.installed),
            soft_end: of.times.soft_end.map(|at| clock.at(at)),
            hard_end: of.times.hard_end.map(|at| clock.at(at)),
            authenticated: of.times.authenticated.map(|at| clock.at(at)),
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
