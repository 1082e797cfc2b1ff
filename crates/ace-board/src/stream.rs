// SPDX-License-Identifier: Apache-2.0
//! Frames that join a slot while it works on others, beat by beat.

use std::collections::VecDeque;

use crate::frame::BEAT;
use crate::model::frames::{Frame, RunError, Stopped};

/// Clocks without a beat after which a slot counts as hanging, if nothing else is said.
const MAX_CLOCKS: u64 = 1 << 20;

/// What is seen of a slot in a clock in which answers are taken.
pub struct Seen {
    /// The beat that was offered was taken.
    pub taken: bool,
    /// A beat of an answer, and whether it is the last one.
    pub answer: Option<(u64, bool)>,
}

/// What of the frames on both streams outlives a clock.
#[derive(Default)]
pub struct Stream {
    /// In the order in which they joined, without those that are answered.
    under_way: VecDeque<(u64, Frame)>,
    /// So many of them have been taken whole, and so many bytes of the next one.
    sent: usize,
    bytes: usize,
    /// The answer that is coming. Whose it is its last beat says.
    response: Vec<u8>,
    first_out: u64,
    last_beat: u64,
}

impl Stream {
    /// Whether all that joined are answered.
    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Whether a beat of those that are not answered has been taken.
    pub fn has_begun(&self) -> bool {
        self.sent > 0 || self.bytes > 0
    }

    pub fn join(&mut self, now: u64, number: u64, frame: Frame) {
        if self.under_way.is_empty() {
            self.last_beat = now;
        }
        self.under_way.push_back((number, frame));
    }

    /// As [`crate::model::frames::SlotModel::go`], from clock `now` on; `clock` lets one pass, in which a beat may be offered.
    pub fn go(
        &mut self,
        mut now: u64,
        until: u64,
        max_clocks: u64,
        mut clock: impl FnMut(Option<(u64, bool)>) -> Result<Seen, RunError>,
    ) -> Result<Option<(u64, Frame)>, Stopped> {
        let most = if max_clocks == 0 { MAX_CLOCKS } else { max_clocks };
        let stopped = |clock| move |error| Stopped { error, clock };
        while now < until && !self.under_way.is_empty() {
            let offer = self.offer().map_err(stopped(now))?;
            let seen = clock(offer).map_err(stopped(now))?;
            if seen.taken {
                self.taken(now);
            }
            let answered = match seen.answer {
                Some((beat, last)) => self.answer(now, beat, last).map_err(stopped(now))?,
                None => None,
            };
            if seen.taken || seen.answer.is_some() {
                self.last_beat = now;
            } else if now - self.last_beat > most {
                return Err(Stopped { error: RunError::Silent, clock: now });
            }
            now += 1;
            if answered.is_some() {
                return Ok(answered);
            }
        }
        Ok(None)
    }

    /// The next beat, and whether it is the last one of its frame.
    fn offer(&self) -> Result<Option<(u64, bool)>, RunError> {
        let Some((_, frame)) = self.under_way.get(self.sent) else { return Ok(None) };
        let rest = frame.request.get(self.bytes..).unwrap_or_default();
        match rest.first_chunk::<BEAT>() {
            Some(beat) if rest.len().is_multiple_of(BEAT) => {
                Ok(Some((u64::from_le_bytes(*beat), rest.len() == BEAT)))
            }
            _ => Err(RunError::BadFrame),
        }
    }

    fn taken(&mut self, now: u64) {
        let Some((_, frame)) = self.under_way.get_mut(self.sent) else { return };
        if self.bytes == 0 {
            frame.first_in = now;
        }
        self.bytes += BEAT;
        if self.bytes == frame.request.len() {
            (self.sent, self.bytes) = (self.sent + 1, 0);
        }
    }

    /// A beat of an answer, which belongs to the first frame of its tag that was sent; without one the tag is wrong, and
    /// the frame that has waited longest gets it to see that.
    fn answer(&mut self, now: u64, beat: u64, last: bool) -> Result<Option<(u64, Frame)>, RunError> {
        if self.response.is_empty() {
            self.first_out = now;
        }
        self.response.extend_from_slice(&beat.to_le_bytes());
        let space = self.under_way.iter().map(|(_, frame)| frame.capacity).max();
        if self.response.len() > space.unwrap_or(0) {
            return Err(RunError::NoSpace);
        }
        if !last {
            return Ok(None);
        }
        let tag = &beat.to_le_bytes()[4..6];
        let own = |(_, frame): &(u64, Frame)| frame.request.get(4..6) == Some(tag);
        let whose = self.under_way.iter().take(self.sent).position(own).unwrap_or(0);
        if whose >= self.sent {
            return Err(RunError::Unasked);
        }
        let Some((_, frame)) = self.under_way.get_mut(whose) else { return Ok(None) };
        if self.response.len() + frame.response.len() > frame.capacity {
            return Err(RunError::NoSpace);
        }
        if frame.response.is_empty() {
            frame.first_out = self.first_out;
        }
        frame.response.append(&mut self.response);
        frame.last_out = now;
        // The frame that is its result comes only of one that was not refused.
        if std::mem::take(&mut frame.chained) && beat.to_le_bytes()[6] == 0 {
            frame.passed_on = now;
            return Ok(None);
        }
        self.sent -= 1;
        Ok(self.under_way.remove(whose))
    }
}
