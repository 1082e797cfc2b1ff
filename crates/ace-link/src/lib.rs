// SPDX-License-Identifier: Apache-2.0
//! The host's end of a board behind an Ethernet cable (`docs/link.md`), and a board in software for tests.
//!
//! [`wire`] is what frames look like, [`session`] what becomes of them when some are lost: it takes bytes and a clock and
//! gives bytes and events, and knows no socket. [`socket`] is one, on an interface. [`engine`] is an
//! [`ace_engine::Engine`] over any [`Wire`], [`probe`] says what a board is and whether it computes, and [`soft`] is the
//! board's end, over simulated slots.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod engine;
pub mod identity;
#[cfg(target_os = "linux")]
pub mod pins;
pub mod probe;
pub mod session;
#[cfg(target_os = "linux")]
pub mod socket;
pub mod soft;
pub mod wire;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use engine::LinkEngine;
pub use identity::Identity;
pub use session::{Event, Loss, Session};
use wire::Address;

/// Frames that are sent together: one behind the other in one buffer, which is used again.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    /// Takes all frames out.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a frame, which `write` puts behind what is there.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The frames, in the order in which they were added.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).filter_map(|(start, end)| self.bytes.get(start..*end))
    }
}

/// What carries Ethernet frames, without their FCS.
pub trait Wire: Send {
    /// The address from which it sends.
    fn address(&self) -> Address;

    /// Sends frames. What the system has no room for is lost, as anything on a wire may be.
    ///
    /// # Errors
    /// When nothing can be sent any more.
    fn send(&mut self, batch: &Batch) -> io::Result<()>;

    /// Hands over what has come, and waits for nothing. Returns how many frames.
    ///
    /// # Errors
    /// When nothing will come any more.
    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize>;

    /// Waits until something has come, or for so long.
    ///
    /// # Errors
    /// When nothing will come any more.
    fn wait(&mut self, patience: Duration) -> io::Result<()>;

    /// A session is to be opened: looks anew at what the wire is, as there may be another device of the name since.
    fn renew(&mut self) {}
}

impl<W: Wire + ?Sized> Wire for &mut W {
    fn address(&self) -> Address {
        (**self).address()
    }

    fn send(&mut self, batch: &Batch) -> io::Result<()> {
        (**self).send(batch)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        (**self).receive(take)
    }

    fn wait(&mut self, patience: Duration) -> io::Result<()> {
        (**self).wait(patience)
    }

    fn renew(&mut self) {
        (**self).renew()
    }
}

impl<W: Wire + ?Sized> Wire for Arc<Mutex<W>> {
    fn address(&self) -> Address {
        self.lock().unwrap_or_else(PoisonError::into_inner).address()
    }

    fn send(&mut self, batch: &Batch) -> io::Result<()> {
        self.lock().unwrap_or_else(PoisonError::into_inner).send(batch)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        self.lock().unwrap_or_else(PoisonError::into_inner).receive(take)
    }

    fn wait(&mut self, patience: Duration) -> io::Result<()> {
        self.lock().unwrap_or_else(PoisonError::into_inner).wait(patience)
    }

    fn renew(&mut self) {
        self.lock().unwrap_or_else(PoisonError::into_inner).renew()
    }
}

impl<W: Wire + ?Sized> Wire for Box<W> {
    fn address(&self) -> Address {
        self.as_ref().address()
    }

    fn send(&mut self, batch: &Batch) -> io::Result<()> {
        self.as_mut().send(batch)
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        self.as_mut().receive(take)
    }

    fn wait(&mut self, patience: Duration) -> io::Result<()> {
        self.as_mut().wait(patience)
    }

    fn renew(&mut self) {
        self.as_mut().renew()
    }
}
