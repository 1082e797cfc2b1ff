// SPDX-License-Identifier: Apache-2.0
//! The interface behind which the board is: a TAP device, which is gone with the process.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use super::PinsError;

/// More than any frame.
const ROOM: usize = 2048;

/// A TAP device that is up.
pub struct Tap {
    device: SyncDevice,
}

impl Tap {
    /// Makes the device, without an address: nothing but the link is spoken to the board.
    ///
    /// # Errors
    /// When the system gives none: without its rights (root, `CAP_NET_ADMIN`), or where the name is taken.
    pub fn open(name: &str) -> Result<Self, PinsError> {
        let tap = |error: io::Error| {
            let reason = match error.kind() {
                io::ErrorKind::PermissionDenied => format!("{error}; TAP devices are root's (CAP_NET_ADMIN)"),
                _ => error.to_string(),
            };
            PinsError::Tap { name: name.to_owned(), reason }
        };
        let device = DeviceBuilder::new().name(name).layer(Layer::L2).build_sync().map_err(tap)?;
        device.set_nonblocking(true).map_err(tap)?;
        Ok(Self { device })
    }

    /// The next frame that was sent to the device, if there is one.
    ///
    /// # Errors
    /// When the device is gone.
    pub fn read(&self, frame: &mut Vec<u8>) -> io::Result<bool> {
        frame.resize(ROOM, 0);
        match self.device.recv(frame) {
            Ok(length) => {
                frame.truncate(length);
                Ok(true)
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(false)
            }
            // It was set down.
            Err(error) if error.raw_os_error() == Some(nix::libc::EIO) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Hands a frame to whoever listens at the device. What the system has no room for is lost, as on a wire.
    ///
    /// # Errors
    /// When the device is gone.
    pub fn write(&self, frame: &[u8]) -> io::Result<()> {
        match self.device.send(frame) {
            Ok(_) => Ok(()),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(())
            }
            Err(error) if error.raw_os_error() == Some(nix::libc::EIO) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits until there is a frame, or for so long.
    ///
    /// # Errors
    /// When the system cannot wait.
    pub fn wait(&self, time: Duration) -> io::Result<()> {
        let mut sets = [PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
        let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        match poll(&mut sets, time) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
