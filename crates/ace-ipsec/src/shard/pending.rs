// SPDX-License-Identifier: Apache-2.0
//! Packets whose operation is under way.

use std::collections::VecDeque;

use ace_engine::{Action, Buffer, Job, JobId, Operation};

use crate::packet::envelope::Envelope;

/// What is to be done with a packet when its operation is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Everything is in its place but, for AH, headers and ICV.
    Seal,
    Open,
}

/// A packet whose buffer is with an engine.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    pub token: u64,
    /// Among the packets of its SA.
    pub place: u64,
    pub sequence: u64,
    /// What its lifetime is charged with.
    pub bytes: usize,
    /// The headers in front of ESP or AH.
    pub envelope: Envelope,
    /// The place of its SA, which stays as long as the packet is under way.
    pub sa: u32,
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
    /// `kept`, if there is anything, is swapped for memory to be used for the next packet.
    #[inline]
    pub fn board(&mut self, flight: Flight, kept: &mut Vec<u8>) -> JobId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.seats.push(Seat::default());
            // 2^32 packets at once do not fit into memory.
            (self.seats.len() - 1) as u32
        });
        let Some(seat) = self.seats.get_mut(index as usize) else { return JobId::MAX };
        seat.flight = Some(flight);
        if !kept.is_empty() {
            std::mem::swap(&mut seat.kept, kept);
        }
        JobId::from(seat.turn) << 32 | JobId::from(index)
    }

    /// `None` if there is no such job, or its packet has landed already. `kept` gets what was kept.
    #[inline]
    pub fn land(&mut self, id: JobId, kept: &mut Vec<u8>) -> Option<Flight> {
        let (turn, index) = ((id >> 32) as u32, id as u32);
        let seat = self.seats.get_mut(index as usize).filter(|seat| seat.turn == turn)?;
        let flight = seat.flight?;
        seat.flight = None;
        kept.clear();
        if !seat.kept.is_empty() {
            std::mem::swap(&mut seat.kept, kept);
        }
        seat.turn = seat.turn.wrapping_add(1);
        self.free.push(index);
        Some(flight)
    }

    pub fn len(&self) -> usize {
        self.seats.len() - self.free.len()
    }
}

/// Where packets go on board.
#[derive(Debug, Default)]
pub struct Desk {
    pub flights: Flights,
    pub jobs: VecDeque<Job>,
    /// Of jobs, in the order in which packets came.
    serial: u64,
}

impl Desk {
    /// The buffer goes with its operation, and what was kept with the flight.
    // Inlined, the action is made in the queue: a copy of what was just written in parts waits for all of them.
    #[inline(always)]
    pub fn board(&mut self, flight: Flight, kept: &mut Vec<u8>, buffer: &mut Buffer, action: Action) {
        let id = self.flights.board(flight, kept);
        let operation = Operation { action, buffer: std::mem::take(buffer) };
        self.jobs.push_back(Job { id, lane: flight.sa, packet: self.serial, operation });
        self.serial += 1;
    }
}
