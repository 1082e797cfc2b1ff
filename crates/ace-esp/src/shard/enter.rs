// SPDX-License-Identifier: Apache-2.0
//! Packets on their way in: whose they are, and what has to be computed for them.

use ace_engine::{Action, Buffer, Job, Operation};

use super::flight::{Flight, Stage};
use super::receive::keep_before;
use super::{Event, Exit, Fate, How, Packet, Shard};
use crate::counters::Cause;
use crate::model::{Flow, Protocol, SaMode, Time};
use crate::packet::ah;
use crate::packet::envelope::{self, Enclose, Plan};
use crate::packet::esp;
use crate::packet::ip::{self, Ip, Version};
use crate::packet::protocol;
use crate::sad::association::Half;
use crate::sad::{SaId, Ticket};
use crate::spd::{Decision, Policy, Treatment};

/// What stops a packet, and at which SA.
pub(super) struct Stop {
    pub cause: Cause,
    pub sa: Option<SaId>,
}

impl From<Cause> for Stop {
    fn from(cause: Cause) -> Self {
        Stop { cause, sa: None }
    }
}

/// What has to be computed for a packet, and what then.
pub(super) struct Departure {
    pub sa: SaId,
    pub stage: Stage,
    pub action: Option<Action>,
}

/// What becomes of a packet.
enum Verdict {
    Bypass,
    Depart(Departure),
}

impl Shard {
    /// RFC 4301, 5.1.
    pub(crate) fn enter_inside(&mut self, now: Time, packet: Packet) {
        let Packet { token, mut buffer } = packet;
        let mut kept = std::mem::take(&mut self.kept);
        let verdict = self.parse(&mut buffer).map_err(Stop::from).and_then(|ip| {
            let decision = self.inside.decide(&Flow::of(&ip, &buffer));
            match decision {
                Decision::Rule(rule) => self.by_rule(rule, now, &ip, &mut buffer, &mut kept),
                Decision::Unknown(rule) => {
                    let sa = self.inside.at_mut(rule).and_then(|(_, entry)| entry.sas.last().copied());
                    Err(Stop { cause: Cause::PortsUnknown, sa })
                }
                Decision::Default => by_default(self.inside.default),
            }
        });
        self.go(token, buffer, verdict, Fate::ToOutside(How::Bypassed), &mut kept);
        self.kept = kept;
    }

    /// RFC 4301, 5.2.
    pub(crate) fn enter_outside(&mut self, now: Time, packet: Packet) {
        let Packet { token, mut buffer } = packet;
        let mut kept = std::mem::take(&mut self.kept);
        let verdict = self.parse(&mut buffer).map_err(Stop::from).and_then(|ip| {
            if let Some(of) = self.for_us(&ip) {
                return self.receive(now, of, &ip, &mut buffer, &mut kept).map(Verdict::Depart);
            }
            let decision = self.outside.decide(&Flow::of(&ip, &buffer));
            match decision {
                Decision::Unknown(_) => Err(Cause::PortsUnknown.into()),
                Decision::Default => by_default(self.outside.default),
                Decision::Rule(rule) => {
                    match self.outside.at_mut(rule).map(|(_, entry)| entry.rule.treatment) {
                        Some(Treatment::Bypass) => Ok(Verdict::Bypass),
                        Some(Treatment::Protect) => Err(Cause::Unprotected.into()),
                        Some(Treatment::Discard) | None => Err(Cause::PolicyDiscard.into()),
                    }
                }
            }
        });
        self.go(token, buffer, verdict, Fate::ToInside(How::Bypassed), &mut kept);
        self.kept = kept;
    }

    /// ESP or AH for one of our ends.
    pub(super) fn for_us(&self, ip: &Ip) -> Option<Protocol> {
        let of = match ip.protocol? {
            protocol::ESP => Protocol::Esp,
            protocol::AH => Protocol::Ah,
            _ => return None,
        };
        self.sad.is_end(&ip.destination).then_some(of)
    }

    fn parse(&mut self, buffer: &mut Buffer) -> Result<Ip, Cause> {
        let parsed = ip::parse(buffer);
        buffer.truncate(parsed.map_or(buffer.len(), |ip| ip.total_len));
        self.counters.accepted.count(buffer.len());
        parsed.ok_or(Cause::MalformedPacket)
    }

    fn by_rule(
        &mut self,
        rule: u32,
        now: Time,
        ip: &Ip,
        buffer: &mut Buffer,
        kept: &mut Vec<u8>,
    ) -> Result<Verdict, Stop> {
        let entry =
            self.inside.at_mut(rule).map(|(_, entry)| (entry.rule.treatment, entry.sas.last().copied()));
        match entry {
            Some((Treatment::Bypass, _)) => Ok(Verdict::Bypass),
            Some((Treatment::Discard, _)) | None => Err(Cause::PolicyDiscard.into()),
            Some((Treatment::Protect, None)) => {
                self.acquire(rule);
                Err(Cause::NoSa.into())
            }
            Some((Treatment::Protect, Some(sa))) => {
                let departure = self.protect(sa, now, ip, buffer, kept);
                departure.map(Verdict::Depart).map_err(|cause| Stop { cause, sa: Some(sa) })
            }
        }
    }

    /// RFC 4303, 3.3, and RFC 4302, 3.3.
    fn protect(
        &mut self,
        id: SaId,
        now: Time,
        ip: &Ip,
        buffer: &mut Buffer,
        kept: &mut Vec<u8>,
    ) -> Result<Departure, Cause> {
        let sa = self.sad.get_mut(id).ok_or(Cause::NoSa)?;
        sa.counters.accepted.count(buffer.len());
        let fixed = &*sa.fixed;
        let transform = &fixed.transform;
        let plan = envelope::plan(fixed.mode, sa.local, ip, buffer)?;
        let version = if sa.local.is_ipv4() { Version::V4 } else { Version::V6 };
        let (gap, sealed_len, bytes) = match fixed.protocol {
            Protocol::Esp => (
                transform.esp_header_len(),
                transform.sealed_len(plan.payload_len),
                transform.enciphered_len(plan.payload_len),
            ),
            Protocol::Ah => {
                let gap = ah::header_len(transform.icv_len, version);
                let sealed_len = gap + plan.payload_len;
                (gap, sealed_len, plan.at + sealed_len)
            }
        };
        if !plan.fits(fixed.mode, sa.local, ip, sealed_len) {
            return Err(Cause::TooBig);
        }
        let Half::Out(half) = &mut sa.half else { return Err(Cause::PolicyDiscard) };
        let starts = half.shared.usage.awaits_first_packet();
        let ticket = half.depart(transform, bytes, now, self.ivs.as_mut(), |notice| {
            self.events.push_back(Event::of(notice, id));
        })?;
        let with = Enclose {
            mode: fixed.mode,
            protocol: fixed.protocol,
            local: sa.local,
            remote: sa.remote,
            identification: self.identification,
            gap,
            sealed_len,
        };
        if fixed.mode == SaMode::Tunnel {
            self.identification = self.identification.wrapping_add(1);
        }
        envelope::enclose(buffer, ip, &plan, &with)?;
        let action = match fixed.protocol {
            Protocol::Esp => {
                if esp::shifts(transform, fixed.esn) {
                    keep_before(buffer, plan.at, kept);
                }
                seal_esp(fixed, buffer, &plan, &ticket)?
            }
            Protocol::Ah => {
                let input = ah::SealInput {
                    spi: fixed.spi,
                    sequence: ticket.sequence,
                    esn: fixed.esn,
                    next_header: plan.next_header,
                    version,
                };
                Some(ah::seal(transform, buffer, plan.at, input, kept)?)
            }
        };
        if starts {
            self.watch(id);
        }
        Ok(Departure { sa: id, stage: Stage::Seal { at: plan.at }, action })
    }

    /// Sends a packet on its way.
    fn go(
        &mut self,
        token: u64,
        buffer: Buffer,
        verdict: Result<Verdict, Stop>,
        bypassed: Fate,
        kept: &mut Vec<u8>,
    ) {
        let Departure { sa, stage, action } = match verdict {
            Ok(Verdict::Depart(departure)) => departure,
            Ok(Verdict::Bypass) => return self.exit(Exit { token, buffer, sa: None, fate: bypassed }),
            Err(Stop { cause, sa }) => {
                return self.exit(Exit { token, buffer, sa, fate: Fate::Dropped(cause) });
            }
        };
        let slot = sa.slot();
        let Some((_, association)) = self.sad.at_mut(slot) else { return };
        let flight = Flight { token, sa: slot, place: association.queue.enter(), stage };
        match action {
            Some(action) => {
                let id = self.flights.board(flight, kept);
                let operation = Operation { action, buffer };
                self.jobs.push_back(Job { id, lane: slot, packet: self.serial, operation });
                self.serial += 1;
            }
            None => self.finish(flight, buffer, Ok(()), kept),
        }
    }
}

fn by_default(policy: Policy) -> Result<Verdict, Stop> {
    match policy {
        Policy::Bypass => Ok(Verdict::Bypass),
        Policy::Discard => Err(Cause::PolicyDiscard.into()),
    }
}

fn seal_esp(
    fixed: &crate::sad::association::Fixed,
    buffer: &mut Buffer,
    plan: &Plan,
    ticket: &Ticket,
) -> Result<Option<Action>, Cause> {
    let input = esp::SealInput {
        spi: fixed.spi,
        sequence: ticket.sequence,
        esn: fixed.esn,
        iv: ticket.iv.get(..fixed.transform.cipher.iv_len).unwrap_or_default(),
        next_header: plan.next_header,
        pad_len: None,
    };
    Ok(esp::seal(&fixed.transform, buffer, plan.at, input)?)
}
