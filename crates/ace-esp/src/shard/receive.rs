// SPDX-License-Identifier: Apache-2.0
//! ESP and AH for one of our ends, as far as the operation that checks them.

use ace_engine::Buffer;

use super::Shard;
use super::enter::{Departure, Stop};
use super::flight::Stage;
use crate::counters::Cause;
use crate::model::{Protocol, Time};
use crate::packet::ah::{self, AhHeader};
use crate::packet::envelope::Envelope;
use crate::packet::esp;
use crate::packet::ip::{self, Fragment, Ip, Version};
use crate::packet::trailer::EspHeader;
use crate::sad::association::Half;

impl Shard {
    /// RFC 4303, 3.4, and RFC 4302, 3.4, as far as the ICV.
    pub(super) fn receive(
        &mut self,
        now: Time,
        of: Protocol,
        ip: &Ip,
        buffer: &mut Buffer,
        kept: &mut Vec<u8>,
    ) -> Result<Departure, Stop> {
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
        let (bytes, action) = match of {
            Protocol::Esp => {
                let bytes = esp::enciphered_len(transform, buffer, at).map_err(|e| stop(e.into()))?;
                if esp::shifts(transform, fixed.esn) {
                    keep_before(buffer, at, kept);
                }
                let action = esp::open(transform, buffer, at, sequence, fixed.esn);
                (bytes, action.map_err(|error| stop(error.into()))?)
            }
            Protocol::Ah => {
                let (bytes, numbers) = (buffer.len(), (sequence, fixed.esn));
                let action = ah::open(transform, buffer, at, ip.version, numbers, kept).map_err(stop)?;
                (bytes, Some(action))
            }
        };
        if !transform.authenticates() {
            // No ICV will vouch for the packet: it counts from here.
            self.vouch(id, sequence, bytes, now).map_err(stop)?;
        }
        let stage = Stage::Open { envelope: Envelope::of(ip), sequence, bytes };
        Ok(Departure { sa: id, stage, action })
    }
}

/// The four bytes in front of ESP.
pub(super) fn keep_before(buffer: &Buffer, at: usize, kept: &mut Vec<u8>) {
    kept.clear();
    kept.extend_from_slice(buffer.get(at.saturating_sub(4)..at).unwrap_or_default());
}
