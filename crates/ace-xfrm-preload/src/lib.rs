// SPDX-License-Identifier: Apache-2.0
//! `libace_xfrm.so`: preloaded, it turns a program's XFRM netlink sockets into connections to `ace gateway`, so that
//! `ip xfrm` and strongSwan configure it as they configure the kernel (docs/gateway-xfrm.md). Every other socket is left
//! alone, but one for IKE that finds the gateway at its port: it shares it.
//!
//! The connection is a Unix socket that keeps messages apart (SOCK_SEQPACKET): reads, writes, polls and closes work on
//! it as they are. What differs is here: the address that a program binds to, asks for, and finds on messages, and what it
//! hears when the gateway goes (`ours.rs`). With no
//! gateway behind it the socket is refused; the program never reaches the kernel's XFRM instead, because then it would
//! believe that something is protected that is not. No message is copied or kept here.
#![cfg(target_os = "linux")]
// Functions of the C library are replaced: their arguments are what a C program passes.
#![allow(unsafe_code)]

#[macro_use]
mod real;
mod asked;
mod ours;
mod send;

use std::ffi::{c_int, c_void};
use std::mem;

use ace_xfrm_run::options::{self, Treatment};
use ace_xfrm_run::ports;
use libc::{msghdr, size_t, sockaddr, sockaddr_nl, socklen_t, ssize_t};
use ours::is_ours;

const NETLINK_XFRM: c_int = 6;

fn fail(errno: c_int) -> c_int {
    // SAFETY: the C library gives every thread a place for it.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// What a read gives a program when the gateway is gone: an answer to what it has asked, or an error, once. Whoever listens
/// is told what netlink says when something was lost, and listens on; but not with a call that does not wait, for which
/// nothing has come: charon sleeps for a second on any error, and turns in a circle meanwhile if another socket has news.
///
/// # Safety
/// There is room for so many bytes at a place.
unsafe fn heard(
    fd: c_int,
    received: ssize_t,
    ended: bool,
    (place, room): (*mut c_void, size_t),
    flags: c_int,
) -> ssize_t {
    match ended {
        false => received,
        true if ours::listens(fd) && flags & libc::MSG_DONTWAIT != 0 => fail(libc::EAGAIN) as ssize_t,
        true if ours::listens(fd) => fail(libc::ENOBUFS) as ssize_t,
        // SAFETY: as the caller says.
        true => unsafe { asked::refused(fd, place, room, flags) }
            .unwrap_or_else(|| fail(libc::ECONNRESET) as ssize_t),
    }
}

/// The first part of a message: requests and answers have no others.
///
/// # Safety
/// The message is valid.
unsafe fn part(message: &msghdr) -> (*mut c_void, size_t) {
    match message.msg_iovlen {
        0 => (std::ptr::null_mut(), 0),
        // SAFETY: as the caller says.
        _ => unsafe { ((*message.msg_iov).iov_base, (*message.msg_iov).iov_len) },
    }
}

/// The address that the kernel's end of netlink has, and a client that asks for none.
fn nobody() -> sockaddr_nl {
    // SAFETY: numbers alone, for which zeros are values.
    let mut address: sockaddr_nl = unsafe { mem::zeroed() };
    address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
    address
}

/// Writes it where a caller wants an address, as far as there is room, and says how long it is.
///
/// # Safety
/// `length`, unless it is null, is valid, and `place` for as many bytes as it says.
unsafe fn put_address(place: *mut sockaddr, length: *mut socklen_t) {
    if place.is_null() || length.is_null() {
        return;
    }
    let address = nobody();
    let whole = mem::size_of::<sockaddr_nl>();
    // SAFETY: as the caller says, and no more than there is of both.
    unsafe {
        let room = (*length as usize).min(whole);
        std::ptr::copy_nonoverlapping((&raw const address).cast::<u8>(), place.cast::<u8>(), room);
        *length = whole as socklen_t;
    }
}

/// # Safety
/// As `socket(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    let real = real!(socket: fn(c_int, c_int, c_int) -> c_int);
    if domain != libc::AF_NETLINK || protocol != NETLINK_XFRM {
        // SAFETY: the caller's own call.
        return unsafe { real(domain, kind, protocol) };
    }
    let flags = kind & (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
    // SAFETY: plain numbers.
    let fd = unsafe { real(libc::AF_UNIX, libc::SOCK_SEQPACKET | flags, 0) };
    if fd < 0 {
        return fd;
    }
    match ours::connect(fd) {
        Ok(()) if ours::take(fd) => fd,
        other => {
            // SAFETY: it was just opened, and nobody else has it.
            unsafe { libc::close(fd) };
            fail(other.err().unwrap_or(libc::EMFILE))
        }
    }
}

/// Whether a socket of UDP found its port in use, and shares it from now on: the gateway has the port of ESP in UDP, which
/// is IKE's as well, and lets the kernel divide what comes ([`ports::may_share`]). Any other program's port stays its own:
/// it does not share it.
///
/// # Safety
/// To be called behind a call of `bind(2)` with these that failed.
unsafe fn taken_by_the_gateway(fd: c_int, address: *const sockaddr, address_length: socklen_t) -> bool {
    // SAFETY: the C library's place; plain numbers and their lengths.
    unsafe {
        let (mut kind, mut length): (c_int, _) = (0, mem::size_of::<c_int>() as socklen_t);
        if *libc::__errno_location() != libc::EADDRINUSE
            || libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &raw mut length)
                != 0
        {
            return false;
        }
        let (on, length): (c_int, _) = (1, mem::size_of::<c_int>() as socklen_t);
        // The kernel has read it.
        let bytes = std::slice::from_raw_parts(address.cast::<u8>(), address_length as usize);
        let shares = kind == libc::SOCK_DGRAM
            && ports::may_share(c_int::from((*address).sa_family), bytes)
            && libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, (&raw const on).cast(), length)
                == 0;
        *libc::__errno_location() = libc::EADDRINUSE;
        shares
    }
}

/// Of the two sockets at the gateway's port this one came later: what begins with RFC 3948's marker, four zeros, is its, and
/// all else the first one's. The gateway says it so when it is the later one.
fn divide(fd: c_int) {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, 0),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    let length = mem::size_of::<libc::sock_fprog>() as socklen_t;
    // SAFETY: a program that is there, and its length. Without it IKE would be the gateway's for a while.
    unsafe {
        let option = libc::SO_ATTACH_REUSEPORT_CBPF;
        libc::syscall(libc::SYS_setsockopt, fd, libc::SOL_SOCKET, option, &raw const program, length);
    }
}

/// # Safety
/// As `bind(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    if !is_ours(fd) {
        let real = real!(bind: fn(c_int, *const sockaddr, socklen_t) -> c_int);
        // SAFETY: the caller's own call.
        let done = unsafe { real(fd, address, length) };
        // SAFETY: as above.
        if done == 0 || !unsafe { taken_by_the_gateway(fd, address, length) } {
            return done;
        }
        // SAFETY: as above.
        let done = unsafe { real(fd, address, length) };
        if done == 0 {
            divide(fd);
        }
        return done;
    }
    if address.is_null() || (length as usize) < mem::size_of::<sockaddr_nl>() {
        return fail(libc::EINVAL);
    }
    // SAFETY: it is that long, and read without asking for its alignment.
    let address: sockaddr_nl = unsafe { std::ptr::read_unaligned(address.cast()) };
    if ours::listen(fd, |_| address.nl_groups) { 0 } else { fail(libc::ECONNREFUSED) }
}

/// # Safety
/// As `getsockname(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockname(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    if !is_ours(fd) {
        let real = real!(getsockname: fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int);
        // SAFETY: the caller's own call.
        return unsafe { real(fd, address, length) };
    }
    // SAFETY: as the caller says.
    unsafe { put_address(address, length) };
    0
}

/// # Safety
/// As `setsockopt(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    if is_ours(fd) {
        let there = !value.is_null() && length as usize >= mem::size_of::<u32>();
        // SAFETY: it is that long, and read without asking for its alignment.
        let number = there.then(|| unsafe { std::ptr::read_unaligned(value.cast::<u32>()) });
        let treatment = options::option(level, name, number);
        match treatment {
            Treatment::Group { .. } => {
                let done = ours::listen(fd, |groups| treatment.groups(groups).unwrap_or(groups));
                return if done { 0 } else { fail(libc::ECONNREFUSED) };
            }
            Treatment::Holds => return 0,
            Treatment::Refused(errno) => return fail(errno),
            // Of every socket: the kernel's affair.
            Treatment::Socket => {}
        }
    }
    let real = real!(setsockopt: fn(c_int, c_int, c_int, *const c_void, socklen_t) -> c_int);
    // SAFETY: the caller's own call.
    unsafe { real(fd, level, name, value, length) }
}

/// # Safety
/// As `getsockopt(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let asked = if is_ours(fd) { options::asked(level, name) } else { None };
    match asked {
        Some(Err(errno)) => fail(errno),
        Some(Ok(number)) if !value.is_null() && !length.is_null() => {
            // SAFETY: as the caller says, and no more than there is room for.
            unsafe {
                let room = (*length as usize).min(mem::size_of::<u32>());
                std::ptr::copy_nonoverlapping((&raw const number).cast::<u8>(), value.cast::<u8>(), room);
                *length = room as socklen_t;
            }
            0
        }
        _ => {
            let real = real!(getsockopt: fn(c_int, c_int, c_int, *mut c_void, *mut socklen_t) -> c_int);
            // SAFETY: the caller's own call.
            unsafe { real(fd, level, name, value, length) }
        }
    }
}

/// # Safety
/// As `recvmsg(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    let real = real!(recvmsg: fn(c_int, *mut msghdr, c_int) -> ssize_t);
    if !is_ours(fd) || message.is_null() {
        // SAFETY: the caller's own call.
        return unsafe { real(fd, message, flags) };
    }
    // SAFETY: the caller's message is valid.
    let header = unsafe { &mut *message };
    // SAFETY: as above.
    let (place, room) = unsafe { part(header) };
    // SAFETY: as above.
    let refused = unsafe { asked::refused(fd, place, room, flags) };
    if refused.is_none() && !ours::awaited(fd, flags) {
        return fail(libc::EAGAIN) as ssize_t;
    }
    let (name, mut length) = (header.msg_name, header.msg_namelen);
    (header.msg_name, header.msg_namelen) = (std::ptr::null_mut(), 0);
    // SAFETY: the caller's own call, but for the address.
    let received = refused.unwrap_or_else(|| unsafe { real(fd, message, flags) });
    header.msg_name = name;
    if received >= 0 && !name.is_null() {
        // SAFETY: as the caller says.
        unsafe { put_address(name.cast(), &raw mut length) };
        header.msg_namelen = length;
    }
    // Of a message that nothing is read of the length is asked for.
    let ended = ours::has_ended(fd, received, 1);
    // SAFETY: as above.
    unsafe { heard(fd, received, ended, (place, room), flags) }
}

/// # Safety
/// As `recvfrom(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recvfrom(
    fd: c_int,
    place: *mut c_void,
    room: size_t,
    flags: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> ssize_t {
    let real =
        real!(recvfrom: fn(c_int, *mut c_void, size_t, c_int, *mut sockaddr, *mut socklen_t) -> ssize_t);
    if !is_ours(fd) {
        // SAFETY: the caller's own call.
        return unsafe { real(fd, place, room, flags, address, length) };
    }
    // SAFETY: as the caller says.
    let refused = unsafe { asked::refused(fd, place, room, flags) };
    if refused.is_none() && !ours::awaited(fd, flags) {
        return fail(libc::EAGAIN) as ssize_t;
    }
    let nobody = std::ptr::null_mut();
    // SAFETY: the caller's own call, but for the address.
    let received = refused.unwrap_or_else(|| unsafe { real(fd, place, room, flags, nobody, nobody.cast()) });
    if received >= 0 {
        // SAFETY: as the caller says.
        unsafe { put_address(address, length) };
    }
    let ended = ours::has_ended(fd, received, room);
    // SAFETY: as the caller says.
    unsafe { heard(fd, received, ended, (place, room), flags) }
}

/// # Safety
/// As `recv(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recv(fd: c_int, place: *mut c_void, room: size_t, flags: c_int) -> ssize_t {
    let real = real!(recv: fn(c_int, *mut c_void, size_t, c_int) -> ssize_t);
    // SAFETY: as the caller says.
    if let Some(answer) = unsafe { asked::refused(fd, place, room, flags) } {
        return answer;
    }
    if is_ours(fd) && !ours::awaited(fd, flags) {
        return fail(libc::EAGAIN) as ssize_t;
    }
    // SAFETY: the caller's own call.
    let received = unsafe { real(fd, place, room, flags) };
    let ended = ours::has_ended(fd, received, room);
    // SAFETY: as the caller says.
    unsafe { heard(fd, received, ended, (place, room), flags) }
}

/// What `recv` is called by programs that were compiled with checks of lengths.
///
/// # Safety
/// As `recv(2)`; there are `whole` bytes at `place`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recv_chk(
    fd: c_int,
    place: *mut c_void,
    room: size_t,
    whole: size_t,
    flags: c_int,
) -> ssize_t {
    if room > whole {
        std::process::abort();
    }
    // SAFETY: as the caller says.
    unsafe { recv(fd, place, room, flags) }
}

/// What `recvfrom` is called by programs that were compiled with checks of lengths.
///
/// # Safety
/// As `recvfrom(2)`; there are `whole` bytes at `place`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recvfrom_chk(
    fd: c_int,
    place: *mut c_void,
    room: size_t,
    whole: size_t,
    flags: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> ssize_t {
    if room > whole {
        std::process::abort();
    }
    // SAFETY: as the caller says.
    unsafe { recvfrom(fd, place, room, flags, address, length) }
}

/// # Safety
/// As `connect(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // It is connected; of netlink that names the kernel.
    if is_ours(fd) {
        return 0;
    }
    let real = real!(connect: fn(c_int, *const sockaddr, socklen_t) -> c_int);
    // SAFETY: the caller's own call.
    unsafe { real(fd, address, length) }
}

/// # Safety
/// As `close(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    let real = real!(close: fn(c_int) -> c_int);
    ours::forget(fd);
    // SAFETY: the caller's own call.
    unsafe { real(fd) }
}
