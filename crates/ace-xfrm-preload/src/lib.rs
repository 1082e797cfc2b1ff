// SPDX-License-Identifier: Apache-2.0
//! `libace_xfrm.so`: preloaded, it turns a program's XFRM netlink sockets into connections to `ace gateway`, so that
//! `ip xfrm` and strongSwan configure it as they configure the kernel (docs/gateway.md). Every other socket is left
//! alone, but one for IKE that finds the gateway at its port: it shares it.
//!
//! The connection is a Unix socket that keeps messages apart (SOCK_SEQPACKET): reads, writes, polls and closes work on
//! it as they are. What differs is here: the address that a program binds to, asks for, and finds on messages. With no
//! gateway behind it the socket is refused; the program never reaches the kernel's XFRM instead, because then it would
//! believe that something is protected that is not. No message is copied or kept here.
#![cfg(target_os = "linux")]
// Functions of the C library are replaced: their arguments are what a C program passes.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use ace_xfrm_run::options::{self, Treatment};
use libc::{msghdr, size_t, sockaddr, sockaddr_nl, sockaddr_un, socklen_t, ssize_t};

const NETLINK_XFRM: c_int = 6;
/// Sockets with greater numbers are refused.
const MOST: usize = 1 << 16;
const DEFAULT: &CStr = c"/run/ace/xfrm.sock";

unsafe extern "C" {
    /// Of glibc: an environment variable, and null for a program that has more privilege than its user.
    fn secure_getenv(name: *const c_char) -> *const c_char;
}

/// Which sockets are connections to the gateway.
static OURS: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

/// The groups that they listen to.
static GROUPS: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];

fn groups_of(fd: c_int) -> &'static AtomicU32 {
    // Only a socket of ours is asked for, which has a place.
    usize::try_from(fd).ok().and_then(|fd| GROUPS.get(fd)).unwrap_or(&GROUPS[0])
}

/// Tells the gateway which groups a socket listens to: a no-op of netlink with them behind it.
fn listen_to(fd: c_int, groups: u32) -> c_int {
    let mut message = [0_u8; 20];
    message[0..4].copy_from_slice(&20_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&1_u16.to_ne_bytes());
    message[16..20].copy_from_slice(&groups.to_ne_bytes());
    groups_of(fd).store(groups, Ordering::Release);
    // SAFETY: the message and its length.
    let sent = unsafe { libc::send(fd, message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL) };
    if sent == 20 { 0 } else { fail(libc::ECONNREFUSED) }
}

fn is_ours(fd: c_int) -> bool {
    usize::try_from(fd).ok().and_then(|fd| OURS.get(fd)).is_some_and(|ours| ours.load(Ordering::Acquire))
}

fn set_ours(fd: c_int, ours: bool) -> bool {
    let place = usize::try_from(fd).ok().and_then(|fd| OURS.get(fd));
    place.map(|place| place.store(ours, Ordering::Release)).is_some()
}

fn fail(errno: c_int) -> c_int {
    // SAFETY: the C library gives every thread a place for it.
    unsafe { *libc::__errno_location() = errno };
    -1
}

/// The function that this library stands in front of.
macro_rules! real {
    ($name:ident: fn($($kind:ty),*) -> $result:ty) => {{
        static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
        let mut found = FOUND.load(Ordering::Acquire);
        if found.is_null() {
            let name = concat!(stringify!($name), "\0");
            // SAFETY: the name ends with a zero.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) };
            FOUND.store(found, Ordering::Release);
        }
        if found.is_null() {
            return fail(libc::ENOSYS) as $result;
        }
        // SAFETY: the C library's function of this name has this type (POSIX).
        unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) -> $result>(found) }
    }};
}

/// Netlink has no end, and programs are not made for one: charon would read nothing again and again. When the gateway
/// is gone the program hears an error once, and its descriptor becomes a socket on which nothing ever arrives and
/// nothing can be sent.
fn not_ended(fd: c_int, received: ssize_t, room: size_t) -> ssize_t {
    if received != 0 || room == 0 {
        return received;
    }
    // SAFETY: plain numbers; what is opened is closed, and the program's descriptor stays one.
    unsafe {
        let status = libc::fcntl(fd, libc::F_GETFL);
        let flags = if libc::fcntl(fd, libc::F_GETFD) & libc::FD_CLOEXEC != 0 { libc::O_CLOEXEC } else { 0 };
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        let silent = libc::syscall(libc::SYS_socket, libc::AF_UNIX, kind, 0) as c_int;
        if silent >= 0 {
            libc::dup3(silent, fd, flags);
            libc::fcntl(fd, libc::F_SETFL, status);
            libc::close(silent);
        }
    }
    fail(libc::ECONNRESET) as ssize_t
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
    match connect_to_gateway(fd) {
        Ok(()) if set_ours(fd, true) => fd,
        other => {
            // SAFETY: it was just opened, and nobody else has it.
            unsafe { libc::close(fd) };
            fail(other.err().unwrap_or(libc::EMFILE))
        }
    }
}

fn connect_to_gateway(fd: c_int) -> Result<(), c_int> {
    // SAFETY: numbers alone.
    let mut address: sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    // SAFETY: the name ends with a zero; what it gives is null or a string that ends with one. A program that runs with
    // more privilege than its user is not led elsewhere by him.
    let named = unsafe { secure_getenv(c"ACE_XFRM".as_ptr()) };
    // SAFETY: as above.
    let path = if named.is_null() { DEFAULT } else { unsafe { CStr::from_ptr(named) } };
    let bytes = path.to_bytes_with_nul();
    if bytes.len() > address.sun_path.len() {
        return Err(libc::ENAMETOOLONG);
    }
    address.sun_path.iter_mut().zip(bytes).for_each(|(to, from)| *to = from.cast_signed());
    // SAFETY: a whole address and its length.
    let done =
        unsafe { libc::connect(fd, (&raw const address).cast(), mem::size_of::<sockaddr_un>() as socklen_t) };
    // A program that hears "no such file" might think that the kernel has no XFRM.
    if done == 0 { Ok(()) } else { Err(libc::ECONNREFUSED) }
}

/// Whether a socket of UDP found its port in use, and shares it from now on: the gateway has the port of ESP in UDP, which
/// is IKE's as well, and lets the kernel divide what comes. Any other program's port stays its own: it does not share it.
///
/// # Safety
/// To be called behind a call that failed.
unsafe fn taken_by_the_gateway(fd: c_int) -> bool {
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
        let shares = kind == libc::SOCK_DGRAM
            && libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, (&raw const on).cast(), length)
                == 0;
        *libc::__errno_location() = libc::EADDRINUSE;
        shares
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
        if done == 0 || !unsafe { taken_by_the_gateway(fd) } {
            return done;
        }
        // SAFETY: as above.
        return unsafe { real(fd, address, length) };
    }
    if address.is_null() || (length as usize) < mem::size_of::<sockaddr_nl>() {
        return fail(libc::EINVAL);
    }
    // SAFETY: it is that long, and read without asking for its alignment.
    let address: sockaddr_nl = unsafe { std::ptr::read_unaligned(address.cast()) };
    listen_to(fd, address.nl_groups)
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
        match (treatment.groups(groups_of(fd).load(Ordering::Acquire)), treatment) {
            (Some(groups), _) => return listen_to(fd, groups),
            (None, Treatment::Holds) => return 0,
            (None, Treatment::Refused(errno)) => return fail(errno),
            // Of every socket: the kernel's affair.
            (None, _) => {}
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
    let (name, mut length) = (header.msg_name, header.msg_namelen);
    (header.msg_name, header.msg_namelen) = (std::ptr::null_mut(), 0);
    // SAFETY: the caller's own call, but for the address.
    let received = unsafe { real(fd, message, flags) };
    header.msg_name = name;
    if received >= 0 && !name.is_null() {
        // SAFETY: as the caller says.
        unsafe { put_address(name.cast(), &raw mut length) };
        header.msg_namelen = length;
    }
    not_ended(fd, received, 1)
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
    // SAFETY: the caller's own call, but for the address.
    let received = unsafe { real(fd, place, room, flags, std::ptr::null_mut(), std::ptr::null_mut()) };
    if received >= 0 {
        // SAFETY: as the caller says.
        unsafe { put_address(address, length) };
    }
    not_ended(fd, received, room)
}

/// # Safety
/// As `recv(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn recv(fd: c_int, place: *mut c_void, room: size_t, flags: c_int) -> ssize_t {
    let real = real!(recv: fn(c_int, *mut c_void, size_t, c_int) -> ssize_t);
    // SAFETY: the caller's own call.
    let received = unsafe { real(fd, place, room, flags) };
    if is_ours(fd) { not_ended(fd, received, room) } else { received }
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
    if is_ours(fd) {
        groups_of(fd).store(0, Ordering::Release);
    }
    set_ours(fd, false);
    // SAFETY: the caller's own call.
    unsafe { real(fd) }
}
