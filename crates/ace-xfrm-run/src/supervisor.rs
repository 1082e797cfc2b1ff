// SPDX-License-Identifier: Apache-2.0
//! Answers calls until nobody is left who could make one.

use std::collections::HashMap;
use std::ffi::c_int;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

use crate::answers::{groups_of, listen, put_address};
use crate::kernel::{self, Call, Listener};
use crate::options::{self, Treatment};
use crate::ports;
use crate::receive::Receive;
use crate::start::Signals;

/// How long a call that is gone may be waited for, in milliseconds.
const LOOK_AGAIN: c_int = 200;
/// A cookie is a socket's for as long as the machine runs.
const SO_COOKIE: c_int = 57;

pub struct Supervisor {
    listener: Listener,
    gateway: PathBuf,
    /// Of connections among a program's descriptors.
    numbers: Range<u32>,
    /// Connections that were made, by their cookies, and the groups that they listen to.
    ours: HashMap<u64, u32>,
    waiting: Vec<Receive>,
    warned: bool,
}

/// What becomes of a call.
enum Done {
    Answer(Result<i64, c_int>),
    GoOn,
    /// It was answered, or waits.
    Nothing,
}

impl Supervisor {
    pub fn new(listener: OwnedFd, gateway: PathBuf, numbers: Range<u32>) -> Self {
        Self {
            listener: Listener(listener),
            gateway,
            numbers,
            ours: HashMap::new(),
            waiting: Vec::new(),
            warned: false,
        }
    }

    /// Until the program has ended and nothing that descends from it is left. How it ended.
    pub fn serve(&mut self, mut child: Child, signals: &Signals) -> io::Result<u8> {
        let mut ended: Option<ExitStatus> = None;
        loop {
            let listener = self.listener.0.as_raw_fd();
            let mut fds = vec![listener, signals.fd()];
            fds.extend(self.waiting.iter().map(|receive| receive.fd.as_raw_fd()));
            let patience = if self.waiting.is_empty() { -1 } else { LOOK_AGAIN };
            let ready = kernel::wait(&fds, patience);
            if ready.get(1) == Some(&true) {
                signals.pass_on(&child);
            }
            if ended.is_none() {
                ended = child.try_wait()?;
            }
            let listener_of_calls = &self.listener;
            self.waiting.retain(|receive| {
                listener_of_calls.waits(receive.call.id) && !receive.try_now(listener_of_calls)
            });
            if ready.first() == Some(&true) {
                if kernel::is_over(listener) {
                    let status = match ended {
                        Some(status) => status,
                        None => child.wait()?,
                    };
                    return Ok(code(status));
                }
                if let Some(call) = self.listener.next() {
                    self.take(call);
                }
            }
        }
    }

    fn take(&mut self, call: Call) {
        match self.does(&call) {
            Done::Answer(result) => self.listener.answer(call.id, result),
            Done::GoOn => self.listener.go_on(call.id),
            Done::Nothing => {}
        }
    }

    fn does(&mut self, call: &Call) -> Done {
        let number = i64::from(call.number);
        if number == libc::SYS_socket {
            return self.open(call);
        }
        let fd = call.arguments[0] as u32;
        let copy = process_of(call.thread).and_then(|process| kernel::descriptor_of(process, fd));
        // What was looked at is the caller's only if it still waits.
        if !self.listener.waits(call.id) {
            return Done::Nothing;
        }
        let copy = match copy {
            Ok(copy) => copy,
            // That of a connection may be none of ours; then nothing is said about it.
            Err(_) if self.numbers.contains(&fd) => return Done::Answer(Err(libc::EPERM)),
            Err(_) => return Done::GoOn,
        };
        let cookie = kernel::option(&copy, libc::SOL_SOCKET, SO_COOKIE).unwrap_or(0);
        if !self.ours.contains_key(&cookie) {
            if number == libc::SYS_bind {
                share(call, &copy);
            }
            return Done::GoOn;
        }
        self.answer(call, copy, cookie)
    }

    /// A connection to the gateway instead of a socket of XFRM.
    fn open(&mut self, call: &Call) -> Done {
        let flags = call.arguments[1] as c_int;
        let opened = connection(&self.gateway, flags & libc::SOCK_NONBLOCK != 0);
        let fd = match opened {
            Ok(fd) => fd,
            Err(errno) => {
                if !std::mem::replace(&mut self.warned, true) {
                    eprintln!("ace: no gateway answers at {}: XFRM is refused", self.gateway.display());
                }
                return Done::Answer(Err(errno));
            }
        };
        let Ok(cookie) = kernel::option(&fd, libc::SOL_SOCKET, SO_COOKIE) else {
            return Done::Answer(Err(libc::EPERM));
        };
        let free =
            |number: &u32| std::fs::symlink_metadata(format!("/proc/{}/fd/{number}", call.thread)).is_err();
        let Some(number) = self.numbers.clone().find(free) else { return Done::Answer(Err(libc::EMFILE)) };
        self.ours.insert(cookie, 0);
        match self.listener.put(call.id, &fd, number, flags & libc::SOCK_CLOEXEC != 0, true) {
            Ok(()) => Done::Nothing,
            Err(error) => Done::Answer(Err(error.raw_os_error().unwrap_or(libc::EPERM))),
        }
    }

    /// A call on a connection of ours.
    fn answer(&mut self, call: &Call, fd: OwnedFd, cookie: u64) -> Done {
        let [_, second, third, fourth, ..] = call.arguments;
        let (level, name) = (second as c_int, third as c_int);
        let result = match i64::from(call.number) {
            libc::SYS_bind => groups_of(call.thread, second, third).and_then(|groups| {
                self.ours.insert(cookie, groups);
                listen(&fd, groups)
            }),
            // Of netlink it names the kernel, which is what it is connected to.
            libc::SYS_connect => Ok(0),
            libc::SYS_getsockname | libc::SYS_getpeername => put_address(call.thread, second, third),
            libc::SYS_setsockopt => {
                let mut value = [0; 4];
                let value =
                    kernel::read_memory(call.thread, fourth, &mut value).map(|()| u32::from_ne_bytes(value));
                let treatment = options::option(level, name, value.ok());
                let groups = self.ours.entry(cookie).or_default();
                match (treatment.groups(*groups), treatment) {
                    (Some(changed), _) => {
                        *groups = changed;
                        listen(&fd, changed)
                    }
                    (None, Treatment::Holds) => Ok(0),
                    (None, Treatment::Refused(errno)) => Err(errno),
                    (None, _) => return Done::GoOn,
                }
            }
            libc::SYS_getsockopt => match options::asked(level, name) {
                None => return Done::GoOn,
                Some(value) => value.and_then(|value| {
                    let length_at = call.arguments[4];
                    let mut length = [0; 4];
                    kernel::read_memory(call.thread, length_at, &mut length)?;
                    let room = (u32::from_ne_bytes(length) as usize).min(4);
                    kernel::write_memory(call.thread, fourth, &value.to_ne_bytes()[..room])?;
                    kernel::write_memory(call.thread, length_at, &(room as u32).to_ne_bytes())?;
                    Ok(0)
                }),
            },
            libc::SYS_recvfrom | libc::SYS_recvmsg => match Receive::new(*call, fd) {
                Ok(receive) => {
                    if !receive.try_now(&self.listener) {
                        self.waiting.push(receive);
                    }
                    return Done::Nothing;
                }
                Err(errno) => Err(errno),
            },
            _ => Err(libc::EOPNOTSUPP),
        };
        Done::Answer(result)
    }
}

/// The gateway has the port of ESP in UDP, which is IKE's as well, and lets the kernel divide what comes: a port that is
/// taken is shared, if [`ports::may_share`]. A port of a program that shares none stays its own.
fn share(call: &Call, fd: &OwnedFd) {
    let option =
        |name| kernel::option(fd, libc::SOL_SOCKET, name).ok().and_then(|value| c_int::try_from(value).ok());
    let (domain, kind) = (option(libc::SO_DOMAIN), option(libc::SO_TYPE));
    let Some(domain @ (libc::AF_INET | libc::AF_INET6)) = domain else { return };
    let length = (call.arguments[2] as usize).min(128);
    let mut address = vec![0; length];
    if kind != Some(libc::SOCK_DGRAM) || length < 4 {
        return;
    }
    let read = kernel::read_memory(call.thread, call.arguments[1], &mut address);
    let has_port = address[2..4] != [0, 0];
    let taken = read.is_ok() && has_port && kernel::is_taken(domain, &address);
    if taken && ports::may_share(domain, &address) {
        kernel::share_port(fd);
    }
}

fn connection(gateway: &Path, never_waits: bool) -> Result<OwnedFd, c_int> {
    let opened = || kernel::unix_socket(libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK);
    let fd = opened().map_err(|error| error.raw_os_error().unwrap_or(libc::EMFILE))?;
    kernel::connect(&fd, gateway)?;
    if !never_waits {
        kernel::set_never_waits(&fd, false).map_err(|_| libc::ECONNREFUSED)?;
    }
    Ok(fd)
}

/// The process that a thread is of.
fn process_of(thread: u32) -> io::Result<u32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|number| number.trim().parse().ok())
        .ok_or_else(|| io::Error::other("a thread of no process"))
}

/// As a shell says it.
fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    u8::try_from(status.code().or(signal).unwrap_or(1)).unwrap_or(1)
}
