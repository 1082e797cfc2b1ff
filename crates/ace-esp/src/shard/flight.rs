// SPDX-License-Identifier: Apache-2.0
//! Packets whose operation is under way.

use ace_engine::JobId;

use crate::packet::envelope::Envelope;

/// What is to be done with a packet when its operation is complete.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Everything is in its place but, for AH, headers and ICV.
    Seal {
        at: usize,
    },
    Open {
        envelope: Envelope,
        sequence: u64,
        bytes: usize,
    },
}

/// A packet whose buffer is with an engine.
#[derive(Debug)]
pub struct Flight {
    pub token: u64,
    /// The place of its SA, which stays as long as the packet is under way.
    pub sa: u32,
    /// Among the packets of its SA.
    pub place: u64,
    pub stage: Stage,
}

#[derive(Debug, Default)]
struct Seat {
    /// How often it was used, so that no completion is taken twice.
    turn: u32,
    flight: Option<Flight>,
    /// Bytes to be put back. The memory stays with the seat.
    kept: Vec<u8>,
}

/// Seats are used again: a plane with so many packets under way allocates nothing.
#[derive(Debug, Default)]
pub struct Flights {
    seats: Vec<Seat>,
    free: Vec<u32>,
}

impl Flights {
    /// `kept` is swapped for memory to be used for the next packet.
    pub fn board(&mut self, flight: Flight, kept: &mut Vec<u8>) -> JobId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.seats.push(Seat::default());
            // 2^32 packets at once do not fit into memory.
            (self.seats.len() - 1) as u32
        });
        let Some(seat) = self.seats.get_mut(index as usize) else { return JobId::MAX };
        seat.flight = Some(flight);
        std::mem::swap(&mut seat.kept, kept);
        JobId::from(seat.turn) << 32 | JobId::from(index)
    }

    /// `None` if there is no such job, or its packet has landed already. `kept` gets what was kept.
    pub fn land(&mut self, id: JobId, kept: &mut Vec<u8>) -> Option<Flight> {
        let (turn, index) = ((id >> 32) as u32, id as u32);
        let seat = self.seats.get_mut(index as usize).filter(|seat| seat.turn == turn)?;
        let flight = seat.flight.take()?;
        std::mem::swap(&mut seat.kept, kept);
        seat.kept.clear();
        seat.turn = seat.turn.wrapping_add(1);
        self.free.push(index);
        Some(flight)
    }

    pub fn len(&self) -> usize {
        self.seats.len() - self.free.len()
    }
}
