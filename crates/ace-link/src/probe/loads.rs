// SPDX-License-Identifier: Apache-2.0
//! What a load takes, over the cable and from the board's store.

use std::time::{Duration, Instant};

use ace_board::array::Loadable;
use ace_board::frame::{HEADER, Status};
use serde::Serialize;
use zeroize::Zeroizing;

use super::{ProbeError, Times};
use crate::session::{Event, Session, Trailer, draw};
use crate::wire::{BEAT, BOARD, Kind, STORED, Span};
use crate::{Batch, Wire};

/// What loads of a set took, one after the other, with nothing else under way: wall time, from the request to the answer.
#[derive(Debug, Serialize)]
pub struct Loads {
    /// The set.
    pub set: String,
    /// Bytes of the slot's frame that loads it.
    pub bytes: usize,
    /// Over the cable.
    pub by_cable: Option<Times>,
    /// From the board's store; `None`: it has none, or no room for the set.
    pub by_name: Option<Times>,
    /// Why one of them was not measured.
    pub error: Option<String>,
}

/// Loads a set so often over the cable, writes it to the store if there is room for it, and loads it as often from there.
pub fn measure<W: Wire>(
    wire: &mut W,
    interface: &str,
    slot: u8,
    set: &Loadable,
    times: usize,
) -> Result<Loads, ProbeError> {
    let session = Session::new(wire.address(), BOARD, draw()?, Duration::ZERO);
    let mut loader =
        Loader { wire, interface, session, slot, start: Instant::now(), batch: Batch::default() };
    let room = loader.until(|event| match event {
        Event::Opened(identity) => Some(usize::from(identity.store_words)),
        _ => None,
    })?;
    let load = set.load(0);
    let words = load.get(HEADER..).unwrap_or_default();
    let (by_cable, mut error) = loader.times(&load, None, times)?;
    let mut loads =
        Loads { set: set.name().to_owned(), bytes: load.len(), by_cable, by_name: None, error: None };
    let count = words.len() / BEAT;
    if error.is_none() && (1..=room).contains(&count) {
        if loader.store(words)? {
            let span = Span { place: 0, words: count as u16 };
            (loads.by_name, error) = loader.times(&load, Some(span), times)?;
        } else {
            error = Some("the store does not take it".to_owned());
        }
    }
    loads.error = error.map(|error| format!("loads of {}: {error}", set.name()));
    loader.session.close();
    loader.send()?;
    Ok(loads)
}

/// A session for loads.
struct Loader<'a, W: Wire> {
    wire: &'a mut W,
    interface: &'a str,
    session: Session,
    slot: u8,
    start: Instant,
    batch: Batch,
}

impl<W: Wire> Loader<'_, W> {
    fn broken(&self, error: std::io::Error) -> ProbeError {
        ProbeError::Wire { interface: self.interface.to_owned(), error }
    }

    fn send(&mut self) -> Result<(), ProbeError> {
        self.batch.clear();
        self.session.output(&mut self.batch, self.start.elapsed());
        self.wire.send(&self.batch).map_err(|error| self.broken(error))
    }

    /// Waits for what the session says.
    fn until<T>(&mut self, wanted: impl Fn(&Event) -> Option<T>) -> Result<T, ProbeError> {
        loop {
            while let Some(event) = self.session.event() {
                if let Event::Lost(loss) = event {
                    return Err(ProbeError::Lost { interface: self.interface.to_owned(), loss });
                }
                if let Some(wanted) = wanted(&event) {
                    return Ok(wanted);
                }
            }
            self.send()?;
            let now = self.start.elapsed();
            let Self { wire, session, .. } = self;
            let come = wire.receive(&mut |frame| session.input(frame, now));
            if come.map_err(|error| self.broken(error))? == 0 {
                let due = self.session.due().unwrap_or(now);
                let patience = due.saturating_sub(now).min(Duration::from_millis(100));
                self.wire.wait(patience).map_err(|error| self.broken(error))?;
            }
        }
    }

    /// Loads so often, from these words of the store or over the cable. What it took, or why that is not known.
    fn times(
        &mut self,
        load: &[u8],
        words: Option<Span>,
        times: usize,
    ) -> Result<(Option<Times>, Option<String>), ProbeError> {
        let mut all = Vec::with_capacity(times);
        for ticket in 0..times {
            let (since, now, load) = (Instant::now(), self.start.elapsed(), Zeroizing::new(load.to_vec()));
            match words {
                Some(words) => self.session.recall(self.slot, ticket, words, load, now),
                None => self.session.change(self.slot, ticket, Kind::Load, load, now),
            }
            let status = self.until(|event| match event {
                Event::Answer { response, .. } => {
                    Some(Ok(Trailer::of(response).map(|trailer| trailer.status)))
                }
                Event::Unstored { .. } => Some(Err("the store does not have what was written to it")),
                Event::Again { .. } => Some(Err("nobody knows what became of one")),
                _ => None,
            })?;
            match status.map(|status| status.and_then(Status::from_code)) {
                Ok(Some(Status::Ok)) => all.push(since.elapsed()),
                Ok(status) => {
                    let why = status.map_or_else(|| "nonsense".to_owned(), |status| status.to_string());
                    return Ok((None, Some(format!("the slot answered `{why}`"))));
                }
                Err(why) => return Ok((None, Some(why.to_owned()))),
            }
        }
        Ok((Times::of(all), None))
    }

    /// Writes words to the beginning of the store. Whether it has taken all of them.
    fn store(&mut self, words: &[u8]) -> Result<bool, ProbeError> {
        for (at, part) in words.chunks(BEAT * STORED).enumerate() {
            self.session.store((STORED * at) as u16, part, self.start.elapsed());
            let taken = |event: &Event| match event {
                Event::Stored { taken, .. } => Some(*taken),
                _ => None,
            };
            if !self.until(taken)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
