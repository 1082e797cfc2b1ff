// SPDX-License-Identifier: Apache-2.0
//! A board in software at a network interface.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::Board;
use crate::socket::Socket;
use crate::{Batch, Wire};

/// Between two looks at whether it is to end.
const LOOK: Duration = Duration::from_millis(2);

/// A board that works on a thread until this is dropped.
pub struct Served {
    stop: Arc<AtomicBool>,
    board: Arc<Mutex<Board>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Served {
    /// Puts a board behind a socket.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(board: Board, socket: Socket) -> io::Result<Self> {
        let (stop, board) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(board)));
        let (ends, works) = (Arc::clone(&stop), Arc::clone(&board));
        let run = move || serve(&works, socket, &ends);
        let thread = Some(std::thread::Builder::new().name("board".to_owned()).spawn(run)?);
        Ok(Self { stop, board, thread })
    }

    /// Does something to the board.
    pub fn with_board<T>(&self, what: impl FnOnce(&mut Board) -> T) -> T {
        what(&mut self.board.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Answers at a socket until `stop` is true.
///
/// # Errors
/// When the interface does not work any more.
pub fn serve(board: &Mutex<Board>, mut socket: Socket, stop: &AtomicBool) -> io::Result<()> {
    let (start, mut batch) = (Instant::now(), Batch::default());
    while !stop.load(Ordering::Relaxed) {
        let busy = {
            let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
            socket.receive(&mut |frame| board.input(frame, start.elapsed()))?;
            let busy = board.work(start.elapsed());
            batch.clear();
            while let Some(frame) = board.output() {
                batch.add(|out| out.extend_from_slice(&frame));
            }
            busy
        };
        if !batch.is_empty() {
            socket.send(&batch)?;
        } else if !busy {
            socket.wait(LOOK)?;
        }
    }
    Ok(())
}
