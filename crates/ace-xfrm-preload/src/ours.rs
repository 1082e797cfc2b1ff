// SPDX-License-Identifier: Apache-2.0
//! Which sockets are connections to the gateway, to what their programs listen, and what becomes of them when the gateway
//! goes: they wait, and are connections again when it is back.
//!
//! Netlink has no end, and programs are not made for one: charon would read nothing again and again. A socket whose gateway
//! is gone becomes a clock that is readable four times a second; whoever reads it then, or sends, has the gateway looked
//! for. The program hears an error once.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::asked;
use libc::{sockaddr_un, socklen_t, ssize_t};

/// Sockets with greater numbers are refused.
pub const MOST: usize = 1 << 16;
const DEFAULT: &CStr = c"/run/ace/xfrm.sock";
/// Before the gateway is looked for again.
const PATIENCE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 250_000_000 };

unsafe extern "C" {
    /// Of glibc: an environment variable, and null for a program that has more privilege than its user.
    fn secure_getenv(name: *const c_char) -> *const c_char;
}

const NOT_OURS: u8 = 0;
const CONNECTED: u8 = 1;
const WAITING: u8 = 2;

static STATES: [AtomicU8; MOST] = [const { AtomicU8::new(NOT_OURS) }; MOST];
/// Bits of `nl_groups`.
static GROUPS: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
/// Held while a socket becomes something else.
static CHANGE: Mutex<()> = Mutex::new(());

fn change() -> MutexGuard<'static, ()> {
    CHANGE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn state(fd: c_int) -> u8 {
    let place = usize::try_from(fd).ok().and_then(|fd| STATES.get(fd));
    place.map_or(NOT_OURS, |state| state.load(Ordering::Acquire))
}

fn set_state(fd: c_int, state: u8) -> bool {
    let place = usize::try_from(fd).ok().and_then(|fd| STATES.get(fd));
    place.map(|place| place.store(state, Ordering::Release)).is_some()
}

/// Whether its gateway is gone.
pub fn waits(fd: c_int) -> bool {
    state(fd) == WAITING
}

pub fn is_ours(fd: c_int) -> bool {
    state(fd) != NOT_OURS
}

/// A socket that was just made is a connection. False if it cannot be remembered.
pub fn take(fd: c_int) -> bool {
    forget_groups(fd);
    set_state(fd, CONNECTED)
}

/// It is closed.
pub fn forget(fd: c_int) {
    forget_groups(fd);
    set_state(fd, NOT_OURS);
}

fn forget_groups(fd: c_int) {
    asked::forget(fd);
    change_groups(fd, |_| 0);
}

/// What a program listens to from now on.
fn change_groups(fd: c_int, to: impl Fn(u32) -> u32) -> u32 {
    let place = usize::try_from(fd).ok().and_then(|fd| GROUPS.get(fd));
    place.map_or(0, |place| {
        let groups = to(place.load(Ordering::Acquire));
        place.store(groups, Ordering::Release);
        groups
    })
}

/// Whether a program listens to anything.
pub fn listens(fd: c_int) -> bool {
    change_groups(fd, |groups| groups) != 0
}

/// Tells the gateway what a program listens to. False if it is not there.
pub fn listen(fd: c_int, to: impl Fn(u32) -> u32) -> bool {
    let groups = change_groups(fd, to);
    state(fd) != CONNECTED || say(fd, groups)
}

/// A no-op of netlink with the groups.
fn say(fd: c_int, groups: u32) -> bool {
    let mut message = [0_u8; 20];
    message[0..4].copy_from_slice(&20_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&1_u16.to_ne_bytes());
    message[16..20].copy_from_slice(&groups.to_ne_bytes());
    // SAFETY: the message and its length. `write` is not replaced here, and the peer may be gone.
    unsafe {
        let iov = libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: message.len() };
        let mut header: libc::msghdr = mem::zeroed();
        (header.msg_iov, header.msg_iovlen) = ((&raw const iov).cast_mut(), 1);
        libc::syscall(libc::SYS_sendmsg, fd, &raw const header, libc::MSG_NOSIGNAL) == 20
    }
}

/// Connects a fresh socket.
///
/// # Errors
/// The errno that a program hears.
pub fn connect(fd: c_int) -> Result<(), c_int> {
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
    let length = mem::size_of::<sockaddr_un>() as socklen_t;
    // SAFETY: a whole address and its length.
    let done = unsafe { libc::syscall(libc::SYS_connect, fd, &raw const address, length) };
    // A program that hears "no such file" might think that the kernel has no XFRM.
    if done == 0 { Ok(()) } else { Err(libc::ECONNREFUSED) }
}

/// Puts a descriptor in the place of another one, whose flags it gets. Takes it in any case.
///
/// # Safety
/// `new` is nobody else's.
unsafe fn replace(fd: c_int, new: c_int) -> bool {
    // SAFETY: plain numbers; what is opened is closed, and the program's descriptor stays one.
    unsafe {
        let status = libc::fcntl(fd, libc::F_GETFL);
        let flags = if libc::fcntl(fd, libc::F_GETFD) & libc::FD_CLOEXEC != 0 { libc::O_CLOEXEC } else { 0 };
        let done = libc::dup3(new, fd, flags) == fd;
        if done && status >= 0 {
            libc::fcntl(fd, libc::F_SETFL, status & libc::O_NONBLOCK);
        }
        libc::syscall(libc::SYS_close, new);
        done
    }
}

/// The gateway is gone.
pub fn wait(fd: c_int) {
    let _held = change();
    if state(fd) != CONNECTED {
        return;
    }
    // SAFETY: plain numbers, and a time that is there.
    unsafe {
        let clock = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK);
        if clock < 0 {
            return;
        }
        let again = libc::itimerspec { it_interval: PATIENCE, it_value: PATIENCE };
        libc::timerfd_settime(clock, 0, &raw const again, std::ptr::null_mut());
        if replace(fd, clock) {
            set_state(fd, WAITING);
        }
    }
}

/// Looks for the gateway, if the socket waits for it. True if it is there.
pub fn returned(fd: c_int) -> bool {
    let _held = change();
    if state(fd) != WAITING {
        return true;
    }
    // SAFETY: plain numbers, and eight bytes for what the clock says.
    unsafe {
        let mut ticks = 0_u64;
        // What the clock has said is heard also where the descriptor waits and a call does not (MSG_DONTWAIT): it would be
        // readable for ever otherwise, and whoever polls it would spin.
        let mut clock = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let nothing = std::ptr::null::<c_void>();
        if libc::syscall(libc::SYS_ppoll, &raw mut clock, 1, &raw const now, nothing, 0) == 1 {
            libc::syscall(libc::SYS_read, fd, &raw mut ticks, mem::size_of::<u64>());
        }
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
        let new = libc::syscall(libc::SYS_socket, libc::AF_UNIX, kind, 0) as c_int;
        if new < 0 {
            return false;
        }
        if connect(new).is_err() {
            libc::syscall(libc::SYS_close, new);
            return false;
        }
        if !replace(fd, new) {
            return false;
        }
    }
    set_state(fd, CONNECTED);
    let groups = change_groups(fd, |groups| groups);
    groups == 0 || say(fd, groups)
}

/// Before something is read: whether there is somebody to be heard. Whoever may not wait is told that nothing has come.
pub fn awaited(fd: c_int, flags: c_int) -> bool {
    while state(fd) == WAITING {
        if returned(fd) {
            break;
        }
        // SAFETY: plain numbers; one descriptor that is there.
        unsafe {
            if flags & libc::MSG_DONTWAIT != 0 || libc::fcntl(fd, libc::F_GETFL) & libc::O_NONBLOCK != 0 {
                return false;
            }
            let mut ticks = 0_u64;
            let mut clock = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            if libc::poll(&raw mut clock, 1, -1) == 1 && state(fd) == WAITING {
                libc::syscall(libc::SYS_read, fd, &raw mut ticks, mem::size_of::<u64>());
            }
        }
    }
    true
}

/// Whether nothing was read because the gateway is gone.
pub fn has_ended(fd: c_int, received: ssize_t, room: usize) -> bool {
    // A gateway that ends while somebody comes back to it resets what it has not taken yet.
    // SAFETY: the C library gives every thread a place for it.
    let reset = received < 0 && unsafe { *libc::__errno_location() } == libc::ECONNRESET;
    let gone = (received == 0 && room != 0 || reset) && state(fd) == CONNECTED;
    if gone {
        wait(fd);
    }
    gone
}
