// SPDX-License-Identifier: Apache-2.0
//! What a board does and what happens to it: loads, transfers, executions.

use ace_engine::{ConfigurationId, Engine, EngineError, SlotFailure};

use crate::board::Board;
use crate::catalogue::{Source, Unsigned};
use crate::config::{SlotKind, clocks_time};
use crate::execution::Execution;
use crate::link::Way;
use crate::parts::{Event, LoadError, LoadOutcome};
use crate::pass;
use crate::port::{self, Refused, Written};
use crate::slot::{Flight, HeldKey, Holds, Slot, Stage};
use crate::trace::{Picos, What};
use crate::worker::{Failure, Request};

/// So many times in a row a configuration may leave its slot silent before it is not tried again.
const CONFIGURATION_HANGS: u32 = 2;
/// So many times in a row a slot may be silent before it is not used again.
const SLOT_HANGS: u32 = 3;

impl Board {
    /// Starts a load. The bits are written now; on the virtual clock the port is busy for as long as the bytes
    /// take.
    pub(crate) fn load(&mut self, slot: usize, configuration: ConfigurationId) {
        let timeout = self.config.load_timeout();
        let wanted = &self.catalogue.configurations[configuration];
        let source = self.catalogue.source(wanted);
        if let Ok(Source::Set(signed)) = source {
            let written = match signed {
                Some(set) => Ok(Written { memory: *set.digest(), bytes: set.bytes().len() as u64 }),
                None => port::set(wanted),
            };
            self.load_set(slot, configuration, written);
            return;
        }
        let from_build = matches!(source, Ok(Source::Build));
        let resident = self.slots[slot].configuration().map(|c| &self.catalogue.configurations[c]);
        let written = match source {
            Err(why) => Err(Refused { reason: why.to_string(), bytes: 0, not_done: false }),
            Ok(Source::Library(store)) => {
                let over = self.catalogue.remade(&self.config, store, resident);
                store.write(over.map(|c| c.name.as_str()), &wanted.name, self.port.device)
            }
            Ok(Source::Build | Source::Set(_)) => port::write(wanted, self.port.device),
        };
        let (bytes, mut time, mut result) = match written {
            Err(refused) => {
                let wait = if refused.not_done { timeout } else { 0 };
                let bytes = refused.bytes;
                (bytes, self.config.port_time(bytes).saturating_add(wait), Err(LoadError::Port(refused)))
            }
            Ok(written) => {
                // What the slot computes is decided by the bits in its memory, not by the file's name.
                let found = self.catalogue.configurations.position(|c| c.memory_sha256 == written.memory);
                let result = match found {
                    Some(found) if found == configuration || self.same_bits(found, configuration) => {
                        // Of what is in the memory now, whatever a manifest says of it.
                        let proven = match from_build && self.catalogue.unsigned != Unsigned::Unproven {
                            true => wanted.proven(&written.memory).map(drop),
                            false => Ok(()),
                        };
                        proven.map_err(LoadError::from).and_then(|()| {
                            self.port.source.open(wanted, self.port.models).map_err(LoadError::from)
                        })
                    }
                    Some(found) => Err(LoadError::BitsOf(self.catalogue.configurations[found].name.clone())),
                    None => Err(LoadError::UnknownBits),
                };
                (written.bytes, self.catalogue.load_time_over(&self.config, resident, wanted), result)
            }
        };
        if time > timeout && result.is_ok() {
            result = Err(LoadError::Slow { time, limit: timeout });
            time = timeout;
        }
        let ready_at = self.agenda.now.saturating_add(time);
        self.loading(slot, ready_at, LoadOutcome { start: self.agenda.now, bytes, configuration, result });
    }

    fn loading(&mut self, slot: usize, ready_at: Picos, outcome: LoadOutcome) {
        self.forget_other_keys(slot);
        let it = &mut self.slots[slot];
        it.worker.clear();
        it.forget_keys();
        it.passes_to.clear();
        it.holds = Holds::Loading { configuration: outcome.configuration, ready_at };
        self.port.loads.insert(slot, outcome);
        self.agenda.at(ready_at, Event::Loaded { slot });
    }

    /// Starts the load of a context set into a slot that holds the array: a frame on the slot's stream, which the slot
    /// itself takes or refuses. The link is busy for its bytes, and the slot for its clocks.
    fn load_set(&mut self, slot: usize, configuration: ConfigurationId, written: Result<Written, Refused>) {
        let wanted = &self.catalogue.configurations[configuration];
        let clock = wanted.clock_hz;
        let opened = match &written {
            Ok(_) => self.port.source.open(wanted, self.port.models).map_err(LoadError::from),
            Err(refused) => Err(refused.clone().into()),
        };
        let bytes = written.map_or(0, |written| written.bytes);
        let clocks = opened.as_ref().map_or(0, |model| model.loading());
        let host = self.host(self.config.send_time(bytes), slot, 0, true);
        let (start, end) = self.transfer(host, bytes + crate::frame::HEADER as u64, Way::ToSlot);
        let begins = start.saturating_add(self.config.link_first(bytes + crate::frame::HEADER as u64));
        let ready_at = end.max(begins.saturating_add(clocks_time(clocks, clock)));
        self.loading(
            slot,
            ready_at,
            LoadOutcome { start: self.agenda.now, bytes, configuration, result: opened },
        );
    }

    fn same_bits(&self, a: ConfigurationId, b: ConfigurationId) -> bool {
        let c = &self.catalogue.configurations;
        c[a].memory_sha256 == c[b].memory_sha256
    }

    pub(crate) fn loaded(&mut self, slot: usize) {
        let Some(LoadOutcome { start, bytes, configuration, result }) = self.port.loads.remove(&slot) else {
            return;
        };
        let refused = result.as_ref().err().map(ToString::to_string);
        self.log(start, self.agenda.now, slot, What::Load { configuration, bytes, refused });
        let it = &mut self.slots[slot];
        match result {
            Ok(model) => {
                (it.keys, it.passes_to) = (model.keys(), model.passes_to());
                it.worker.configure(model);
                it.holds = Holds::Configured { configuration };
                (it.last_used, it.since) = (self.agenda.now, self.agenda.now);
            }
            Err(why) => {
                it.holds = Holds::Nothing;
                self.refuse(configuration, why.to_string());
            }
        }
    }

    /// Sends an operation to a slot: over the link first, when the link is free.
    pub(crate) fn hand_over(&mut self, slot: usize, op: u64) {
        let Some(pending) = self.jobs.get(&op) else {
            self.queue.remove(op);
            return;
        };
        let operation = &pending.job.operation;
        let Some(task) = pass::task(pending) else {
            // What a slot cannot be asked for has no candidates: it was not in the queue.
            let need = pass::needs(&operation.action).0;
            self.queue.remove(op);
            self.answer(op, Err(EngineError::NoConfiguration { need }));
            return;
        };
        let job = pending.job.id;
        let then = self.follows(slot, op);
        let Some(cost) = self.queue.start(op, slot).map(|op| op.cost) else { return };
        let configuration = self.slots[slot].configuration().map(|c| &self.catalogue.configurations[c]);
        let (clock, in_flight) = configuration.map_or((1, 1), |c| (c.clock_hz, c.in_flight));
        // As many clocks as the slot's time-out has at this clock.
        let max_clocks = u128::from(self.config.slot_timeout()) * u128::from(clock) / 1_000_000_000_000;
        let it = &mut self.slots[slot];
        let key = HeldKey::of(&task.pass);
        let fresh_key = key.is_some() && key != it.key;
        if fresh_key {
            it.key = key;
            self.forget_key_of_other_banks(slot);
        }
        if fresh_key {
            self.forget_other_keys(slot);
        }
        let (mut bytes, expanded) = self.slots[slot].travels(&task, fresh_key);
        let then = then.map(|(place, then)| {
            bytes += self.join_tiles(slot, place, op, &task, &then);
            then
        });
        let joint = then.is_some();
        let waited = self.host_waits();
        let built = self.host(self.config.send_time(bytes), slot, job, true);
        let (start, end) = self.transfer(built, bytes, Way::ToSlot);
        let it = &mut self.slots.all[slot];
        self.slots.handovers += 1;
        let handover = self.slots.handovers;
        let max_clocks = u64::try_from(max_clocks).unwrap_or(u64::MAX).max(1);
        let mut request =
            Some(Request { task, fresh_key, tag: handover as u16, max_clocks, then: then.map(Box::new) });
        if in_flight == 1 {
            // What it will answer does not depend on what else arrives: the simulation starts now.
            it.worker.run(request.take().into_iter().collect());
        }
        let handed = self.agenda.now;
        let expected = it.flights.back().map_or(handed, |f| f.expected.max(handed)).saturating_add(cost);
        let stage = Stage::Coming;
        it.flights.push_back(Flight {
            op,
            request,
            handover,
            stage,
            handed,
            waited,
            expected,
            fresh_key,
            expanded,
            takes_result: false,
            joint,
        });
        self.log(start, end, slot, What::Request { job, bytes });
        self.agenda.at(end, Event::Arrived { slot, op, handover });
    }

    /// A key is the last one of all frames that a set answers, for every tile of the slot and also where the set of another
    /// bank answers them: frames for those have to bring theirs again.
    fn forget_key_of_other_banks(&mut self, slot: usize) {
        let set = |bank: &Slot| bank.configuration().map(|c| &self.catalogue.configurations[c]);
        let Some(own) = set(&self.slots[slot]) else { return };
        let alike = |bank: &usize| set(&self.slots[*bank]).is_some_and(|other| other.answers_like(own));
        let others: Vec<usize> = self.config.slot(slot).filter(|bank| *bank != slot).filter(alike).collect();
        for bank in others {
            self.slots[bank].key = None;
        }
    }

    pub(crate) fn arrived(&mut self, slot: usize, op: u64, handover: u64) {
        match self.slots[slot].flight(op) {
            Some(flight) if flight.handover == handover => flight.stage = Stage::Waiting,
            // It was taken back in the meantime.
            _ => return,
        }
        self.start_tile(slot);
    }

    /// Starts what has arrived in this slot or in another bank of its tile: what was handed over first goes first.
    fn start_tile(&mut self, slot: usize) {
        let mut all: Vec<usize> = self.config.tile(slot).collect();
        let waits = |bank: &usize| {
            let waiting = self.slots[*bank].flights.iter().filter(|f| f.stage == Stage::Waiting);
            waiting.map(|f| f.handed).min().unwrap_or(Picos::MAX)
        };
        all.sort_by_key(waits);
        for bank in all {
            self.start_next(bank);
        }
    }

    /// Starts what has arrived, if the slot has room and no other bank of its tile runs.
    fn start_next(&mut self, slot: usize) {
        let Some(configuration) = self.slots[slot].configuration() else { return };
        if self.config.tile(slot).any(|bank| bank != slot && self.slots[bank].runs()) {
            return;
        }
        let it = &self.slots[slot];
        let next = it.waiting().map(|f| f.op).next().filter(|_| !it.runs());
        if self.catalogue.configurations[configuration].in_flight > 1 {
            self.join(slot, configuration);
        } else if let Some(op) = next {
            self.start_alone(slot, configuration, op);
        }
    }

    /// Starts an operation that is alone in its slot until it is done. This is where the simulation's answer is waited for.
    pub(crate) fn start_alone(&mut self, slot: usize, configuration: ConfigurationId, op: u64) {
        self.queue.worked(configuration, op, 1);
        let clock = self.catalogue.configurations[configuration].clock_hz;
        let it = &mut self.slots[slot];
        let unsent = it.flight(op).and_then(|flight| {
            flight.stage = Stage::Running;
            flight.request.take()
        });
        if let Some(request) = unsent {
            it.worker.run(vec![request]);
        }
        let answer = it.worker.answer();
        let time = match answer.result {
            Err(Failure::Silent) => self.config.slot_timeout(),
            _ => clocks_time(answer.finished, clock),
        };
        let start = self.agenda.now + clocks_time(answer.finished.saturating_sub(answer.cycles), clock);
        self.slots.executions.insert((slot, op), Execution { start, answer });
        self.agenda.at(self.agenda.now.saturating_add(time), Event::Executed { slot, op });
    }

    pub(crate) fn executed(&mut self, slot: usize, op: u64) {
        let Some(Execution { start, answer }) = self.slots.executions.remove(&(slot, op)) else { return };
        let Some(configuration) = self.slots[slot].configuration() else { return };
        let fresh = self.part_tiles(op);
        let (other, fresh) = (fresh.map(|it| it.0), fresh.is_some_and(|it| it.1));
        let Some(pending) = self.jobs.get(&op) else { return };
        let job = pending.job.id;
        let (flow, packet, operation) = (pending.job.flow, pending.job.packet, pending.words.to_string());
        let data_bytes = pass::data_len(&pending.job.operation.action, pending.second) as u64;
        if let Err(Failure::Protocol(complaint)) = &answer.result {
            self.slots.complaints.insert(configuration, complaint.clone());
        }
        let result = answer.result.map_err(|failure| {
            let error = error(&failure, slot, configuration);
            (failure, error)
        });
        let cycles = if other.is_some() && result.is_ok() { answer.passed_on } else { answer.cycles };
        let what = What::Execute {
            configuration,
            job,
            flow,
            packet,
            operation,
            data_bytes,
            cycles,
            queued: pending.queued,
            fresh_key: self.slots[slot].flight(op).is_some_and(|f| f.fresh_key),
            error: result.as_ref().err().map(|(_, e)| self.explain(e)),
        };
        let mut end = self.agenda.now;
        if let (Some(place), Ok(_)) = (other, &result) {
            let clock = self.catalogue.configurations[configuration].clock_hz;
            end = end.min(start.saturating_add(clocks_time(answer.passed_on, clock)));
            self.log_joint(place, op, end, answer.cycles - cycles, fresh);
        }
        self.log(start, end, slot, what);
        self.slots[slot].last_used = self.agenda.now;
        match result {
            Ok(result) => {
                let expanded = self.slots[slot].flight(op).and_then(|f| f.expanded);
                self.keys.count(expanded);
                self.slots[slot].hangs = 0;
                self.slots.hangs.remove(&configuration);
                self.send_back(slot, op, answer.response_bytes, result.ok_or(EngineError::Mismatch));
            }
            Err((failure, error)) => {
                self.agenda.ask = true;
                // The slot may have kept another key than the frames behind this one count on: they are sent
                // again, with their keys. What has overtaken it and is on its way back is good.
                let behind = self.slots[slot].flights.iter().skip_while(|f| f.op != op).skip(1);
                let behind: Vec<u64> = behind.filter(|f| f.stage != Stage::Leaving).map(|f| f.op).collect();
                for other in behind {
                    if self.part_tiles(other).is_some()
                        && let Some(pending) = self.jobs.get_mut(&other)
                    {
                        pending.joint = None;
                    }
                    let taken = self.slots[slot].take(other);
                    let answered = self.slots.executions.remove(&(slot, other)).is_some();
                    if !answered && taken.is_some_and(|f| f.request.is_none()) {
                        self.slots[slot].worker.answer();
                    }
                    self.queue.put_back(other);
                }
                self.slots[slot].forget_keys();
                match failure {
                    Failure::Status(_) => {
                        self.slots[slot].hangs = 0;
                        self.slots[slot].worker.resume();
                        self.send_back(slot, op, answer.response_bytes, Err(error));
                    }
                    Failure::Silent | Failure::Protocol(_) | Failure::Flushed => {
                        self.slots[slot].take(op);
                        self.answer(op, Err(error));
                        self.out_of_order(slot, configuration);
                    }
                }
            }
        }
        if !self.slots[slot].runs() {
            self.slots[slot].batch = None;
        }
        self.start_tile(slot);
        if let Some(place) = other {
            self.agenda.ask = true;
            self.start_tile(place);
        }
    }

    /// A slot that does not do what a slot does is reset and loses its configuration.
    fn out_of_order(&mut self, slot: usize, configuration: ConfigurationId) {
        let it = &mut self.slots[slot];
        it.worker.clear();
        it.hangs += 1;
        it.holds = if it.hangs >= SLOT_HANGS { Holds::Failed } else { Holds::Nothing };
        self.log(self.agenda.now, self.agenda.now, slot, What::Reset);
        let hangs = self.slots.hangs.entry(configuration).or_default();
        *hangs += 1;
        if *hangs >= CONFIGURATION_HANGS {
            let reason = format!("it left its slot without a proper answer {hangs} times in a row");
            self.refuse(configuration, reason);
        }
        self.give_up_kind(slot);
    }

    /// Of two kinds of slots one of which works no more: what only that could do has failed, and keeps no place in the buffer.
    fn give_up_kind(&mut self, slot: usize) {
        let kind = self.config.kind(slot);
        let own = |at: &usize| self.config.kind(*at) == kind;
        let left = (0..self.slots.len()).filter(own).any(|at| self.slots[at].holds != Holds::Failed);
        if left || !self.config.mixed() {
            return;
        }
        let sets = kind == SlotKind::Array;
        let all = self.catalogue.configurations.pairs().filter(|(_, one)| one.context_set == sets);
        for configuration in all.map(|(at, _)| at).collect::<Vec<_>>() {
            self.refuse(configuration, format!("no slot of kind \"{}\" works any more", kind.name()));
        }
    }

    /// Sends a response over the link, when the link is free.
    fn send_back(&mut self, slot: usize, op: u64, bytes: u64, result: Result<Vec<u8>, EngineError>) {
        let job = self.jobs.get(&op).map_or(0, |p| p.job.id);
        let waits = if self.config.host.polled { self.host_waits() } else { 0 };
        let (start, end) = self.transfer(self.agenda.now, bytes, Way::FromSlot);
        if let Some(flight) = self.slots[slot].flight(op) {
            flight.waited = flight.waited.saturating_add(waits);
            flight.stage = Stage::Leaving;
        }
        self.log(start, end, slot, What::Response { job, bytes });
        self.link.results.insert(op, (bytes, result));
        self.agenda.at(end, Event::Returned { slot, op });
    }

    pub(crate) fn returned(&mut self, slot: usize, op: u64) {
        let it = &mut self.slots[slot];
        if let Some(flight) = it.take(op) {
            let began = flight.handed.max(it.last_returned);
            it.last_returned = self.agenda.now;
            // Not what the slot has to do with: a processor that has other work would seem to be a slow slot.
            self.queue.took(op, (self.agenda.now - began).saturating_sub(flight.waited));
        }
        let job = self.jobs.get(&op).map_or(0, |p| p.job.id);
        let bytes = self.link.results.get(&op).map_or(0, |result| result.0);
        // The host takes two answers of a task of two passes.
        let answers = if self.jobs.get(&op).is_some_and(|pending| pending.joint.is_some()) { 2 } else { 1 };
        let taken = self.host(answers * self.config.notice_time(bytes), slot, job, false);
        self.agenda.at(taken, Event::Noticed { op });
    }

    pub(crate) fn noticed(&mut self, op: u64) {
        if let Some((_, result)) = self.link.results.remove(&op) {
            self.answer(op, result);
        }
    }
}

fn error(failure: &Failure, slot: usize, configuration: ConfigurationId) -> EngineError {
    let slot = u32::try_from(slot).unwrap_or(u32::MAX);
    let failed = |failure| EngineError::SlotFailed { slot, configuration, failure };
    match failure {
        Failure::Status(status) => EngineError::SlotStatus { slot, configuration, status: *status as u8 },
        Failure::Protocol(_) => failed(SlotFailure::Protocol),
        Failure::Silent => failed(SlotFailure::Silent),
        Failure::Flushed => failed(SlotFailure::Lost),
    }
}
