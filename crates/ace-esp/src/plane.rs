// SPDX-License-Identifier: Apache-2.0
//! The data plane's state machine.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;

use ace_engine::{EngineError, Need, Operation};
use serde::Serialize;

use crate::association::Association;
use crate::counters::{Cause, Counters, SaCounters};
use crate::encapsulate::{Envelope, enclose};
use crate::iv::IvSource;
use crate::packet::{Open, OpenStage, OpenStep, PacketError, Seal, SealInput, SealStep};
use crate::sa_file::{Direction, Policy, SaFile, SaMode};
use crate::selector::Match;
use crate::wire::esp::EspHeader;
use crate::wire::ip::{self, Fragment, Ip, Version};
use crate::wire::protocol;

/// Which SA: its place in the file, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct SaId(pub u32);

/// How a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    Protected,
    Decapsulated,
    Bypassed,
}

/// What becomes of a packet.
#[derive(Debug)]
#[must_use]
pub enum Verdict {
    /// An operation has to be executed first.
    Work(Work),
    /// The packet leaves.
    Forward { packet: Vec<u8>, how: How, sa: Option<SaId> },
    /// The packet is gone, and counted.
    Dropped { cause: Cause, sa: Option<SaId> },
}

/// One operation to execute, and the packet that waits for it.
#[derive(Debug)]
pub struct Work {
    /// For the engine.
    pub operation: Operation,
    /// What the same packet will need afterwards, in order.
    pub then: Vec<Need>,
    /// The engine completes the jobs of one lane in order; one lane per SA.
    pub lane: u32,
    /// Goes to [`DataPlane::advance`] together with the result.
    pub pending: Pending,
}

/// A packet that waits for its operation. Dropping it loses the packet and nothing else.
#[derive(Debug)]
pub struct Pending {
    sa: SaId,
    stage: Box<Stage>,
}

#[derive(Debug)]
enum Stage {
    /// `header` is finished and goes in front.
    Seal {
        seal: Seal,
        header: Vec<u8>,
    },
    Open {
        open: Open,
        envelope: Envelope,
        sequence: u64,
        payload_len: usize,
    },
}

impl Pending {
    pub fn sa(&self) -> SaId {
        self.sa
    }
}

/// Something the owner of the data plane may want to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Once per SA: time to negotiate a successor.
    SoftLifetime { sa: SaId },
    /// Once per SA: it carries nothing any more.
    HardLifetime { sa: SaId },
    /// Once per SA: its sequence numbers are used up.
    SequenceExhausted { sa: SaId },
}

/// One SA as it stands.
#[derive(Clone, Debug, Serialize)]
pub struct SaStatus {
    pub id: SaId,
    pub name: String,
    pub spi: u32,
    pub direction: Direction,
    pub mode: SaMode,
    /// As in the SA file.
    pub cipher: &'static str,
    pub auth: &'static str,
    pub esn: bool,
    /// In packets; 0 when replays are not detected.
    pub replay_window: u32,
    /// Outbound: the last number sent; inbound: the highest authenticated one.
    pub sequence: u64,
    pub soft_lifetime_over: bool,
    pub hard_lifetime_over: bool,
    pub counters: SaCounters,
}

/// The data plane: SAs, their state, and the policy.
pub struct DataPlane {
    associations: Vec<Association>,
    /// Inbound SAs by destination and SPI.
    inbound: HashMap<(IpAddr, u32), usize>,
    /// Destinations of inbound SAs.
    ends: HashSet<IpAddr>,
    default_policy: Policy,
    ivs: Box<dyn IvSource>,
    /// Of outer IPv4 headers; one sequence for all SAs, because SAs may share addresses (RFC 6864).
    identification: u16,
    counters: Counters,
    events: VecDeque<Event>,
}

/// What stops a packet, and at which SA.
struct Stop {
    cause: Cause,
    sa: Option<usize>,
}

impl DataPlane {
    pub fn new(sas: SaFile, ivs: Box<dyn IvSource>) -> Self {
        let mut inbound = HashMap::new();
        let mut ends = HashSet::new();
        for (index, sa) in sas.sas.iter().enumerate() {
            if sa.direction == Direction::In {
                inbound.insert((sa.local, sa.spi), index);
                ends.insert(sa.local);
            }
        }
        Self {
            associations: sas.sas.into_iter().map(Association::new).collect(),
            inbound,
            ends,
            default_policy: sas.default_policy,
            ivs,
            identification: 0,
            counters: Counters::default(),
            events: VecDeque::new(),
        }
    }

    /// Takes one whole IPv4 or IPv6 packet without link header. Bytes behind the packet's own length are ignored.
    pub fn accept(&mut self, mut packet: Vec<u8>) -> Verdict {
        let parsed = ip::parse(&packet);
        packet.truncate(parsed.map_or(packet.len(), |ip| ip.total_len));
        self.counters.accepted.count(packet.len());
        let verdict = match parsed {
            None => Err(Stop { cause: Cause::MalformedPacket, sa: None }),
            Some(ip) => self.classify(&ip, packet),
        };
        self.settle(verdict)
    }

    /// Goes on with a packet whose operation was executed. A packet whose operation failed is dropped.
    pub fn advance(&mut self, pending: Pending, result: Result<Vec<u8>, EngineError>) -> Verdict {
        let index = pending.sa.0 as usize;
        let verdict = match result {
            Err(error) => Err(engine_cause(&error)),
            Ok(result) => match *pending.stage {
                Stage::Seal { seal, header } => {
                    seal.advance(result).map_err(Cause::from).map(|step| sealed(step, header, index))
                }
                Stage::Open { open, envelope, sequence, payload_len } => {
                    self.opening(index, open, envelope, sequence, payload_len, result)
                }
            },
        };
        self.settle(verdict.map_err(|cause| Stop { cause, sa: Some(index) }))
    }

    /// Every SA, in the order of the file.
    pub fn sas(&self) -> impl Iterator<Item = SaStatus> + '_ {
        self.associations.iter().enumerate().map(|(index, association)| association.status(id(index)))
    }

    /// Totals.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Finds out whose packet it is: ESP for one of our SAs, then the outbound selectors in the order of the
    /// file, then the inbound ones (what they cover must not arrive in clear), then the default.
    fn classify(&mut self, ip: &Ip, packet: Vec<u8>) -> Result<Verdict, Stop> {
        if ip.protocol == Some(protocol::ESP) && self.ends.contains(&ip.destination) {
            return self.receive(ip, packet);
        }
        for direction in [Direction::Out, Direction::In] {
            for (index, association) in self.associations.iter().enumerate() {
                if association.sa.direction != direction {
                    continue;
                }
                let sa = Some(index);
                match (association.sa.selector.matches(ip, &packet), direction) {
                    (Match::No, _) => {}
                    (Match::Unknown, _) => return Err(Stop { cause: Cause::PortsUnknown, sa }),
                    (Match::Yes, Direction::In) => return Err(Stop { cause: Cause::Unprotected, sa }),
                    (Match::Yes, Direction::Out) => {
                        return self.protect(index, ip, &packet).map_err(|cause| Stop { cause, sa });
                    }
                }
            }
        }
        match self.default_policy {
            Policy::Bypass => Ok(Verdict::Forward { packet, how: How::Bypassed, sa: None }),
            Policy::Discard => Err(Stop { cause: Cause::PolicyDiscard, sa: None }),
        }
    }

    /// RFC 4303, 3.3.
    fn protect(&mut self, index: usize, ip: &Ip, packet: &[u8]) -> Result<Verdict, Cause> {
        let association = self.associations.get_mut(index).ok_or(Cause::PolicyDiscard)?;
        association.counters.accepted.count(packet.len());
        let identification = self.identification;
        let transform = association.sa.transform.clone();
        let enclosed = enclose(&association.sa, ip, packet, |len| transform.sealed_len(len), identification)?;
        let ticket = association.depart(enclosed.payload.len(), self.ivs.as_mut(), |event| {
            self.events.push_back(event(id(index)));
        })?;
        if association.sa.mode == SaMode::Tunnel {
            self.identification = identification.wrapping_add(1);
        }
        let input = SealInput {
            spi: association.sa.spi,
            sequence: ticket.sequence as u32,
            sequence_high: association.sa.esn.then_some((ticket.sequence >> 32) as u32),
            iv: &ticket.iv,
            payload: enclosed.payload,
            next_header: enclosed.next_header,
            pad_len: None,
        };
        let step = Seal::begin(&transform, input)?;
        Ok(sealed(step, enclosed.header, index))
    }

    /// RFC 4303, 3.4, as far as the ICV.
    fn receive(&mut self, ip: &Ip, packet: Vec<u8>) -> Result<Verdict, Stop> {
        let nobody = |cause| Stop { cause, sa: None };
        if ip.fragment != Fragment::Whole {
            return Err(nobody(Cause::EspFragment));
        }
        let len = packet.len();
        let esp = packet.get(ip.upper.at..).unwrap_or_default();
        let header = EspHeader::parse(esp).ok_or(nobody(Cause::EspTooShort))?;
        let index = *self.inbound.get(&(ip.destination, header.spi)).ok_or(nobody(Cause::UnknownSpi))?;
        let association = self.associations.get_mut(index).ok_or(nobody(Cause::UnknownSpi))?;
        association.counters.accepted.count(len);
        let stop = |cause| Stop { cause, sa: Some(index) };
        if ip.version == Version::V4 && packet.get(..ip.upper.at).is_none_or(|h| ip::checksum(h) != 0) {
            return Err(stop(Cause::BadIpChecksum));
        }
        let sequence = association.arrive(header.sequence).map_err(stop)?;
        let transform = association.sa.transform.clone();
        let high = association.sa.esn.then_some((sequence >> 32) as u32);
        let (envelope, esp) = Envelope::split(ip, packet);
        let payload_len = transform.payload_len(esp.len());
        let step = Open::begin(&transform, esp, high).map_err(|error| stop(error.into()))?;
        if !transform.authenticates() {
            // No ICV will vouch for the packet: it counts from here.
            self.vouched(index, sequence, payload_len).map_err(stop)?;
        }
        self.opened(index, step, envelope, sequence, payload_len).map_err(stop)
    }

    /// Takes the result of an operation of a received packet.
    fn opening(
        &mut self,
        index: usize,
        open: Open,
        envelope: Envelope,
        sequence: u64,
        payload_len: usize,
        result: Vec<u8>,
    ) -> Result<Verdict, Cause> {
        let checks_icv = open.waits_for() == OpenStage::Icv;
        let step = match open.advance(result) {
            // What is wrong inside a packet with a good ICV: the number is taken all the same.
            Err(PacketError::BadPadding) if checks_icv => {
                self.vouched(index, sequence, payload_len)?;
                return Err(Cause::BadPadding);
            }
            step => step?,
        };
        if checks_icv {
            self.vouched(index, sequence, payload_len)?;
        }
        self.opened(index, step, envelope, sequence, payload_len)
    }

    /// The packet is authentic: its number is taken, unless another packet in flight took it first.
    fn vouched(&mut self, index: usize, sequence: u64, payload_len: usize) -> Result<(), Cause> {
        let association = self.associations.get_mut(index).ok_or(Cause::UnknownSpi)?;
        association.vouched(sequence, payload_len, |event| self.events.push_back(event(id(index))))
    }

    fn opened(
        &mut self,
        index: usize,
        step: OpenStep,
        envelope: Envelope,
        sequence: u64,
        payload_len: usize,
    ) -> Result<Verdict, Cause> {
        match step {
            OpenStep::Run(open, operation) => {
                let then = open.then();
                Ok(work(index, operation, then, Stage::Open { open, envelope, sequence, payload_len }))
            }
            OpenStep::Done(opened) => {
                let association = self.associations.get(index).ok_or(Cause::UnknownSpi)?;
                let packet = envelope.disclose(&association.sa, opened)?;
                Ok(Verdict::Forward { packet, how: How::Decapsulated, sa: Some(id(index)) })
            }
        }
    }

    /// Counts what becomes of a packet.
    fn settle(&mut self, verdict: Result<Verdict, Stop>) -> Verdict {
        let verdict = verdict.unwrap_or_else(|Stop { cause, sa }| Verdict::Dropped { cause, sa: sa.map(id) });
        match &verdict {
            Verdict::Work(_) => {}
            Verdict::Forward { packet, how, sa } => {
                match how {
                    How::Protected => self.counters.protected.count(packet.len()),
                    How::Decapsulated => self.counters.decapsulated.count(packet.len()),
                    How::Bypassed => self.counters.bypassed.count(packet.len()),
                }
                if let Some(association) = sa.and_then(|sa| self.associations.get_mut(sa.0 as usize)) {
                    association.counters.forwarded.count(packet.len());
                }
            }
            Verdict::Dropped { cause, sa } => {
                self.counters.dropped.count(*cause);
                if let Some(association) = sa.and_then(|sa| self.associations.get_mut(sa.0 as usize)) {
                    association.counters.dropped.count(*cause);
                }
            }
        }
        verdict
    }
}

fn id(index: usize) -> SaId {
    // An SA file with 2^32 SAs does not fit into memory.
    SaId(u32::try_from(index).unwrap_or(u32::MAX))
}

fn work(index: usize, operation: Operation, then: Vec<Need>, stage: Stage) -> Verdict {
    let sa = id(index);
    Verdict::Work(Work { operation, then, lane: sa.0, pending: Pending { sa, stage: Box::new(stage) } })
}

fn sealed(step: SealStep, mut header: Vec<u8>, index: usize) -> Verdict {
    match step {
        SealStep::Run(seal, operation) => {
            let then = seal.then();
            work(index, operation, then, Stage::Seal { seal, header })
        }
        SealStep::Done(mut esp) => {
            header.append(&mut esp);
            Verdict::Forward { packet: header, how: How::Protected, sa: Some(id(index)) }
        }
    }
}

fn engine_cause(error: &EngineError) -> Cause {
    match error {
        EngineError::NoConfiguration { .. } => Cause::NoConfiguration,
        EngineError::LoadFailed { .. } => Cause::LoadFailed,
        EngineError::SlotStatus { .. } | EngineError::SlotFailed { .. } | EngineError::Illegal(_) => {
            Cause::EngineFailed
        }
    }
}
