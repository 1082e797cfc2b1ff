// SPDX-License-Identifier: Apache-2.0
//! What the simulator is given, and what it says of it.

use ace_engine::ConfigurationId;

use crate::{Costs, Terms, Time};

/// Passes that a packet may need.
pub const PASSES: usize = 3;

/// What never happened.
pub const NEVER: Time = Time::MAX;

/// A packet and the time that each of its passes takes in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When the packet reaches the board's packet buffer, in the unit of the trace.
    pub arrival: Time,
    /// The packet's security association, as in [`crate::QueuedOp::flow`].
    pub flow: u32,
    /// Index into [`Trace::suites`].
    pub suite: u32,
    /// The packet's length in bytes.
    pub bytes: u32,
    /// Time of each pass in a slot; passes that the suite does not have are not looked at.
    pub costs: [Time; PASSES],
}

/// Packets in the order in which they arrive.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The passes of a packet, one after the other: configurations that serve it, the preferred one first. A pass
    /// without any is skipped.
    pub suites: Vec<Vec<Vec<ConfigurationId>>>,
    /// The packets, by arrival.
    pub packets: Vec<Packet>,
}

/// What becomes of packets that can no longer be in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// They are served all the same.
    Kept,
    /// The policies drop them ([`Outcome::dropped`]).
    Dropped,
}

/// Times of passes by packet of the trace: in a slot, and on the processor.
pub type Really<'a> = (&'a [[Time; PASSES]], &'a [[Time; PASSES]]);

/// What the processor has to do besides, where it is also that of the host: one thing at a time, as they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// For a packet, before its first pass. It takes one when it has done what it has, and packets wait for that.
    pub packet: Time,
    /// For an operation through a slot: half of it before the slot begins, half of it when the slot has answered.
    pub host: Time,
}

/// The board and its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Slots, or banks of them.
    pub slots: usize,
    /// Banks of a slot that share what works: 1 where each one works for itself.
    pub banks: usize,
    /// What loads cost.
    pub costs: &'a Costs,
    /// What the policies are told: latency bound, memory and shares.
    pub terms: Terms,
    /// What becomes of packets that can no longer be in time.
    pub late: Late,
    /// Of a processor beside the slots, that does one operation at a time: by packet of the trace, the time of its passes;
    /// [`NEVER`] where it cannot.
    pub cpu: Option<&'a [[Time; PASSES]]>,
    /// The processor is the host's as well, and has to do what only it can.
    pub core: Option<Core>,
    /// What passes really take in a slot and on the processor, by packet, where that is not what is said of them.
    pub really: Option<Really<'a>>,
    /// What an operation through a slot takes besides, as the policies know it; here it takes no time.
    pub aside: Time,
    /// At most so many packets are in the packet buffer at a time; one enters when another has left. For the policies a
    /// packet arrives when it enters.
    pub buffer: usize,
    /// A closed loop: so long after a packet has left, its flow sends one like it.
    pub again: Option<Time>,
    /// Nothing happens after this.
    pub stop: Time,
    /// Whether [`Outcome::loads`] and [`Outcome::starts`] are kept.
    pub log: bool,
}

impl<'a> Setup<'a> {
    /// Slots that work for themselves, an open loop without limits, everything logged.
    pub fn new(slots: usize, costs: &'a Costs, latency: Time) -> Self {
        Self {
            slots,
            banks: 1,
            costs,
            terms: Terms::new(latency, costs.load.iter().copied().max().unwrap_or(0)),
            late: Late::Kept,
            cpu: None,
            core: None,
            really: None,
            aside: 0,
            buffer: usize::MAX,
            again: None,
            stop: NEVER,
            log: true,
        }
    }
}

/// When and where one pass ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Index into the trace.
    pub packet: usize,
    /// Index into the packet's passes.
    pub pass: usize,
    /// The slot or bank, from 0; one behind the last is the processor.
    pub slot: usize,
    /// The configuration that did the pass; none for the processor.
    pub configuration: Option<ConfigurationId>,
    /// When the pass began.
    pub start: Time,
    /// When the pass ended.
    pub end: Time,
}

/// What became of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// When the last thing ended.
    pub total: Time,
    /// Sum of all loads.
    pub load: Time,
    /// The part of `load` during which no slot worked.
    pub exposed_load: Time,
    /// Of this, what belongs to the first load of each slot or bank.
    pub exposed_first: Time,
    /// Slot, configuration, start and end of each load.
    pub loads: Vec<(usize, ConfigurationId, Time, Time)>,
    /// How many loads there were, also where [`Setup::log`] is off.
    pub load_count: usize,
    /// In the order in which they started.
    pub starts: Vec<Start>,
    /// How many passes started, also where [`Setup::log`] is off.
    pub start_count: usize,
    /// Passes that the processor did; in `starts` as in the slot behind the last one.
    pub computed: usize,
    /// Passes that found their configuration there: not the first one after a load.
    pub reused: usize,
    /// When each packet left; [`NEVER`] for those that did not. In a closed loop those that followed are behind the
    /// trace's.
    pub left: Vec<Time>,
    /// Those that followed in a closed loop: the packet that each one is like, and its arrival.
    pub followed: Vec<(usize, Time)>,
    /// Packets that the policy gave up as late.
    pub dropped: usize,
    /// Passes that never ran: every slot lost, nothing serves them, or the time was over.
    pub unserved: usize,
    /// Decisions that the policy was asked for.
    pub decisions: u64,
}
