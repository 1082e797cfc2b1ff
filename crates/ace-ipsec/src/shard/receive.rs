// SPDX-License-Identifier: Apache-2.0
//! ESP and AH for one of our ends, as far as the operation that checks them.

use ace_engine::Buffer;

use super::enter::Stop;
use super::pending::{PendingPacket, Stage};
use super::{Compute, Packet, Shard};
use crate::counters::Cause;
use crate::id::SaId;
use crate::model::{Protocol, Time};
use crate::packet::ah::{self, AhHeader};
use crate::packet::envelope::Envelope;
use crate::packet::esp;
use crate::packet::ip::{self, Fragment, Ip, Version};
use crate::packet::trailer::EspHeader;
use crate::sad::association::Half;

impl Shard {
    /// RFC 4303, 3.4, and RFC 4302, 3.4, as far as the ICV.
    #[inline]
    pub(super) fn receive(
        &mut self,
        now: Time,
        of: Protocol,
        ip: &Ip,
        packet: &mut Packet,
        compute: &mut impl Compute,
    ) -> Result<(), Stop> {
        let buffer = &mut packet.buffer;
        if ip.fragment != Fragment::Whole {
            return Err(Cause::EspFragment.into());
        }
        let at = ip.upper.at;
        let header = buffer.get(at..).unwrap_or_default();
        let (spi, low) = match of {
            Protocol::Esp => EspHeader::parse(header).map(|header| (header.spi, header.sequence)),
            Protocol::Ah => AhHeader::parse(header).map(|header| (header.spi, header.sequence)),
        }
        .ok_or(if of == Protocol::Esp { Cause::EspTooShort } else { Cause::BadAh })?;
        let slot = self.sad.find(ip.destination, of, spi).ok_or(Cause::UnknownSpi)?;
        let (id, sa) = self.sad.at_mut(slot).ok_or(Cause::UnknownSpi)?;
        sa.counters.accepted.count(buffer.len());
        let stop = |cause| Stop { cause, sa: Some(id) };
        if ip.version == Version::V4 && buffer.get(..at).is_none_or(|header| ip::checksum(header) != 0) {
            return Err(stop(Cause::BadIpChecksum));
        }
        let fixed = &*sa.fixed;
        let transform = &fixed.transform;
        let Half::In(half) = &mut sa.half else { return Err(Cause::UnknownSpi.into()) };
        let sequence = half.arrive(low).map_err(stop)?;
        let mut entry = PendingPacket {
            token: packet.token,
            place: 0,
            sequence,
            bytes: buffer.len(),
            envelope: Envelope::of(ip),
            sa: slot,
            stage: Stage::Open,
        };
        if of == Protocol::Esp {
            entry.bytes = esp::enciphered_len(transform, buffer, at).map_err(|e| stop(e.into()))?;
        }
        if !transform.authenticates() {
            // No ICV will vouch for the packet: it counts from here.
            return self.receive_unvouched(now, id, entry, packet, compute);
        }
        let Self { kept, pending, .. } = self;
        let mut done = None;
        match of {
            Protocol::Esp => {
                if esp::shifts(transform, fixed.esn) {
                    keep_before(buffer, at, kept);
                }
                let opened = esp::open(transform, buffer, at, sequence, fixed.esn, |buffer, action| {
                    if let Some(action) = action {
                        entry.place = sa.queue.enter();
                        done = compute(&action, buffer);
                        if done.is_none() {
                            pending.submit(entry, kept, buffer, action);
                        }
                    }
                });
                opened.map_err(|error| stop(error.into()))?;
            }
            Protocol::Ah => {
                let numbers = (sequence, fixed.esn);
                let action = ah::open(transform, buffer, at, ip.version, numbers, kept).map_err(stop)?;
                entry.place = sa.queue.enter();
                done = compute(&action, buffer);
                if done.is_none() {
                    pending.submit(entry, kept, buffer, action);
                }
            }
        }
        if let Some(result) = done {
            self.finish(&entry, std::mem::take(&mut packet.buffer), result);
        }
        Ok(())
    }

    /// ESP without authentication. There may be nothing to compute.
    fn receive_unvouched(
        &mut self,
        now: Time,
        id: SaId,
        mut entry: PendingPacket,
        packet: &mut Packet,
        compute: &mut impl Compute,
    ) -> Result<(), Stop> {
        let stop = |cause| Stop { cause, sa: Some(id) };
        let at = entry.envelope.at;
        let (_, sa) = self.sad.at_mut(entry.sa).ok_or(Cause::UnknownSpi)?;
        let (transform, esn, mut action) = (&sa.fixed.transform, sa.fixed.esn, None);
        let opened =
            esp::open(transform, &mut packet.buffer, at, entry.sequence, esn, |_, some| action = some);
        opened.map_err(|error| stop(error.into()))?;
        self.vouch(id, entry.sequence, entry.bytes, now).map_err(stop)?;
        let (_, sa) = self.sad.at_mut(entry.sa).ok_or(Cause::UnknownSpi)?;
        entry.place = sa.queue.enter();
        // Where there is nothing to compute, that is done.
        let done = action.as_ref().map_or(Some(Ok(())), |action| compute(action, &mut packet.buffer));
        match (done, action) {
            (None, Some(action)) => {
                self.pending.submit(entry, &mut self.kept, &mut packet.buffer, action);
            }
            (done, _) => {
                self.finish(&entry, std::mem::take(&mut packet.buffer), done.unwrap_or(Ok(())));
            }
        }
        Ok(())
    }
}

/// The four bytes in front of ESP.
pub(super) fn keep_before(buffer: &Buffer, at: usize, kept: &mut Vec<u8>) {
    kept.clear();
    kept.extend_from_slice(buffer.get(at.saturating_sub(4)..at).unwrap_or_default());
}
