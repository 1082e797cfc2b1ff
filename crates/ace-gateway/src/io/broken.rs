// SPDX-License-Identifier: Apache-2.0
//! What becomes of an error of a device or a socket: counted where it passes by itself, and the end of the gateway where
//! it does not. A loop that reads again at once would spin otherwise, and call itself ready.

use std::io;
use std::time::Duration;

use nix::errno::Errno;
use thiserror::Error;

/// Errors in a row that nobody has to wait for: such as several datagrams that were refused far away.
const FREE: u32 = 16;
/// Between two errors behind those.
const PAUSE: Duration = Duration::from_millis(1);
/// In a row: whatever it is, it does not pass by itself.
const LASTING: u32 = 2000;

/// A device or a socket that is gone, or fails for good.
#[derive(Debug, Error)]
#[error("{what}: {why}; {remedy}")]
pub struct Broken {
    /// What it is, and what is the matter, in words.
    what: String,
    /// What the system says.
    why: io::Error,
    remedy: &'static str,
}

impl Broken {
    /// The TUN device of this name.
    pub fn tun(name: &str, why: io::Error) -> Self {
        let what = format!("the TUN device {name} is gone or fails");
        Self { what, why, remedy: "start the gateway anew, which makes the device and its routes again" }
    }

    /// A socket to the outside.
    pub fn socket(name: &str, why: io::Error) -> Self {
        let remedy = "start the gateway anew, which opens it again";
        Self { what: format!("{name} fails for good"), why, remedy }
    }

    /// Nothing can be waited for.
    pub fn waiting(why: io::Error) -> Self {
        let remedy = "start the gateway anew, with more memory or handles (`ulimit -n`)";
        Self { what: "cannot wait for packets".to_owned(), why, remedy }
    }
}

/// Errors in a row of one device, of one socket, or of waiting.
#[derive(Debug, Default)]
pub struct Row(u32);

impl Row {
    /// It works.
    pub fn well(&mut self) {
        self.0 = 0;
    }

    /// It gave an error, which was counted; one that comes again and again is waited for.
    ///
    /// # Errors
    /// The same one, if it does not pass by itself.
    pub fn failed(&mut self, error: io::Error) -> io::Result<()> {
        let Some(errno) = error.raw_os_error().map(Errno::from_raw) else {
            // Not of the system: a packet was read and is none.
            return Ok(());
        };
        match kind(errno) {
            Kind::Nothing => return Ok(()),
            Kind::Lasting => return Err(error),
            Kind::Passing => {}
            Kind::Unknown if self.0 >= LASTING => return Err(error),
            Kind::Unknown => {}
        }
        self.0 = self.0.saturating_add(1);
        if self.0 > FREE {
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

enum Kind {
    /// A moment without anything.
    Nothing,
    /// Memory of the kernel, or news of an earlier packet.
    Passing,
    /// What it is about is not there any more.
    Lasting,
    Unknown,
}

fn kind(errno: Errno) -> Kind {
    use Errno::{
        EACCES, EAGAIN, EBADF, EBADFD, ECONNREFUSED, ECONNRESET, EFAULT, EHOSTDOWN, EHOSTUNREACH, EINTR, EIO,
        EMSGSIZE, ENETDOWN, ENETUNREACH, ENOBUFS, ENODEV, ENOMEM, ENOPROTOOPT, ENOTSOCK, ENXIO, EPERM,
        EPROTO,
    };
    match errno {
        EAGAIN | EINTR => Kind::Nothing,
        ENOBUFS | ENOMEM | ECONNREFUSED | ECONNRESET | EHOSTDOWN | EHOSTUNREACH | ENETDOWN | ENETUNREACH
        | EMSGSIZE | ENOPROTOOPT | EPROTO | EACCES | EPERM => Kind::Passing,
        // EFAULT: of a device that is being taken away; what it reads into is there.
        EBADF | EBADFD | EFAULT | EIO | ENODEV | ENOTSOCK | ENXIO => Kind::Lasting,
        _ => Kind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(errno: Errno) -> io::Error {
        errno.into()
    }

    #[test]
    fn what_passes_is_borne_and_what_does_not_ends() {
        for lasting in [Errno::EBADFD, Errno::EBADF, Errno::EIO, Errno::ENODEV, Errno::EFAULT] {
            assert!(Row::default().failed(error(lasting)).is_err(), "{lasting}");
        }
        let mut row = Row::default();
        for _ in 0..100_000 {
            for nothing in [Errno::EAGAIN, Errno::EINTR] {
                assert!(row.failed(error(nothing)).is_ok());
            }
            assert!(row.failed(io::Error::other("no packet")).is_ok());
        }
        assert_eq!(row.0, 0);
        // Longer in a row than what is not known, and it is waited for.
        let start = std::time::Instant::now();
        for n in 0..=LASTING {
            let errno = [Errno::ENOBUFS, Errno::ECONNREFUSED, Errno::ENOMEM][n as usize % 3];
            assert!(row.failed(error(errno)).is_ok());
        }
        assert!(start.elapsed() >= PAUSE * (LASTING - FREE));
        row.well();
        // Whatever else there is.
        let borne = (0..).take_while(|_| row.failed(error(Errno::ENOSYS)).is_ok()).count();
        assert_eq!(borne, LASTING as usize);
        row.well();
        assert!(row.failed(error(Errno::ENOSYS)).is_ok());
    }
}
