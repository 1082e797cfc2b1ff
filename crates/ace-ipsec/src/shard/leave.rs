// SPDX-License-Identifier: Apache-2.0
//! Packets on their way out: what is checked after the operation, counted, and put in order.

use ace_engine::{Buffer, Completion, EngineError};

use super::pending::{PendingPacket, Stage};
use super::{Event, Exit, Fate, How, Shard};
use crate::counters::Cause;
use crate::id::SaId;
use crate::model::{Protocol, Time};
use crate::packet::{ah, esp};
use crate::sad::association::{Association, Half};

impl Shard {
    /// A packet comes back from an engine.
    #[inline]
    pub(super) fn completed(&mut self, completion: Completion) {
        if let Some(entry) = self.pending.table.remove(completion.id, &mut self.kept) {
            self.finish(&entry, completion.buffer, completion.result);
        }
    }

    /// What is left to do when there is nothing to compute any more.
    pub(super) fn finish(
        &mut self,
        entry: &PendingPacket,
        mut buffer: Buffer,
        result: Result<(), EngineError>,
    ) {
        let PendingPacket { token, place, sa: slot, stage, .. } = *entry;
        let Some((id, sa)) = self.sad.at_mut(slot) else { return };
        let (if_id, mark) = (sa.fixed.if_id, sa.fixed.output_mark);
        let fate = result.map_err(engine_cause).and_then(|()| match stage {
            Stage::Seal => self.sealed(slot, &mut buffer, entry.envelope.at),
            Stage::Open => self.opened(id, &mut buffer, entry),
        });
        let fate = fate.unwrap_or_else(Fate::Dropped);
        let exit = Exit { token, buffer, sa: Some(id), if_id, mark, fate };
        self.count(&exit);
        if let Some((_, association)) = self.sad.at_mut(slot) {
            association.queue.leave(place, exit, |exit| self.exits.push_back(exit));
        }
        self.sad.tidy(slot);
    }

    fn sealed(&mut self, slot: u32, buffer: &mut Buffer, at: usize) -> Result<Fate, Cause> {
        let (_, sa) = self.sad.at_mut(slot).ok_or(Cause::NoSa)?;
        let transform = &sa.fixed.transform;
        match sa.fixed.protocol {
            Protocol::Ah => ah::sealed(transform, buffer, at, &self.kept),
            Protocol::Esp => unshift(sa, buffer, at, &self.kept),
        }
        Ok(Fate::ToOutside(How::Protected))
    }

    fn opened(&mut self, id: SaId, buffer: &mut Buffer, entry: &PendingPacket) -> Result<Fate, Cause> {
        let (now, envelope) = (self.now, &entry.envelope);
        let (_, sa) = self.sad.at_mut(id.slot()).ok_or(Cause::UnknownSpi)?;
        let authentic = sa.fixed.transform.authenticates();
        if authentic {
            // What is wrong inside a packet with a good ICV: the number is taken all the same.
            self.vouch(id, entry.sequence, entry.bytes, now)?;
        }
        let (_, sa) = self.sad.at_mut(id.slot()).ok_or(Cause::UnknownSpi)?;
        let (fixed, at) = (&*sa.fixed, envelope.at);
        let (payload, next_header) = match fixed.protocol {
            Protocol::Ah => {
                let (start, next_header) = ah::opened(&fixed.transform, buffer, at, &self.kept)?;
                (start..buffer.len(), next_header)
            }
            Protocol::Esp => {
                unshift(sa, buffer, at, &self.kept);
                let (end, next_header) = esp::finish(&fixed.transform, buffer, at)?;
                (at + fixed.transform.esp_header_len()..end, next_header)
            }
        };
        envelope
            .disclose(buffer, fixed.mode, &fixed.headers, payload, next_header, |flow| sa.lets_in(flow))?;
        Ok(Fate::ToInside(How::Decapsulated))
    }

    /// The packet is authentic: its number is taken and its bytes are charged.
    pub(super) fn vouch(&mut self, id: SaId, sequence: u64, bytes: usize, now: Time) -> Result<(), Cause> {
        let (_, sa) = self.sad.at_mut(id.slot()).ok_or(Cause::UnknownSpi)?;
        let Half::In(half) = &mut sa.half else { return Err(Cause::UnknownSpi) };
        let starts = half.usage.awaits_first_packet();
        let taken = half.vouched(sequence, bytes, now, |notice| self.events.push_back(Event::of(notice, id)));
        if starts {
            self.watch(id);
        }
        taken
    }

    /// A packet that was never under way.
    pub(super) fn exit(&mut self, exit: Exit) {
        self.count(&exit);
        self.exits.push_back(exit);
    }

    fn count(&mut self, exit: &Exit) {
        let len = exit.buffer.len();
        let sa = exit.sa.and_then(|id| self.sad.at_mut(id.slot())).map(|(_, sa)| &mut sa.counters);
        match exit.fate {
            Fate::Dropped(cause) => {
                self.counters.dropped.count(cause);
                if let Some(counters) = sa {
                    counters.dropped.count(cause);
                }
            }
            Fate::ToOutside(how) | Fate::ToInside(how) => {
                match how {
                    How::Protected => self.counters.protected.count(len),
                    How::Decapsulated => self.counters.decapsulated.count(len),
                    How::Bypassed => self.counters.bypassed.count(len),
                }
                if let Some(counters) = sa {
                    counters.forwarded.count(len);
                }
            }
        }
    }
}

/// Puts back what GMAC's operation wrote over.
fn unshift(sa: &Association, buffer: &mut Buffer, at: usize, kept: &[u8]) {
    if esp::shifts(&sa.fixed.transform, sa.fixed.esn)
        && let Ok(before) = kept.try_into()
    {
        esp::unshift(buffer, at, before);
    }
}

fn engine_cause(error: EngineError) -> Cause {
    match error {
        EngineError::Mismatch => Cause::IcvMismatch,
        EngineError::NoConfiguration { .. } => Cause::NoConfiguration,
        EngineError::LoadFailed { .. } => Cause::LoadFailed,
        EngineError::Overloaded => Cause::Overload,
        _ => Cause::EngineFailed,
    }
}
