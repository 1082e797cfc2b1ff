// SPDX-License-Identifier: Apache-2.0
//! Packets on their way in: whose they are, and what has to be computed for them.

use ace_engine::Buffer;

use super::pending::{PendingPacket, Stage};
use super::receive::keep_before;
use super::{Compute, Event, Exit, Fate, How, Packet, Shard};
use crate::counters::Cause;
use crate::id::SaId;
use crate::model::{Protocol, SaMode, Time};
use crate::packet::ah;
use crate::packet::envelope::{self, Enclose, Envelope};
use crate::packet::esp;
use crate::packet::ip::{self, Ip, Version};
use crate::packet::protocol;
use crate::sad::association::Half;
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

/// What becomes of a packet that nothing stops.
pub(super) enum Way {
    Bypass,
    /// With its operation, or already out.
    Taken,
}

impl Shard {
    pub(super) fn enter_inside(
        &mut self,
        now: Time,
        if_id: u32,
        mut packet: Packet,
        compute: &mut impl Compute,
    ) {
        let way = self.route_inside(now, if_id, &mut packet, compute);
        self.part(packet, if_id, way, Fate::ToOutside(How::Bypassed));
    }

    pub(super) fn enter_outside(&mut self, now: Time, mut packet: Packet, compute: &mut impl Compute) {
        let way = self.route_outside(now, &mut packet, compute);
        self.part(packet, 0, way, Fate::ToInside(How::Bypassed));
    }

    /// A packet that no operation keeps leaves.
    #[inline]
    fn part(&mut self, packet: Packet, if_id: u32, way: Result<Way, Stop>, bypassed: Fate) {
        let (sa, fate) = match way {
            Ok(Way::Taken) => return,
            Ok(Way::Bypass) => (None, bypassed),
            Err(Stop { cause, sa }) => (sa, Fate::Dropped(cause)),
        };
        self.exit(Exit { token: packet.token, buffer: packet.buffer, sa, if_id, mark: 0, fate });
    }

    /// RFC 4301, 5.1.
    #[inline]
    fn route_inside(
        &mut self,
        now: Time,
        if_id: u32,
        packet: &mut Packet,
        compute: &mut impl Compute,
    ) -> Result<Way, Stop> {
        let parsed = self.parse(&mut packet.buffer);
        let Some(ip) = &parsed else { return Err(Cause::MalformedPacket.into()) };
        let rule = match self.inside.decide(if_id, &ip.flow(&packet.buffer)) {
            Decision::Rule(rule) => rule,
            Decision::Unknown(rule) => {
                let sa = self.inside.at_mut(rule).and_then(|(_, entry)| entry.sas.last().copied());
                return Err(Stop { cause: Cause::PortsUnknown, sa });
            }
            Decision::Default => return by_default(self.inside.default),
        };
        let Self { inside, sad, .. } = self;
        let entry = inside.at_mut(rule).map(|(_, entry)| {
            let sa = match entry.choosy {
                false => entry.sas.last().copied(),
                true => {
                    let flow = ip.flow(&packet.buffer);
                    let fits = |id: &&SaId| sad.get(**id).is_some_and(|sa| sa.owns(&flow));
                    entry.sas.iter().rev().find(fits).copied()
                }
            };
            (entry.rule.treatment, sa)
        });
        match entry {
            Some((Treatment::Protect, Some(sa))) => match self.protect(sa, now, ip, packet, compute) {
                Ok(()) => Ok(Way::Taken),
                Err(cause) => Err(Stop { cause, sa: Some(sa) }),
            },
            Some((Treatment::Protect, None)) => {
                self.acquire(rule, ip.flow(&packet.buffer));
                Err(Cause::NoSa.into())
            }
            Some((Treatment::Bypass, _)) => Ok(Way::Bypass),
            Some((Treatment::Discard, _)) | None => Err(Cause::PolicyDiscard.into()),
        }
    }

    /// RFC 4301, 5.2.
    #[inline]
    fn route_outside(
        &mut self,
        now: Time,
        packet: &mut Packet,
        compute: &mut impl Compute,
    ) -> Result<Way, Stop> {
        let parsed = self.parse(&mut packet.buffer);
        let Some(ip) = &parsed else { return Err(Cause::MalformedPacket.into()) };
        if let Some(of) = self.for_us(ip) {
            return self.receive(now, of, ip, packet, compute).map(|()| Way::Taken);
        }
        match self.outside.decide(0, &ip.flow(&packet.buffer)) {
            Decision::Unknown(_) => Err(Cause::PortsUnknown.into()),
            Decision::Default => by_default(self.outside.default),
            Decision::Rule(rule) => match self.outside.at_mut(rule).map(|(_, entry)| entry.rule.treatment) {
                Some(Treatment::Bypass) => Ok(Way::Bypass),
                Some(Treatment::Protect) => Err(Cause::Unprotected.into()),
                Some(Treatment::Discard) | None => Err(Cause::PolicyDiscard.into()),
            },
        }
    }

    /// ESP or AH for one of our ends.
    #[inline]
    pub(super) fn for_us(&self, ip: &Ip) -> Option<Protocol> {
        let of = match ip.protocol? {
            protocol::ESP => Protocol::Esp,
            protocol::AH => Protocol::Ah,
            _ => return None,
        };
        self.sad.is_end(&ip.destination).then_some(of)
    }

    #[inline(always)]
    fn parse(&mut self, buffer: &mut Buffer) -> Option<Ip> {
        self.kept.clear();
        let parsed = ip::parse(buffer);
        if let Some(ip) = &parsed {
            buffer.truncate(ip.total_len);
        }
        self.counters.accepted.count(buffer.len());
        parsed
    }

    /// RFC 4303, 3.3, and RFC 4302, 3.3.
    #[inline]
    fn protect(
        &mut self,
        id: SaId,
        now: Time,
        ip: &Ip,
        packet: &mut Packet,
        compute: &mut impl Compute,
    ) -> Result<(), Cause> {
        let buffer = &mut packet.buffer;
        let sa = self.sad.get_mut(id).ok_or(Cause::NoSa)?;
        sa.counters.accepted.count(buffer.len());
        let fixed = &*sa.fixed;
        let transform = &fixed.transform;
        let path_mtu = sa.half.path_mtu(now);
        let mut plan = envelope::plan(fixed.mode, sa.local, ip, buffer, fixed.headers.tfc_padding)?;
        // Padding gives way before a packet does.
        if path_mtu.is_some_and(|most| plan.at + transform.sealed_len(plan.payload_len) > usize::from(most)) {
            plan = envelope::plan(fixed.mode, sa.local, ip, buffer, 0)?;
        }
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
        if let Some(most) = path_mtu
            && plan.is_too_long(fixed.mode, &fixed.headers, ip, sealed_len, most)
        {
            return Err(Cause::PathMtu);
        }
        let starts = half.shared.usage.awaits_first_packet();
        let ticket = half.depart(transform, bytes, now, self.ivs.as_mut(), |notice| {
            self.events.push_back(Event::of(notice, id));
        })?;
        let with = Enclose {
            mode: fixed.mode,
            protocol: fixed.protocol,
            local: &sa.local,
            remote: &sa.remote,
            headers: &fixed.headers,
            identification: self.identification,
            gap,
            sealed_len,
        };
        if fixed.mode == SaMode::Tunnel {
            // Never 0: a raw socket of Linux puts a number of its own in its place, and AH vouches for it.
            self.identification = self.identification.wrapping_add(1).max(1);
        }
        envelope::enclose(buffer, ip, &plan, &with)?;
        let mut entry = PendingPacket {
            token: packet.token,
            place: 0,
            sequence: ticket.sequence,
            bytes,
            envelope: Envelope::around(plan.at, version),
            sa: id.slot(),
            stage: Stage::Seal,
        };
        let Self { kept, pending, .. } = self;
        // Where there is nothing to compute, that is done.
        let mut done = Some(Ok(()));
        match fixed.protocol {
            Protocol::Esp => {
                if esp::shifts(transform, fixed.esn) {
                    keep_before(buffer, plan.at, kept);
                }
                let input = esp::SealInput {
                    spi: fixed.spi,
                    sequence: ticket.sequence,
                    esn: fixed.esn,
                    iv: ticket.iv.get(..transform.cipher.iv_len).unwrap_or_default(),
                    next_header: plan.next_header,
                    pad_len: None,
                };
                esp::seal(transform, buffer, plan.at, input, |buffer, action| {
                    entry.place = sa.queue.enter();
                    if let Some(action) = action {
                        done = compute(&action, buffer);
                        if done.is_none() {
                            pending.submit(entry, kept, buffer, action);
                        }
                    }
                })?;
            }
            Protocol::Ah => {
                let input = ah::SealInput {
                    spi: fixed.spi,
                    sequence: ticket.sequence,
                    esn: fixed.esn,
                    next_header: plan.next_header,
                    version,
                };
                let action = ah::seal(transform, buffer, plan.at, input, kept)?;
                entry.place = sa.queue.enter();
                done = compute(&action, buffer);
                if done.is_none() {
                    pending.submit(entry, kept, buffer, action);
                }
            }
        }
        if starts {
            self.watch(id);
        }
        if let Some(result) = done {
            self.finish(&entry, std::mem::take(&mut packet.buffer), result);
        }
        Ok(())
    }
}

fn by_default(policy: Policy) -> Result<Way, Stop> {
    match policy {
        Policy::Bypass => Ok(Way::Bypass),
        Policy::Discard => Err(Cause::PolicyDiscard.into()),
    }
}
