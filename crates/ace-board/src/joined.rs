// SPDX-License-Identifier: Apache-2.0
//! Slots that work on several frames at a time: frames join those that are being worked on, at the clock in which they have
//! arrived. What the clocks come to the simulation says, which is let go on from event to event and never beyond the earliest
//! instant at which another frame could arrive.

use std::cmp::Reverse;

use crate::board::{Board, Execution, Happens};
use crate::config::{PICOS_PER_SECOND, clocks_time};
use crate::frame::HEADER;
use crate::pass::Pass;
use crate::slot::Stage;
use crate::trace::Picos;
use crate::worker::{Answer, Failure, News, is_long};

/// Frames that a slot works on since one came to it when it had none.
pub struct Session {
    start: Picos,
    clock_hz: u64,
    /// Clocks that have been simulated since, and each as often as there were frames under way in it.
    clocks: u64,
    frame_clocks: u64,
    /// One has failed: none joins any more.
    closed: bool,
    /// In the order in which they joined, without those whose end is known.
    frames: Vec<Joined>,
}

struct Joined {
    op: u64,
    lane: Option<u32>,
    /// It has brought the key of those behind it.
    fresh_key: bool,
    /// It needs the key of one in front of it.
    kept_key: bool,
    at: Picos,
    /// The session's clocks then.
    clocks: u64,
    frame_clocks: u64,
    answer: Option<Answer>,
}

impl Session {
    /// When the oldest frame joined whose end is not known.
    pub fn oldest(&self) -> Option<Picos> {
        self.frames.iter().map(|frame| frame.at).min()
    }

    /// Frames that the slot has not answered.
    fn under_way(&self) -> usize {
        self.frames.iter().filter(|frame| frame.answer.is_none()).count()
    }

    /// The instant behind so many of its clocks.
    fn time(&self, clocks: u64) -> Picos {
        self.start.saturating_add(clocks_time(clocks, self.clock_hz))
    }

    /// Clocks that have begun before an instant.
    fn clocks_until(&self, until: Picos) -> u64 {
        let picos = u128::from(until.saturating_sub(self.start));
        u64::try_from((picos * u128::from(self.clock_hz)).div_ceil(PICOS_PER_SECOND)).unwrap_or(u64::MAX)
    }

    /// Takes out what may leave, with the start of its execution: an answer waits for earlier ones of its lane, and for
    /// that of the frame that brought its key; after a failure all leave together.
    fn leaving(&mut self) -> Vec<(u64, Execution)> {
        let (mut out, mut kept): (Vec<_>, Vec<Joined>) = (Vec::new(), Vec::new());
        let mut key_waits = false;
        for frame in std::mem::take(&mut self.frames) {
            let waits =
                (key_waits && frame.kept_key) || kept.iter().any(|earlier| earlier.lane == frame.lane);
            let stays = frame.answer.is_none() || (waits && !self.closed);
            key_waits = if frame.fresh_key { stays } else { key_waits };
            match frame.answer {
                Some(answer) if !stays => {
                    let start = self.time(answer.finished.saturating_sub(answer.cycles)).max(frame.at);
                    out.push((frame.op, Execution { start, answer }));
                }
                answer => kept.push(Joined { answer, ..frame }),
            }
        }
        self.frames = kept;
        out
    }
}

impl Board {
    /// Lets what has arrived join what the slot works on, as far as there is room.
    pub(crate) fn join(&mut self, slot: usize, configuration: usize) {
        let (clock_hz, in_flight) = {
            let c = &self.catalogue.configurations[configuration];
            (c.clock_hz, c.in_flight)
        };
        let it = &self.slots[slot];
        let running = it.runs();
        let inside = match &it.session {
            // One that is alone.
            None if running => return,
            Some(session) if session.closed => return,
            session => session.as_ref().map_or(0, Session::under_way),
        };
        // A tile that runs takes frames of its bank no more when one that came earlier waits for another bank.
        let turn = if running { self.waits_beside(slot) } else { None };
        let long =
            |op: &u64| it.flights.iter().any(|f| f.op == *op && f.request.as_ref().is_some_and(is_long));
        let ready = it.waiting().take_while(|f| turn.is_none_or(|turn| f.handover < turn)).map(|f| f.op);
        let mut ready: Vec<u64> = ready.take(in_flight.saturating_sub(inside)).collect();
        // A key that is hashed first takes two frames, of which the second needs the answer of the first.
        match ready.iter().position(long) {
            Some(0) if running => return,
            Some(0) => return self.start_alone(slot, configuration, ready[0]),
            Some(at) => ready.truncate(at),
            None => {}
        }
        for op in ready {
            let lane = self.jobs.get(&op).map(|pending| pending.job.lane);
            let now = self.now;
            let it = &mut self.slots[slot];
            // Clocks do not pass in a slot that has answered all.
            let ended = it.session.as_ref().filter(|s| s.under_way() == 0).map(|s| s.time(s.clocks));
            if it.session.is_none() || ended.is_some() {
                let start = ended.map_or(now, |ended| ended.max(now));
                it.session = Some(Session {
                    start,
                    clock_hz,
                    clocks: 0,
                    frame_clocks: 0,
                    closed: false,
                    frames: Vec::new(),
                });
            }
            let Some(flight) = it.flights.iter_mut().find(|f| f.op == op) else { continue };
            let (Some(session), Some(request)) = (&mut it.session, flight.request.take()) else { continue };
            flight.stage = Stage::Running;
            let fresh_key = flight.fresh_key;
            let kept_key = !fresh_key && !matches!(request.task.pass, Pass::Hash { .. });
            let (clocks, frame_clocks) = (session.clocks, session.frame_clocks);
            let answer = None;
            session.frames.push(Joined {
                op,
                lane,
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
    fn waits_beside(&self, slot: usize) -> Option<u64> {
        let others = self.config.tile(slot).filter(|bank| *bank != slot);
        others.filter_map(|bank| self.slots[bank].waiting().map(|f| f.handover).next()).min()
    }

    /// Lets slots whose frames join each other go on until the next event, or `until` if that is sooner; what they answer
    /// before is an event, too.
    pub(crate) fn simulate(&mut self, until: Picos) {
        loop {
            let next = self.agenda.peek().map_or(until, |Reverse((time, _, _))| until.min(*time));
            let at_work = |slot: &usize| {
                self.slots[*slot].session.as_ref().is_some_and(|session| session.under_way() > 0)
            };
            let slots: Vec<usize> = (0..self.slots.len()).filter(at_work).collect();
            let sessions = slots.iter().filter_map(|slot| self.slots[*slot].session.as_ref());
            let slowest = sessions.map(|session| session.time(session.clocks)).min().unwrap_or(next);
            // What one slot answers can make a frame come to another one, not sooner than host and link bring it.
            let reach = if slots.len() > 1 { slowest.saturating_add(self.way().max(1)) } else { Picos::MAX };
            let mut waited = Vec::new();
            for slot in slots {
                let it = &self.slots[slot];
                let Some(session) = &it.session else { continue };
                let clocks = session.clocks_until(next.min(reach));
                if clocks > session.clocks {
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
        let Some(session) = &mut self.slots[slot].session else { return };
        let answers = match news {
            Some(news) => {
                let passed = news.clocks.saturating_sub(session.clocks);
                session.frame_clocks += passed * session.under_way() as u64;
                session.clocks = news.clocks;
                news.answers
            }
            // A thread that is gone is a slot that does not answer.
            None => {
                let waiting = session.frames.iter().filter(|frame| frame.answer.is_none());
                waiting.map(|frame| (frame.op, Answer::failed(Failure::Silent))).collect()
            }
        };
        for (op, answer) in answers {
            session.closed |= answer.result.is_err();
            let Some(frame) = session.frames.iter_mut().find(|frame| frame.op == op) else { continue };
            frame.answer = Some(answer);
            // In the mean so many were in the slot while it was.
            let clocks = session.clocks.saturating_sub(frame.clocks).max(1);
            let packets = (session.frame_clocks.saturating_sub(frame.frame_clocks) + clocks / 2) / clocks;
            if let (Some(configuration), Ok(packets)) = (configuration, usize::try_from(packets)) {
                self.queue.worked(configuration, op, packets.max(1));
            }
        }
        let end = session.time(session.clocks);
        for (op, execution) in session.leaving() {
            self.executions.insert((slot, op), execution);
            self.at(end.max(self.now), Happens::Executed { slot, op });
        }
    }
}
