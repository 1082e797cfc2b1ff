// SPDX-License-Identifier: Apache-2.0
//! The other side of an engine with a board: what is seen of it, and the libraries that it is handed.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::board::{NoBoard, Order};
use super::view::{BoardView, View};

/// What `ace gateway` needs beside the engine that the data plane has.
pub struct Remote {
    pub(super) orders: Sender<Order>,
    pub(super) wake: Option<UnixStream>,
    pub(super) shared: Arc<Mutex<Shared>>,
    pub(super) board: Arc<Mutex<BoardView>>,
}

#[derive(Default)]
pub(super) struct Shared {
    pub view: View,
    /// What came of the last library that was handed over.
    pub library: Option<Result<String, NoBoard>>,
    /// What is to be said.
    pub event: Option<String>,
}

impl Remote {
    /// Readable when there are answers.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.wake.as_ref().map(AsFd::as_fd)
    }

    /// Takes notice of being woken.
    pub fn calm(&mut self) {
        let mut bytes = [0; 256];
        while let Some(wake) = &mut self.wake {
            match wake.read(&mut bytes) {
                // The thread is gone.
                Ok(0) => self.wake = None,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Hands over a library file. What comes of it is said by [`Remote::outcome`].
    pub fn take_library(&self, path: PathBuf) {
        if self.orders.send(Order::Library(path)).is_err() {
            lock(&self.shared).library = Some(Err(NoBoard::Gone));
        }
    }

    /// What came of a library, once.
    pub fn outcome(&self) -> Option<Result<String, NoBoard>> {
        lock(&self.shared).library.take()
    }

    /// What is to be said, once.
    pub fn poll_event(&self) -> Option<String> {
        lock(&self.shared).event.take()
    }

    /// Why every operation on the board fails, if so.
    pub fn board_fails(&self) -> Option<String> {
        lock(&self.shared).view.board_fails.clone()
    }

    /// What is known at this moment of the board and of what packets cost.
    pub fn view(&self) -> View {
        let board = Some(lock(&self.board).clone());
        View { board, ..lock(&self.shared).view.clone() }
    }
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in it is figures for people.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
