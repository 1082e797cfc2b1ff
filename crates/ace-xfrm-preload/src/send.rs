// SPDX-License-Identifier: Apache-2.0
//! What a program sends to the kernel's end of netlink.

use std::ffi::{c_int, c_void};

use libc::{msghdr, size_t, sockaddr, socklen_t, ssize_t};

use crate::ours::is_ours;
use crate::{asked, fail, ours, part};

/// Sends, and once more if the gateway went and is back meanwhile. What it had answered is lost with it.
///
/// # Safety
/// There are so many bytes at a place.
unsafe fn sent(
    fd: c_int,
    send: impl Fn(c_int) -> ssize_t,
    (place, length): (*const c_void, size_t),
    flags: c_int,
) -> ssize_t {
    if !is_ours(fd) {
        return send(flags);
    }
    for again in [true, false] {
        if !ours::returned(fd) {
            break;
        }
        // Before its answer may come. SAFETY: as the caller says.
        unsafe { asked::remember(fd, place, length) };
        // Netlink has no end of which a signal tells.
        let done = send(flags | libc::MSG_NOSIGNAL);
        // SAFETY: the C library's place.
        let errno = unsafe { *libc::__errno_location() };
        if done >= 0 || !again || !matches!(errno, libc::EPIPE | libc::ECONNRESET | libc::ENOTCONN) {
            return done;
        }
        ours::wait(fd);
    }
    fail(libc::ECONNREFUSED) as ssize_t
}

/// # Safety
/// As `send(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn send(fd: c_int, place: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    let real = real!(send: fn(c_int, *const c_void, size_t, c_int) -> ssize_t);
    // SAFETY: the caller's own call.
    unsafe { sent(fd, |flags| real(fd, place, length, flags), (place, length), flags) }
}

/// # Safety
/// As `sendto(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendto(
    fd: c_int,
    place: *const c_void,
    length: size_t,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> ssize_t {
    let real = real!(sendto: fn(c_int, *const c_void, size_t, c_int, *const sockaddr, socklen_t) -> ssize_t);
    // It names the kernel.
    let (address, address_length) =
        if is_ours(fd) { (std::ptr::null(), 0) } else { (address, address_length) };
    // SAFETY: the caller's own call.
    unsafe {
        sent(fd, |flags| real(fd, place, length, flags, address, address_length), (place, length), flags)
    }
}

/// # Safety
/// As `sendmsg(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    let real = real!(sendmsg: fn(c_int, *const msghdr, c_int) -> ssize_t);
    if !is_ours(fd) || message.is_null() {
        // SAFETY: the caller's own call.
        return unsafe { real(fd, message, flags) };
    }
    // SAFETY: the caller's message is valid. The address that it has names the kernel.
    let mut message = unsafe { std::ptr::read(message) };
    (message.msg_name, message.msg_namelen) = (std::ptr::null_mut(), 0);
    // SAFETY: the caller's own call, but for the address.
    unsafe {
        let (place, length) = part(&message);
        sent(fd, |flags| real(fd, &raw const message, flags), (place.cast_const(), length), flags)
    }
}
