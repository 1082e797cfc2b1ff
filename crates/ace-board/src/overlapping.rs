// SPDX-License-Identifier: Apache-2.0
//! Slots that work on several frames at a time: frames join those that are being worked on, at the clock in which they have
//! arrived. What the clocks come to the simulation says, which is let go on from event to event and never beyond the earliest
//! instant at which another frame could arrive.

use ace_engine::ConfigurationId;

use crate::batch::{Batch, InBatch};
use crate::board::Board;
use crate::frame::HEADER;
use crate::parts::Event;
use crate::pass::Pass;
use crate::slot::Stage;
use crate::trace::Picos;
use crate::worker::{Answer, Failure, News, is_long};

impl Board {
    /// Lets what has arrived join what the slot works on, as far as there is room.
    pub(crate) fn join(&mut self, slot: usize, configuration: ConfigurationId) {
        let (clock_hz, in_flight) = {
            let c = &self.catalogue.configurations[configuration];
            (c.clock_hz, c.in_flight)
        };
        let it = &self.slots[slot];
        let running = it.runs();
        let inside = match &it.batch {
            // One that is alone.
            None if running => return,
            Some(batch) if batch.closed => return,
            batch => batch.as_ref().map_or(0, Batch::under_way),
        };
        // A tile that runs takes frames of its bank no more when one that came earlier waits for another bank.
        let turn = if running { self.waits_in_other_bank(slot) } else { None };
        let long =
            |op: &u64| it.flights.iter().any(|f| f.op == *op && f.request.as_ref().is_some_and(is_long));
        let ready = it.waiting().take_while(|f| turn.is_none_or(|turn| f.handover < turn)).map(|f| f.op);
        let mut ready: Vec<u64> = ready.take(it.room(in_flight).saturating_sub(inside)).collect();
        // A key that is hashed first takes two frames, of which the second needs the answer of the first.
        match ready.iter().position(long) {
            Some(0) if running => return,
            Some(0) => return self.start_alone(slot, configuration, ready[0]),
            Some(at) => ready.truncate(at),
            None => {}
        }
        for op in ready {
            let flow = self.jobs.get(&op).map(|pending| pending.job.flow);
            let now = self.agenda.now;
            let it = &mut self.slots[slot];
            // Clocks do not pass in a slot that has answered all.
            let ended = it.batch.as_ref().filter(|s| s.under_way() == 0).map(|s| s.time(s.clocks));
            if it.batch.is_none() || ended.is_some() {
                let start = ended.map_or(now, |ended| ended.max(now));
                it.batch = Some(Batch {
                    start,
                    clock_hz,
                    clocks: 0,
                    frame_clocks: 0,
                    closed: false,
                    frames: Vec::new(),
                });
            }
            let Some(flight) = it.flights.iter_mut().find(|f| f.op == op) else { continue };
            let (Some(batch), Some(request)) = (&mut it.batch, flight.request.take()) else { continue };
            flight.stage = Stage::Running;
            let fresh_key = flight.fresh_key;
            let kept_key = !fresh_key && !matches!(request.task.pass, Pass::Hash { .. });
            let (clocks, frame_clocks) = (batch.clocks, batch.frame_clocks);
            let answer = None;
            batch.frames.push(InBatch {
                op,
                flow,
                fresh_key,
                kept_key,
                at: now,
                clocks,
                frame_clocks,
                answer,
            });
            it.worker.join(op, request);
        }
    }

    /// The hand-over of the first frame that waits for another bank of the tile.
    fn waits_in_other_bank(&self, slot: usize) -> Option<u64> {
        let others = self.config.tile(slot).filter(|bank| *bank != slot);
        others.filter_map(|bank| self.slots[bank].waiting().map(|f| f.handover).next()).min()
    }

    /// Lets slots whose frames join each other go on until the next event, or `until` if that is sooner; what they answer
    /// before is an event, too.
    pub(crate) fn simulate(&mut self, until: Picos) {
        loop {
            let next = self.agenda.next().map_or(until, |time| until.min(time));
            let at_work =
                |slot: &usize| self.slots[*slot].batch.as_ref().is_some_and(|batch| batch.under_way() > 0);
            let slots: Vec<usize> = (0..self.slots.len()).filter(at_work).collect();
            let batchs = slots.iter().filter_map(|slot| self.slots[*slot].batch.as_ref());
            let slowest = batchs.map(|batch| batch.time(batch.clocks)).min().unwrap_or(next);
            // What one slot answers can make a frame come to another one, not sooner than host and link bring it.
            let reach = if slots.len() > 1 { slowest.saturating_add(self.way().max(1)) } else { Picos::MAX };
            let mut waited = Vec::new();
            for slot in slots {
                let it = &self.slots[slot];
                let Some(batch) = &it.batch else { continue };
                let clocks = batch.clocks_until(next.min(reach));
                if clocks > batch.clocks {
                    it.worker.go(clocks);
                    waited.push(slot);
                }
            }
            if waited.is_empty() {
                return;
            }
            for slot in waited {
                let news = self.slots[slot].worker.news();
                self.answered(slot, news);
            }
        }
    }

    /// The least time from a decision to the end of a request's way to its slot.
    fn way(&self) -> Picos {
        let bytes = HEADER as u64;
        self.config.send_time(bytes).saturating_add(self.config.link_time(bytes))
    }

    /// What a slot has answered meanwhile happens at its time.
    fn answered(&mut self, slot: usize, news: Option<News>) {
        let configuration = self.slots[slot].configuration();
        let Some(batch) = &mut self.slots[slot].batch else { return };
        let answers = match news {
            Some(news) => {
                let passed = news.clocks.saturating_sub(batch.clocks);
                batch.frame_clocks += passed * batch.under_way() as u64;
                batch.clocks = news.clocks;
                news.answers
            }
            // A thread that is gone is a slot that does not answer.
            None => {
                let waiting = batch.frames.iter().filter(|frame| frame.answer.is_none());
                waiting.map(|frame| (frame.op, Answer::failed(Failure::Silent))).collect()
            }
        };
        for (op, answer) in answers {
            batch.closed |= answer.result.is_err();
            let Some(frame) = batch.frames.iter_mut().find(|frame| frame.op == op) else { continue };
            frame.answer = Some(answer);
            // In the mean so many were in the slot while it was.
            let clocks = batch.clocks.saturating_sub(frame.clocks).max(1);
            let packets = (batch.frame_clocks.saturating_sub(frame.frame_clocks) + clocks / 2) / clocks;
            if let (Some(configuration), Ok(packets)) = (configuration, usize::try_from(packets)) {
                self.queue.worked(configuration, op, packets.max(1));
            }
        }
        let end = batch.time(batch.clocks);
        for (op, execution) in batch.leaving() {
            self.slots.executions.insert((slot, op), execution);
            self.agenda.at(end.max(self.agenda.now), Event::Executed { slot, op });
        }
    }
}
