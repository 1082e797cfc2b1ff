// SPDX-License-Identifier: Apache-2.0
//! The start of a program behind the filter, and signals for it.
#![allow(unsafe_code)] // Calls of the system.

use std::ffi::c_int;
use std::io;
use std::mem::{self, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use libc::{sock_filter, sock_fprog};

use crate::Run;
use crate::kernel::check;

// linux/seccomp.h.
const SET_MODE_FILTER: c_int = 1;
const NEW_LISTENER: c_int = 1 << 3;

/// Signals that come to us as messages: what ends us is passed on to the program, which is to end first.
pub struct Signals(OwnedFd);

/// Those of a terminal come to the program as well.
const PASSED_ON: [c_int; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];
const TAKEN: [c_int; 3] = [libc::SIGINT, libc::SIGQUIT, libc::SIGCHLD];

impl Signals {
    /// From now on; the program that is started has none of them blocked.
    pub fn block() -> io::Result<Self> {
        // SAFETY: a set of signals, made before it is used.
        unsafe {
            let mut set: libc::sigset_t = mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in PASSED_ON.into_iter().chain(TAKEN) {
                libc::sigaddset(&raw mut set, signal);
            }
            check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
            let fd = check(libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK))?;
            Ok(Self(OwnedFd::from_raw_fd(fd as RawFd)))
        }
    }

    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Passes on what came.
    pub fn pass_on(&self, child: &Child) {
        let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
        loop {
            // SAFETY: as many bytes as there are.
            let got = unsafe { libc::read(self.fd(), info.as_mut_ptr().cast(), info.len()) };
            if got != info.len() as isize {
                return;
            }
            let signal = i32::from_ne_bytes([info[0], info[1], info[2], info[3]]);
            if PASSED_ON.contains(&signal) {
                // SAFETY: plain numbers; the child is not waited for before it ended, so its number is its own.
                unsafe { libc::kill(child.id().cast_signed(), signal) };
            }
        }
    }
}

/// Starts the program behind the filter; its listener comes to us.
pub fn start(run: &Run, filter: &[sock_filter]) -> io::Result<(Child, OwnedFd)> {
    let mut pair = [0; 2];
    // SAFETY: a place for two descriptors, which nobody else has.
    let [ours, theirs] = unsafe {
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        check(libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()))?;
        pair.map(|fd| OwnedFd::from_raw_fd(fd))
    };
    let mut command = Command::new(&run.program);
    command.args(&run.arguments);
    let (steps, filter_len, to) = (filter.as_ptr() as usize, filter.len() as u16, theirs.as_raw_fd());
    // SAFETY: between fork and exec there are calls of the system only; the filter's memory is a copy of ours.
    unsafe {
        command.pre_exec(move || {
            let mut none: libc::sigset_t = mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
            let program = sock_fprog { len: filter_len, filter: steps as *mut sock_filter };
            let install =
                || check(libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, NEW_LISTENER, &raw const program));
            let listener = match install() {
                // Who may not filter otherwise may if no program gains privilege behind it.
                Err(error) if error.raw_os_error() == Some(libc::EACCES) => {
                    check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
                    install()?
                }
                other => other?,
            } as RawFd;
            send_descriptor(to, listener)?;
            libc::close(listener);
            Ok(())
        });
    }
    let child = command.spawn()?;
    drop(theirs);
    Ok((child, receive_descriptor(&ours)?))
}

/// Room for the header of a descriptor and itself, as cmsg(3) aligns it.
#[repr(C, align(8))]
struct Control([u8; 32]);

/// Calls `with` with a message of one byte and place for a descriptor.
fn message<R>(control: &mut Control, with: impl FnOnce(&mut libc::msghdr) -> R) -> R {
    let mut byte = 0_u8;
    let mut iov = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // SAFETY: numbers and pointers, for which zeros are values.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut iov;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: a computation.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<c_int>() as u32) } as _;
    with(&mut message)
}

fn send_descriptor(to: RawFd, fd: RawFd) -> io::Result<()> {
    let mut control = Control([0; 32]);
    message(&mut control, |message| {
        // SAFETY: there is room for one header and a descriptor.
        unsafe {
            let header = &mut *libc::CMSG_FIRSTHDR(message);
            header.cmsg_level = libc::SOL_SOCKET;
            header.cmsg_type = libc::SCM_RIGHTS;
            header.cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as u32) as _;
            libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(fd);
            check(libc::sendmsg(to, message, libc::MSG_NOSIGNAL)).map(drop)
        }
    })
}

fn receive_descriptor(from: &OwnedFd) -> io::Result<OwnedFd> {
    let mut control = Control([0; 32]);
    message(&mut control, |message| {
        // SAFETY: as above; the descriptor that came is ours alone.
        unsafe {
            check(libc::recvmsg(from.as_raw_fd(), message, libc::MSG_CMSG_CLOEXEC))?;
            let header = libc::CMSG_FIRSTHDR(message).as_ref();
            let header = header.filter(|header| header.cmsg_type == libc::SCM_RIGHTS);
            let header = header.ok_or_else(|| io::Error::other("no listener came"))?;
            let fd = libc::CMSG_DATA(header).cast::<c_int>().read_unaligned();
            Ok(OwnedFd::from_raw_fd(fd))
        }
    })
}
