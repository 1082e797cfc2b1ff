// SPDX-License-Identifier: Apache-2.0
//! Whether other ends answer, and how long packets to them may be where no ICMP says so: pings through the tunnel, short
//! ones and long ones. Nothing but a ping is risked, and one that is lost says nothing of congestion.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::Duration;

use ace_config::gateway::{Check, Encapsulation, Peer};
use ace_engine::Buffer;
use ace_ipsec::Packet;
use ace_ipsec::packet::ip;
use etherparse::PacketBuilder;
use serde::{Deserialize, Serialize};

use super::path::{BELIEVED, SHORTEST, SHORTEST_V6};
use super::search::{Found, Search};
use super::sources::Origin;
use super::{Core, Interfaces};
use crate::status::Clock;

/// So many pings in a row without an answer: the end is down.
const MISSED: u32 = 3;
/// The shortest and the longest time from one ping to the next while something is being found out.
const SOON: Duration = Duration::from_millis(200);
const LATER: Duration = Duration::from_secs(1);
/// Packets inside that every way takes, with all that is put around them.
const BASE: u16 = SHORTEST - 104;
const BASE_V6: u16 = SHORTEST_V6 - 128;
/// In front of what a ping carries: ICMP's own header.
const ECHO: usize = 8;

/// How it stands with an end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckStatus<T> {
    /// The address inside.
    pub to: IpAddr,
    /// Whether it answers. `None`: nobody knows yet.
    pub up: Option<bool>,
    /// Since when.
    pub since: Option<T>,
    /// When it answered last.
    pub answered: Option<T>,
    /// How long that took, in seconds.
    pub round_trip: Option<f64>,
    /// The longest packet inside that goes through, so far.
    pub longest: Option<u16>,
}

impl CheckStatus<Duration> {
    /// By the clock on the wall.
    pub fn on(self, clock: Clock) -> CheckStatus<f64> {
        let Self { to, up, since, answered, round_trip, longest } = self;
        let at = |time: Option<Duration>| time.map(|time| clock.at(time));
        CheckStatus { to, up, since: at(since), answered: at(answered), round_trip, longest }
    }
}

/// A ping, from when it is sent until the next one is.
#[derive(Clone, Copy, Debug)]
struct Ping {
    number: u16,
    token: u64,
    /// As the data plane made it.
    outer: u16,
    came: bool,
}

struct One {
    peer: IpAddr,
    with: Check,
    /// Tells our pings from all others.
    cookie: [u8; 8],
    number: u16,
    due: Duration,
    sent: Duration,
    short: Option<Ping>,
    long: Option<Ping>,
    missed: u32,
    search: Search,
    status: CheckStatus<Duration>,
}

/// All ends that are looked at.
#[derive(Default)]
pub struct Checks {
    all: Vec<One>,
    events: VecDeque<String>,
}

impl Checks {
    pub fn new(peers: &[Peer], mtu: u16, interfaces: &Interfaces) -> Self {
        let one = |peer: &Peer| {
            let with = peer.check?;
            let mut cookie = [0; 8];
            // Without randomness answers of others are taken for ours at worst.
            let _ = getrandom::fill(&mut cookie);
            let base = if peer.address.is_ipv6() { BASE_V6 } else { BASE };
            let status = CheckStatus {
                to: with.to,
                up: None,
                since: None,
                answered: None,
                round_trip: None,
                longest: None,
            };
            let (due, sent) = (Duration::ZERO, Duration::ZERO);
            let search = Search::new(base, interfaces.mtu(with.if_id).unwrap_or(mtu));
            let (peer, number, missed) = (peer.address, 0, 0);
            Some(One {
                peer,
                with,
                cookie,
                number,
                due,
                sent,
                short: None,
                long: None,
                missed,
                search,
                status,
            })
        };
        Self { all: peers.iter().filter_map(one).collect(), events: VecDeque::new() }
    }

    /// When something is due.
    pub fn timeout(&self) -> Option<Duration> {
        self.all.iter().map(|one| one.due).min()
    }

    pub fn poll_event(&mut self) -> Option<String> {
        self.events.pop_front()
    }

    pub fn status(&self) -> Vec<(IpAddr, CheckStatus<Duration>)> {
        self.all.iter().map(|one| (one.peer, one.status)).collect()
    }

    /// A packet has left; it may be a ping.
    #[inline]
    pub fn left(&mut self, token: u64, bytes: usize) {
        if token == 0 || self.all.is_empty() {
            return;
        }
        let pings = self.all.iter_mut().flat_map(|one| one.short.iter_mut().chain(&mut one.long));
        for ping in pings.filter(|ping| ping.token == token) {
            (ping.token, ping.outer) = (0, u16::try_from(bytes).unwrap_or(u16::MAX));
        }
    }

    /// Whether a packet that came out of an SA is an answer: then it is nobody else's.
    #[inline]
    pub fn hear(&mut self, now: Duration, if_id: u32, packet: &[u8]) -> bool {
        !self.all.is_empty() && self.answers(now, if_id, packet).is_some()
    }

    fn answers(&mut self, now: Duration, if_id: u32, packet: &[u8]) -> Option<()> {
        let ip = ip::parse(packet)?;
        let reply = match ip.protocol? {
            1 => 0,
            58 => 129,
            _ => return None,
        };
        let icmp = packet.get(ip.upper.at..ip.total_len)?;
        let (cookie, number) =
            (icmp.get(ECHO..ECHO + 8)?, u16::from_be_bytes(*icmp.get(6..8)?.first_chunk()?));
        let is = |one: &&mut One| {
            (one.with.to, one.with.from, one.with.if_id) == (ip.source, ip.destination, if_id)
                && one.cookie == *cookie
        };
        let one = self.all.iter_mut().find(is).filter(|_| icmp.first() == Some(&reply))?;
        for ping in one.short.iter_mut().chain(&mut one.long).filter(|ping| ping.number == number) {
            ping.came = true;
        }
        one.status.answered = Some(now);
        one.status.round_trip = Some(now.saturating_sub(one.sent).as_secs_f64());
        if one.short.is_some_and(|ping| ping.number == number) {
            one.missed = 0;
            self.events.extend(one.turns(now, true));
        }
        Some(())
    }
}

impl One {
    /// It begins to answer, or ends. What there is to say of that.
    fn turns(&mut self, now: Duration, up: bool) -> Option<String> {
        if self.status.up.replace(up) == Some(up) {
            return None;
        }
        self.status.since = Some(now);
        let does = if up { "answers" } else { "does not answer" };
        Some(format!("peer {} {does} at {}", self.peer, self.with.to))
    }

    /// A ping whose packet inside has so many bytes.
    fn ping(&mut self, bytes: u16, mut buffer: Buffer) -> Option<Buffer> {
        self.number = self.number.wrapping_add(1);
        let header = if self.with.to.is_ipv4() { 20 } else { 40 };
        let mut payload = self.cookie.to_vec();
        payload.resize(usize::from(bytes).saturating_sub(header + ECHO).max(payload.len()), 0);
        let id = u16::from_be_bytes([self.cookie[0], self.cookie[1]]);
        let mut packet = Vec::new();
        let written = match (self.with.from, self.with.to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => PacketBuilder::ipv4(from.octets(), to.octets(), 64)
                .icmpv4_echo_request(id, self.number)
                .write(&mut packet, &payload),
            (IpAddr::V6(from), IpAddr::V6(to)) => PacketBuilder::ipv6(from.octets(), to.octets(), 64)
                .icmpv6_echo_request(id, self.number)
                .write(&mut packet, &payload),
            _ => return None,
        };
        written.ok()?;
        buffer.extend_from_slice(&packet);
        Some(buffer)
    }
}

impl Core {
    /// Looks at what became of the last pings and sends the next ones, where that is due.
    pub(super) fn check_peers(&mut self, now: Duration) {
        if self.checks.timeout().is_none_or(|due| now < due) {
            return;
        }
        for at in 0..self.checks.all.len() {
            if self.checks.all[at].due <= now {
                self.look(now, at);
                self.ping(now, at);
            }
        }
    }

    fn look(&mut self, now: Duration, at: usize) {
        let one = &mut self.checks.all[at];
        let (Some(short), long) = (one.short.take(), one.long.take()) else { return };
        if !short.came {
            one.missed += 1;
            if one.missed >= MISSED {
                let event = one.turns(now, false);
                self.checks.events.extend(event);
            }
            return;
        }
        // A long one that is lost says something beside a short one that is answered.
        let Some(long) = long else { return };
        let (peer, tried) = (one.peer, one.search.trying());
        let found = one.search.tried(now, long.came);
        let most = match found {
            Found::Nothing => return,
            Found::Through(all) => {
                one.status.longest = Some(tried);
                (long.outer, all)
            }
            Found::Swallowed => {
                one.status.longest = None;
                let v6 = self.peers.endpoint(peer).map_or(peer.is_ipv6(), |at| at.is_ipv6());
                let shortest = if v6 { SHORTEST_V6 } else { SHORTEST };
                self.counters.path_mtu_swallowed += 1;
                let event = format!(
                    "long packets to peer {peer} are swallowed on their way: finding out how long they may be"
                );
                self.checks.events.push_back(event);
                match self.encapsulation {
                    Encapsulation::Udp => (shortest - 8, false),
                    Encapsulation::None => (shortest, false),
                }
            }
        };
        self.believe(now, peer, most);
    }

    /// Packets of an end's SAs may be so long; or there is no limit, and one that is known and not beyond it is none.
    fn believe(&mut self, now: Duration, peer: IpAddr, (most, all): (u16, bool)) {
        for id in self.plane.outbound_to(peer) {
            let before = self.plane.replace_path(id, Some((most, now + BELIEVED)));
            if all {
                self.plane.replace_path(id, before.filter(|(known, _)| *known > most));
            }
        }
    }

    fn ping(&mut self, now: Duration, at: usize) {
        // Only the ping is risked: what is known of the way holds for all others.
        let One { peer, with: Check { if_id, .. }, .. } = self.checks.all[at];
        let ids = self.plane.outbound_to(peer);
        let known: Vec<_> = ids.into_iter().map(|id| (id, self.plane.replace_path(id, None))).collect();
        for long in [false, true] {
            let (buffer, token) =
                (self.buffer(), self.sources.put(Origin { source: None, at: now, seen: None }));
            let one = &mut self.checks.all[at];
            let bytes = if long { one.search.trying() } else { 64 };
            let Some(buffer) = one.ping(bytes, buffer) else { break };
            let ping = Some(Ping { number: one.number, token, outer: 0, came: false });
            if long {
                one.long = ping;
            } else {
                one.short = ping;
            }
            self.plane.ingest_from(now, if_id, [Packet { token, buffer }], |_, _| None);
        }
        for (id, path) in known {
            self.plane.replace_path(id, path);
        }
        let one = &mut self.checks.all[at];
        one.sent = now;
        let every = Duration::from_secs(one.with.interval.into());
        let round = one.status.round_trip.map_or(LATER, |trip| Duration::from_secs_f64(4.0 * trip));
        let busy = one.search.is_on() || one.status.up != Some(true);
        one.due = now + if busy { round.clamp(SOON, LATER).min(every) } else { every };
    }

    /// How it stands with the ends that are looked at.
    pub fn checks(&self) -> Vec<(IpAddr, CheckStatus<Duration>)> {
        self.checks.status()
    }
}
