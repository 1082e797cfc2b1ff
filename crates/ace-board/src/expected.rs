// SPDX-License-Identifier: Apache-2.0
//! What the answer to a slot's frame has to be, and whether it is.

use ace_engine::Direction;

use crate::frame::{self, Status};
use crate::pass::{Pass, Task};

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The slot answered so.
    Status(Status),
    /// The response breaks the rules of the boundary.
    Protocol(String),
    /// No answer. The slot needs a reset.
    Silent,
    /// An earlier frame failed, so this one was not tried.
    Flushed,
}

/// What the answer to a frame has to be.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Bytes of the result.
    pub(crate) len: usize,
    /// Of these, bytes at the end that begin with a beat.
    pub(crate) behind: usize,
    /// The frame brings a tag, which the slot may find to be another one.
    pub(crate) opens: bool,
    /// The frame's number.
    pub(crate) tag: u16,
    /// Bytes of the result of what takes this one.
    pub(crate) then: Option<usize>,
}

impl Expected {
    /// Of a result of so many bytes, for a frame of this tag.
    pub(crate) fn plain(len: usize, tag: u16) -> Self {
        Self { len, behind: 0, opens: false, tag, then: None }
    }

    /// Of a task, for a frame of this tag.
    pub fn of(task: &Task, tag: u16) -> Self {
        Self {
            behind: frame::behind(task),
            opens: matches!(task.pass, Pass::Aead { direction: Direction::Decrypt, .. }),
            ..Self::plain(frame::result_len(task), tag)
        }
    }

    /// The same for a frame of another tag.
    #[must_use]
    pub fn tagged(self, tag: u16) -> Self {
        Self { tag, ..self }
    }

    /// Bytes of a response whose status is Ok, the trailer included.
    pub fn bytes(&self) -> usize {
        frame::padded(self.len - self.behind) + frame::padded(self.behind) + frame::BEAT
    }

    /// A beat more than any good response has, so that a longer one is seen for what it is.
    pub(crate) fn capacity(&self) -> usize {
        let then = self.then.map_or(0, |len| frame::padded(len) + frame::BEAT);
        frame::padded(self.len - self.behind) + frame::padded(self.behind) + then + 2 * frame::BEAT
    }

    /// The result in a response, if it is the answer to this request; nothing if the slot has found that the tag is another one.
    ///
    /// # Errors
    /// Why there is none.
    pub fn check(&self, mut bytes: Vec<u8>) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(len) = self.then
            && bytes.len() > frame::BEAT
        {
            let second = bytes.split_off(bytes.len().min(frame::padded(self.len) + frame::BEAT));
            let first = Expected { then: None, ..*self }.check(bytes)?;
            let second = Expected { then: None, len, behind: 0, ..*self }.check(second)?;
            return Ok(first.zip(second).map(|(first, second)| [first, second].concat()));
        }
        let parsed = frame::response_and(&bytes, self.behind);
        let (response, behind) = parsed.map_err(|e| Failure::Protocol(e.to_string()))?;
        if response.tag != self.tag {
            let words = format!("tag {} in the answer to {}", response.tag, self.tag);
            return Err(Failure::Protocol(words));
        }
        match response.status {
            Status::Ok => {}
            Status::BadTag if self.opens => return Ok(None),
            other => return Err(Failure::Status(other)),
        }
        let (text, len) = (response.result.len(), response.result.len() + behind.len());
        if len != self.len {
            return Err(Failure::Protocol(format!("{len} bytes of result, not {}", self.len)));
        }
        bytes.copy_within(frame::padded(text)..frame::padded(text) + (len - text), text);
        bytes.truncate(len);
        Ok(Some(bytes))
    }
}
