// SPDX-License-Identifier: Apache-2.0
//! The gateway without its devices: clear packets from inside, ESP and AH from outside, and what becomes of them.
//!
//! What has to be dropped is dropped here and counted by cause. Nothing leaves in clear: a packet that the data plane
//! would let pass as it came is dropped too, because whoever runs a gateway routes into it what has to be protected.

mod boundary;
mod can;
mod check;
mod counters;
mod encap;
mod homes;
mod interfaces;
mod leave;
mod path;
mod peers;
mod prints;
mod priorities;
mod search;
mod sources;
mod steer;
mod table;
mod traced;
mod wanted;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ace_config::gateway::Encapsulation;
use ace_engine::{Buffer, Completion, Engine};
use ace_ipsec::{Event, HEADROOM, IvSource, Outside, Packet, Policy, Remote, SaId, Shard};

use check::Checks;
use encap::Datagram;
use peers::Peers;
use sources::{Origin, Sources};
use table::Table;

use crate::record::{Recorder, Seen};
use crate::xfrm::{Change, Made, Messages, On, Xfrm};

pub use boundary::{Outgoing, Settings};
pub use can::{Can, marks};
pub use check::CheckStatus;
pub use counters::Counters;
pub use homes::{Divider, Division, Homes};
pub use interfaces::{Interface, Interfaces};
pub use path::TooBig;
pub use peers::PeerStatus;
pub use prints::{Print, Salt};
pub use steer::Steer;
pub use table::{CoreError, Reloaded, SaView};
pub use wanted::{Known, Wanted, WantedSa};

/// Other ends with their totals, those that policies name, and a count of rules without SA.
pub type Remotes = (HashMap<IpAddr, Remote>, BTreeSet<IpAddr>, usize);

/// The gateway.
pub struct Core {
    plane: Shard,
    engine: Box<dyn Engine + Send>,
    table: Table,
    peers: Peers,
    xfrm: Option<Xfrm>,
    encapsulation: Encapsulation,
    can: Can,
    now: Duration,
    sources: Sources,
    recorder: Option<Recorder>,
    traces: traced::Traces,
    checks: Checks,
    /// Packets that the engine will never answer.
    lost: usize,
    done: Vec<Completion>,
    outgoing: VecDeque<Outgoing>,
    /// Buffers to be used again.
    spare: Vec<Buffer>,
    counters: Counters,
    answers: path::Answers,
    /// Endpoints that moved, for those who have other SAs of the same peers.
    moves: Option<Vec<(IpAddr, SocketAddr)>>,
}

impl Core {
    /// Without SAs: everything is dropped.
    pub fn new(settings: Settings, engine: Box<dyn Engine + Send>, ivs: Box<dyn IvSource>) -> Self {
        let checks = Checks::new(&settings.peers, settings.mtu, &settings.interfaces);
        Self {
            plane: Shard::new(Policy::Discard, ivs),
            engine,
            table: Table::new(settings.keys.clone()),
            encapsulation: settings.encapsulation,
            can: Can::of(&settings),
            xfrm: settings.xfrm.map(|allow_legacy| {
                let made = Made { allow_legacy, mtu: settings.mtu, can: Can::of(&settings) };
                Xfrm::new(made, settings.keys.clone())
            }),
            peers: Peers::new(settings),
            now: Duration::ZERO,
            sources: Sources::default(),
            recorder: None,
            traces: traced::Traces::default(),
            checks,
            lost: 0,
            done: Vec::new(),
            outgoing: VecDeque::new(),
            spare: Vec::new(),
            counters: Counters::default(),
            answers: path::Answers::default(),
            moves: None,
        }
    }

    /// Makes the SAs those of a file. SAs that were there before and are in the file as they were stay as they are,
    /// with their numbers and windows.
    ///
    /// # Errors
    /// [`CoreError`]; nothing has changed then, unless it is about an SA that takes over another one's SPI.
    pub fn load(&mut self, now: Duration, wanted: &Wanted) -> Result<Reloaded, CoreError> {
        wanted.check(&self.can)?;
        self.load_part(now, wanted, &wanted.sas.iter().collect::<Vec<_>>())
    }

    /// As [`Core::load`], with some of the SAs; peers are those of all of them. [`Wanted::check`] came before.
    ///
    /// # Errors
    /// As there.
    pub fn load_part(
        &mut self,
        now: Duration,
        wanted: &Wanted,
        part: &[&WantedSa],
    ) -> Result<Reloaded, CoreError> {
        self.work(now);
        let reloaded = self.table.load(&mut self.plane, self.engine.as_ref(), now, part)?;
        let by_xfrm = self.xfrm.iter().flat_map(Xfrm::remotes);
        self.peers.keep(wanted.remotes.iter().copied().chain(by_xfrm), now);
        Ok(reloaded)
    }

    /// Which SAs are there, and whether the others could be loaded, as far as that can be told without doing it.
    ///
    /// # Errors
    /// As [`Core::load`].
    pub fn check(&self, part: &[&WantedSa]) -> Result<Vec<bool>, CoreError> {
        let found = self.table.check(part, self.engine.as_ref())?;
        Ok(found.iter().map(Option::is_some).collect())
    }

    /// SAs of the file that are installed.
    pub fn file_count(&self) -> usize {
        self.table.len()
    }

    /// From now on [`Core::poll_move`] says which endpoints have moved.
    pub fn tell_moves(&mut self) {
        self.moves = Some(Vec::new());
    }

    /// A peer that has moved, and where it is.
    pub fn poll_move(&mut self) -> Option<(IpAddr, SocketAddr)> {
        self.moves.as_mut()?.pop()
    }

    /// Another core has it from an authentic packet that a peer has moved.
    pub fn moved(&mut self, peer: IpAddr, endpoint: SocketAddr) {
        self.peers.move_to(peer, endpoint);
    }

    /// Answers netlink requests of XFRM, as datagrams. `is_local` tells whether an address is this machine's.
    pub fn xfrm(
        &mut self,
        now: Duration,
        datagram: &[u8],
        is_local: &dyn Fn(IpAddr) -> bool,
    ) -> Vec<Messages> {
        // What is still under way leaves under the SA that it came under.
        self.work(now);
        let Self { xfrm: Some(xfrm), plane, engine, table, peers, .. } = self else { return Vec::new() };
        let taken = |spi| table.ends(spi).is_some();
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let engine = engine.as_ref();
        let mut on = On { plane, engine, now, wall, is_local, taken: &taken };
        let answers = xfrm.handle(&mut on, datagram);
        for change in xfrm.changes() {
            match change {
                Change::Reaches(remote, port) => peers.add(remote, port, now),
                Change::Leaves(remote) if table.outbound_remotes().all(|other| other != remote) => {
                    peers.remove(remote);
                }
                Change::Leaves(_) => {}
            }
        }
        answers
    }

    /// A message for those clients of XFRM that listen to a group.
    pub fn poll_notice(&mut self) -> Option<(u32, Messages)> {
        self.xfrm.as_mut()?.notice()
    }

    /// Records what comes and leaves from now on.
    pub fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// What records, if anything does. It is dropped when it has had its packets, after its lines are taken.
    pub fn recorder(&mut self) -> &mut Option<Recorder> {
        &mut self.recorder
    }

    /// A buffer with room in front.
    pub fn buffer(&mut self) -> Buffer {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.reset(HEADROOM);
        buffer
    }

    /// Takes a buffer to be used again.
    pub fn give_back(&mut self, buffer: Buffer) {
        // What a batch needs; more would be a burst's that is over.
        if self.spare.len() < 1024 {
            self.spare.push(buffer);
        }
    }

    /// A clear packet from inside, by the device of a number.
    pub fn from_inside(&mut self, now: Duration, if_id: u32, buffer: Buffer) {
        let token = match &self.recorder {
            None if !self.traces.is_on() => 0,
            _ => self.sources.put(Origin { source: None, at: now, seen: Seen::of(now, &buffer) }),
        };
        self.traces.arrive(token, true, &buffer);
        let Self { plane, engine, .. } = self;
        plane.ingest_from(now, if_id, [Packet { token, buffer }], |action, packet| {
            engine.at_once(action, packet)
        });
    }

    /// A datagram from the UDP socket, with DSCP and congestion mark of its IP header.
    pub fn from_udp(&mut self, now: Duration, source: SocketAddr, class: u8, mut buffer: Buffer) {
        match encap::classify(&buffer) {
            Datagram::Keepalive => self.counters.keepalives_received += 1,
            Datagram::Ike => self.counters.ike_ignored += 1,
            Datagram::Malformed => self.counters.datagrams_malformed += 1,
            Datagram::Esp { spi, sequence } => match self.ends(spi) {
                None => {
                    self.counters.datagrams_unknown_spi += 1;
                    self.traces.stranger(now, source, spi, sequence, buffer.len());
                }
                Some((local, remote)) => {
                    if encap::put_header(&mut buffer, local, remote, class) {
                        let token = self.sources.put(Origin {
                            source: Some((source, sequence)),
                            at: now,
                            seen: None,
                        });
                        self.traces.arrive(token, false, &buffer);
                        self.arrive(now, Packet { token, buffer });
                        return;
                    }
                    self.counters.datagrams_malformed += 1;
                }
            },
        }
        self.give_back(buffer);
    }

    fn arrive(&mut self, now: Duration, packet: Packet) {
        let Self { plane, engine, .. } = self;
        plane.ingest_by(now, Outside, [packet], |action, packet| engine.at_once(action, packet));
    }

    /// A whole IP packet with ESP or AH.
    pub fn from_raw(&mut self, now: Duration, buffer: Buffer) {
        let token = match &self.recorder {
            None if !self.traces.is_on() => 0,
            _ => self.sources.put(Origin { source: None, at: now, seen: None }),
        };
        self.traces.arrive(token, false, &buffer);
        self.arrive(now, Packet { token, buffer });
    }

    /// Computes what there is to compute at once; what an engine does elsewhere stays under way.
    pub fn work(&mut self, now: Duration) {
        self.now = self.now.max(now);
        loop {
            self.settle();
            self.engine.try_submit(self.plane.jobs());
            let away = self.engine.drain(&mut self.done);
            if self.done.is_empty() {
                if away == 0 && self.plane.jobs().is_empty() {
                    self.give_up();
                }
                return;
            }
            self.plane.complete(now, &mut self.done);
        }
    }

    /// Computes everything; afterwards nothing is under way. It waits for as much as an engine's queue holds.
    pub fn finish(&mut self, now: Duration) {
        self.work(now);
        while self.plane.in_flight() > self.lost {
            self.engine.try_submit(self.plane.jobs());
            self.engine.wait(&mut self.done);
            if self.done.is_empty() {
                return self.give_up();
            }
            self.plane.complete(now, &mut self.done);
            self.work(now);
        }
    }

    /// Nobody has what is still under way.
    fn give_up(&mut self) {
        let lost = self.plane.in_flight();
        self.counters.engine_lost += lost.saturating_sub(self.lost) as u64;
        self.lost = lost;
    }

    /// What has to be sent next.
    pub fn poll(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    /// The clock: lifetimes end, keepalives are due.
    pub fn tick(&mut self, now: Duration) {
        self.now = self.now.max(now);
        self.plane.tick(now);
        self.check_peers(now);
        if let Some(xfrm) = &mut self.xfrm {
            xfrm.tick(now, &mut self.plane);
        }
        for to in self.peers.due(now) {
            let mut payload = self.spare.pop().unwrap_or_default();
            payload.reset(0);
            payload.extend_from_slice(&[encap::KEEPALIVE]);
            self.counters.keepalives_sent += 1;
            self.outgoing.push_back(Outgoing::Udp { to, class: 0, whole: true, mark: 0, payload });
        }
    }

    /// When [`Core::tick`] is due.
    pub fn poll_timeout(&self) -> Option<Duration> {
        [self.plane.poll_timeout(), self.peers.timeout(), self.checks.timeout()].into_iter().flatten().min()
    }

    /// What happened to an SA, a sentence for people.
    pub fn poll_event(&mut self) -> Option<String> {
        if let Some(event) = self.checks.poll_event() {
            return Some(event);
        }
        let event = self.plane.poll_event()?;
        if let (Some(xfrm), Event::SoftLifetime { sa } | Event::HardLifetime { sa }) = (&mut self.xfrm, event)
        {
            let hard = matches!(event, Event::HardLifetime { .. });
            if xfrm.expired(&mut self.plane, sa, hard) {
                return Some(format!("an SA by XFRM is at its {} limit", if hard { "hard" } else { "soft" }));
            }
        }
        let (sa, what) = match event {
            Event::SoftLifetime { sa } => (sa, "is near the end of its lifetime"),
            Event::HardLifetime { sa } => (sa, "is at the end of its lifetime and carries nothing any more"),
            Event::SequenceExhausted { sa } => {
                (sa, "has used up its sequence numbers and carries nothing any more")
            }
            Event::Acquire { rule, flow } => {
                if let Some(xfrm) = &mut self.xfrm
                    && xfrm.acquire(self.now, rule, &flow)
                {
                    return Some(format!("an SA is asked for: {} -> {}", flow.source, flow.destination));
                }
                return Some("a packet has to be protected and there is no SA for it".to_owned());
            }
        };
        Some(format!("SA {} {what}", self.table.name(sa)))
    }

    fn ends(&self, spi: u32) -> Option<(IpAddr, IpAddr)> {
        self.table.ends(spi).or_else(|| self.xfrm.as_ref()?.ends(spi))
    }

    /// The remote end of an SA, if it authenticates.
    fn authentic(&self, sa: SaId) -> Option<IpAddr> {
        self.table.authentic(sa).or_else(|| self.xfrm.as_ref()?.authentic(sa))
    }

    /// Totals of the gateway.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Totals of the data plane.
    pub fn packets(&self) -> &ace_ipsec::Counters {
        self.plane.counters()
    }

    /// Every SA.
    pub fn sas(&self) -> Vec<SaView> {
        let mut all = self.table.view(&self.plane);
        let by_xfrm = self.xfrm.iter().flat_map(Xfrm::installed).filter_map(|(id, local, remote)| {
            let selector = "by policies".to_owned();
            Some(SaView { status: self.plane.sa(id)?, local, remote, selector })
        });
        all.extend(by_xfrm);
        all
    }

    /// Whether an SA has wanted the DSCP of what comes from outside.
    pub fn copies_class(&self) -> bool {
        self.plane.copies_class()
    }

    /// How many SAs are installed, from files and by XFRM.
    pub fn sa_count(&self) -> usize {
        self.table.len() + self.xfrm.as_ref().map_or(0, Xfrm::len)
    }

    /// The other ends of SAs, each with its endpoint.
    pub fn peers(&self) -> Vec<PeerStatus> {
        self.peers.status()
    }

    /// What went to and came from each other end, which ends policies name, and how many rules ask for an SA and have none.
    pub fn remotes(&self) -> Remotes {
        let wanted = self.xfrm.iter().flat_map(|xfrm| xfrm.wanted(&self.plane)).collect();
        (self.plane.remotes(), wanted, self.plane.unserved())
    }

    /// The name of what computes, as [`Engine::name`] has it.
    pub fn engine_name(&self) -> &'static str {
        self.engine.name()
    }
}

#[cfg(test)]
mod tests;
