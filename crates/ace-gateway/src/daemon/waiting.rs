// SPDX-License-Identifier: Apache-2.0
//! Waits for handles that are nearly always the same. The kernel remembers them (epoll), so that a packet does not pay for
//! looking at everybody who might ask something.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use nix::errno::Errno;
use nix::poll::{PollFlags, PollTimeout};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

/// Handles that are told of at once; the others are next.
const EVENTS: usize = 16;

pub struct Waiting {
    epoll: Epoll,
    /// What the kernel was told, in order.
    told: Vec<(RawFd, PollFlags)>,
    /// Handles may have been closed and their numbers been given to others.
    stale: bool,
    /// The places of those that have something.
    ready: Vec<usize>,
}

impl Waiting {
    pub fn new() -> nix::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Self { epoll, told: Vec::new(), stale: true, ready: Vec::new() })
    }

    /// A handle may have been closed or opened since the last wait.
    pub fn changed(&mut self) {
        self.stale = true;
    }

    /// The places, in the order in which they were given, of handles that have something or failed.
    ///
    /// # Errors
    /// As the system says.
    pub fn wait(
        &mut self,
        fds: &[(BorrowedFd<'_>, PollFlags)],
        timeout: PollTimeout,
    ) -> nix::Result<&[usize]> {
        let same = |((fd, flags), told): (&(BorrowedFd<'_>, PollFlags), &(RawFd, PollFlags))| {
            (fd.as_raw_fd(), *flags) == *told
        };
        if self.stale || self.told.len() != fds.len() || !fds.iter().zip(&self.told).all(same) {
            self.tell(fds)?;
        }
        self.ready.clear();
        let timeout = i32::from(timeout);
        let timeout = EpollTimeout::try_from(timeout).unwrap_or(EpollTimeout::NONE);
        let mut events = [EpollEvent::empty(); EVENTS];
        let count = self.epoll.wait(&mut events, timeout)?;
        self.ready.extend(events.iter().take(count).map(|event| event.data() as usize));
        Ok(&self.ready)
    }

    /// All of it anew. A handle that is closed was forgotten by the kernel, whoever has its number now.
    fn tell(&mut self, fds: &[(BorrowedFd<'_>, PollFlags)]) -> nix::Result<()> {
        // Until it is done: whatever stops it here is gone through again.
        self.stale = true;
        self.epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        self.told.clear();
        for (place, (fd, flags)) in fds.iter().enumerate() {
            let mut wanted = EpollFlags::empty();
            wanted.set(EpollFlags::EPOLLIN, flags.contains(PollFlags::POLLIN));
            wanted.set(EpollFlags::EPOLLOUT, flags.contains(PollFlags::POLLOUT));
            match self.epoll.add(fd, EpollEvent::new(wanted, place as u64)) {
                // Twice the same one: whoever was first is told.
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(why) => return Err(why),
            }
            self.told.push((fd.as_raw_fd(), *flags));
        }
        self.stale = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    const IN: PollFlags = PollFlags::POLLIN;

    #[test]
    fn who_has_something_is_told_by_place_and_again_until_it_is_taken() {
        let mut waiting = Waiting::new().unwrap();
        let pairs: Vec<_> = (0..40).map(|_| UnixStream::pair().unwrap()).collect();
        let fds: Vec<_> = pairs.iter().map(|(ours, _)| (ours.as_fd(), IN)).collect();
        assert!(waiting.wait(&fds, PollTimeout::ZERO).unwrap().is_empty());
        for at in [3, 39] {
            (&pairs[at].1).write_all(b"x").unwrap();
        }
        for _ in 0..2 {
            let mut ready = waiting.wait(&fds, PollTimeout::NONE).unwrap().to_vec();
            ready.sort_unstable();
            assert_eq!(ready, [3, 39]);
        }
        (&pairs[3].0).read_exact(&mut [0]).unwrap();
        assert_eq!(waiting.wait(&fds, PollTimeout::NONE).unwrap(), [39]);
        // In another order, and one of them to be written to.
        let fewer = [fds[39], (pairs[0].0.as_fd(), PollFlags::POLLOUT)];
        let mut ready = waiting.wait(&fewer, PollTimeout::NONE).unwrap().to_vec();
        ready.sort_unstable();
        assert_eq!(ready, [0, 1]);
    }

    #[test]
    fn a_handle_with_the_number_of_one_that_was_closed_is_heard() {
        let mut waiting = Waiting::new().unwrap();
        let (first, _other) = UnixStream::pair().unwrap();
        waiting.wait(&[(first.as_fd(), IN)], PollTimeout::ZERO).unwrap();
        // Somebody else of these tests may open one in between: what has the number is what is asked about.
        for _ in 0..1000 {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            waiting.wait(&[(ours.as_fd(), IN)], PollTimeout::ZERO).unwrap();
            drop(ours);
            waiting.changed();
            let (ours, mut new) = UnixStream::pair().unwrap();
            let _ = theirs.write(b"x");
            new.write_all(b"x").unwrap();
            assert_eq!(waiting.wait(&[(ours.as_fd(), IN)], PollTimeout::NONE).unwrap(), [0]);
        }
    }

    #[test]
    fn who_is_gone_is_told_too() {
        let mut waiting = Waiting::new().unwrap();
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert_eq!(waiting.wait(&[(ours.as_fd(), PollFlags::empty())], PollTimeout::NONE).unwrap(), [0]);
    }
}
