// SPDX-License-Identifier: Apache-2.0
//! What the kernel offers for this: the filter's listener, another program's memory and descriptors,
//! sockets.
#![allow(unsafe_code)] // Calls of the system.

use std::ffi::{c_int, c_ulong, c_void};
use std::io;
use std::mem::{self, size_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

// linux/seccomp.h.
const GET_ACTION_AVAIL: c_int = 2;
const GET_NOTIF_SIZES: c_int = 3;
const RET_USER_NOTIF: u32 = 0x7fc0_0000;
const FLAG_CONTINUE: u32 = 1;
const RECV: c_ulong = 0xc050_2100;
const SEND: c_ulong = 0xc018_2101;
const ID_VALID: c_ulong = 0x4008_2102;
const ADDFD: c_ulong = 0x4018_2103;
const ADDFD_SETFD: u32 = 1;
const ADDFD_SEND: u32 = 2;

pub fn check(result: impl TryInto<i64>) -> io::Result<i64> {
    match result.try_into() {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether the kernel tells of calls, and in the form that is known here.
pub fn supported() -> io::Result<()> {
    let mut sizes = [0_u16; 3];
    let action = RET_USER_NOTIF;
    // SAFETY: a place for three numbers, and one number.
    unsafe {
        check(libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const action))?;
        check(libc::syscall(libc::SYS_seccomp, GET_NOTIF_SIZES, 0, sizes.as_mut_ptr()))?;
    }
    // A newer kernel may have longer ones; it says how long, and we have no place for them.
    let [told, answer, _] = sizes.map(usize::from);
    match told == size_of::<Call>() && answer == size_of::<Answer>() {
        true => Ok(()),
        false => Err(io::Error::other("its messages have another length")),
    }
}

/// How many descriptors a program may have.
pub fn most_descriptors() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place for it.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0 { limit.rlim_cur } else { 0 }
}

/// struct seccomp_notif: a call that waits.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Call {
    pub id: u64,
    /// The thread that calls.
    pub thread: u32,
    flags: u32,
    pub number: c_int,
    arch: u32,
    instruction: u64,
    pub arguments: [u64; 6],
}

/// struct seccomp_notif_resp.
#[repr(C)]
struct Answer {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// struct seccomp_notif_addfd.
#[repr(C)]
struct AddFd {
    id: u64,
    flags: u32,
    from: u32,
    to: u32,
    to_flags: u32,
}

/// The listener of the filter.
pub struct Listener(pub OwnedFd);

impl Listener {
    fn ask<T>(&self, request: c_ulong, what: *mut T) -> io::Result<i64> {
        // SAFETY: each request with its own structure.
        check(unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, what) })
    }

    /// The next call; `None` if its program is gone meanwhile.
    pub fn next(&self) -> Option<Call> {
        let mut call = Call::default();
        self.ask(RECV, &raw mut call).ok().map(|_| call)
    }

    /// Whether the call still waits: then its thread, its memory and its descriptors are those that we looked at.
    pub fn waits(&self, id: u64) -> bool {
        let mut id = id;
        self.ask(ID_VALID, &raw mut id).is_ok()
    }

    /// What the call gives. A program that is gone hears nothing.
    pub fn answer(&self, id: u64, result: Result<i64, c_int>) {
        let (value, error) = result.map_or_else(|errno| (0, -errno), |value| (value, 0));
        let mut answer = Answer { id, value, error, flags: 0 };
        drop(self.ask(SEND, &raw mut answer));
    }

    /// The kernel does the call as it is. Never for one that we keep from it: its memory may change before it is done.
    pub fn go_on(&self, id: u64) {
        let mut answer = Answer { id, value: 0, error: 0, flags: FLAG_CONTINUE };
        drop(self.ask(SEND, &raw mut answer));
    }

    /// Puts a descriptor into the program, at a number; the call gives that number if `answers`.
    pub fn put(&self, id: u64, fd: &OwnedFd, number: u32, closes: bool, answers: bool) -> io::Result<()> {
        let flags = ADDFD_SETFD | if answers { ADDFD_SEND } else { 0 };
        let to_flags = if closes { libc::O_CLOEXEC as u32 } else { 0 };
        let mut add = AddFd { id, flags, from: fd.as_raw_fd().cast_unsigned(), to: number, to_flags };
        self.ask(ADDFD, &raw mut add).map(drop)
    }
}

/// A copy of a descriptor of another process.
pub fn descriptor_of(process: u32, number: u32) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers; what comes is ours alone.
    unsafe {
        let handle = check(libc::syscall(libc::SYS_pidfd_open, process, 0))?;
        let handle = OwnedFd::from_raw_fd(handle as RawFd);
        let fd = check(libc::syscall(libc::SYS_pidfd_getfd, handle.as_raw_fd(), number, 0))?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// Memory of another process, at its address.
fn iovec(at: u64, len: usize) -> libc::iovec {
    libc::iovec { iov_base: at as usize as *mut c_void, iov_len: len }
}

/// Reads a whole piece of another program's memory.
pub fn read_memory(thread: u32, at: u64, into: &mut [u8]) -> Result<(), c_int> {
    let (ours, theirs) =
        (libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() }, iovec(at, into.len()));
    // SAFETY: our piece is as long as it says; the kernel looks at the other one.
    let got =
        unsafe { libc::process_vm_readv(thread.cast_signed(), &raw const ours, 1, &raw const theirs, 1, 0) };
    if got == into.len() as isize { Ok(()) } else { Err(libc::EFAULT) }
}

/// Writes a whole piece of another program's memory.
pub fn write_memory(thread: u32, at: u64, from: &[u8]) -> Result<(), c_int> {
    if from.is_empty() {
        return Ok(());
    }
    let (ours, theirs) = (
        libc::iovec { iov_base: from.as_ptr().cast_mut().cast(), iov_len: from.len() },
        iovec(at, from.len()),
    );
    // SAFETY: as above; ours is read only.
    let put =
        unsafe { libc::process_vm_writev(thread.cast_signed(), &raw const ours, 1, &raw const theirs, 1, 0) };
    if put == from.len() as isize { Ok(()) } else { Err(libc::EFAULT) }
}

/// A number that is an option of a socket.
pub fn option(fd: &OwnedFd, level: c_int, name: c_int) -> io::Result<u64> {
    let (mut value, mut length) = (0_u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: a place and its length; of shorter options the rest stays 0.
    check(unsafe {
        libc::getsockopt(fd.as_raw_fd(), level, name, (&raw mut value).cast(), &raw mut length)
    })?;
    Ok(value)
}

/// How long a receive waits; zeros: for ever.
pub fn patience(fd: &OwnedFd) -> Option<std::time::Duration> {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let mut length = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: a place and its length.
    let asked = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw mut time).cast(),
            &raw mut length,
        )
    };
    let given =
        std::time::Duration::new(time.tv_sec.unsigned_abs(), time.tv_usec.unsigned_abs() as u32 * 1000);
    (asked == 0 && !given.is_zero()).then_some(given)
}

/// A socket with its port shared from now on.
pub fn share_port(fd: &OwnedFd) {
    let on: c_int = 1;
    let length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: a number and its length.
    unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_REUSEPORT,
            (&raw const on).cast(),
            length,
        );
    }
}

/// Whether calls on it never wait.
pub fn never_waits(fd: &OwnedFd) -> bool {
    // SAFETY: plain numbers.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) & libc::O_NONBLOCK != 0 }
}

/// Whether calls on it never wait from now on.
pub fn set_never_waits(fd: &OwnedFd, on: bool) -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, if on { libc::O_NONBLOCK } else { 0 }) })
        .map(drop)
}

/// A socket of Unix, connected to nothing.
pub fn unix_socket(kind: c_int) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers; what comes is ours alone.
    unsafe {
        let fd = check(libc::socket(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0))?;
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// Connects it to a path, without waiting for anybody.
pub fn connect(fd: &OwnedFd, path: &std::path::Path) -> Result<(), c_int> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: numbers alone.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    // With a zero behind it.
    if bytes.len() >= address.sun_path.len() {
        return Err(libc::ENAMETOOLONG);
    }
    address.sun_path.iter_mut().zip(bytes).for_each(|(to, from)| *to = from.cast_signed());
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: a whole address and its length.
    let done = unsafe { libc::connect(fd.as_raw_fd(), (&raw const address).cast(), length) };
    // A program that hears "no such file" might think that the kernel has no XFRM.
    if done == 0 { Ok(()) } else { Err(libc::ECONNREFUSED) }
}

/// Sends a message whole.
pub fn send(fd: &OwnedFd, message: &[u8]) -> bool {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: as many bytes as there are.
    let sent = unsafe { libc::send(fd.as_raw_fd(), message.as_ptr().cast(), message.len(), flags) };
    sent == message.len() as isize
}

/// Receives without waiting: how long the message is, and whether it was cut.
pub fn receive(fd: &OwnedFd, into: &mut [u8], flags: c_int) -> Result<(usize, c_int), c_int> {
    let mut iov = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: numbers and pointers, for which zeros are values; a piece as long as it is.
    unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut iov;
        message.msg_iovlen = 1;
        match check(libc::recvmsg(fd.as_raw_fd(), &raw mut message, flags | libc::MSG_DONTWAIT)) {
            Ok(len) => Ok((len as usize, message.msg_flags)),
            Err(error) => Err(error.raw_os_error().unwrap_or(libc::EIO)),
        }
    }
}

/// Whether an address of UDP is taken by somebody: it cannot be bound to.
pub fn is_taken(domain: c_int, address: &[u8]) -> bool {
    // SAFETY: plain numbers, and an address as long as it is; what is opened is closed.
    unsafe {
        let fd = libc::socket(domain, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if fd < 0 {
            return false;
        }
        let fd = OwnedFd::from_raw_fd(fd);
        if domain == libc::AF_INET6 {
            let (on, length): (c_int, _) = (1, size_of::<c_int>() as libc::socklen_t);
            libc::setsockopt(
                fd.as_raw_fd(),
                libc::IPPROTO_IPV6,
                libc::IPV6_V6ONLY,
                (&raw const on).cast(),
                length,
            );
        }
        libc::bind(fd.as_raw_fd(), address.as_ptr().cast(), address.len() as libc::socklen_t) < 0
            && io::Error::last_os_error().raw_os_error() == Some(libc::EADDRINUSE)
    }
}

/// Whether an address of IPv4 is taken because somebody has its port at every address: beside him the kernel gives an
/// address of its own all that comes to it, and divides nothing.
pub fn is_taken_everywhere(domain: c_int, address: &[u8]) -> bool {
    // `sockaddr_in`: family, port, address. Nobody takes this one of the loopback's for himself.
    const NOBODYS: [u8; 4] = [127, 77, 66, 55];
    let mut other = address.to_vec();
    match other.get_mut(4..8) {
        Some(place) if domain == libc::AF_INET && *place != [0; 4] => place.copy_from_slice(&NOBODYS),
        _ => return false,
    }
    is_taken(domain, &other)
}

/// Waits until one of them has something, or for some time. Which have.
pub fn wait(fds: &[RawFd], milliseconds: c_int) -> Vec<bool> {
    let mut polled: Vec<_> =
        fds.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    // SAFETY: as many as there are.
    unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds) };
    polled.iter().map(|one| one.revents != 0).collect()
}

/// Whether a listener hears of nobody any more.
pub fn is_over(fd: RawFd) -> bool {
    let mut polled = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one.
    unsafe { libc::poll(&raw mut polled, 1, 0) };
    polled.revents & libc::POLLHUP != 0
}
