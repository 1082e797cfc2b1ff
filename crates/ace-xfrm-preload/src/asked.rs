// SPDX-License-Identifier: Apache-2.0
//! Requests whose gateway went before it answered. Of the kernel there is always an answer, and charon waits for one without
//! end: it gets one, an error of netlink with the request's number.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use libc::{size_t, ssize_t};

use crate::ours;

/// A header of netlink, and behind it an error and the header of the request.
const HEADER: usize = 16;
const ANSWER: usize = 2 * HEADER + 4;
const NLMSG_ERROR: u16 = 2;
/// There is a request: its number is below.
const THERE: u64 = 1 << 32;

/// The last request of each socket.
static ASKED: [AtomicU64; ours::MOST] = [const { AtomicU64::new(0) }; ours::MOST];

fn place(fd: c_int) -> Option<&'static AtomicU64> {
    usize::try_from(fd).ok().and_then(|fd| ASKED.get(fd))
}

/// A socket is another one.
pub fn forget(fd: c_int) {
    if let Some(place) = place(fd) {
        place.store(0, Ordering::Release);
    }
}

/// A request went to the gateway.
///
/// # Safety
/// There are `length` bytes at `message`.
pub unsafe fn remember(fd: c_int, message: *const c_void, length: size_t) {
    if message.is_null() || length < HEADER {
        return;
    }
    // SAFETY: as the caller says.
    let header = unsafe { message.cast::<[u8; HEADER]>().read_unaligned() };
    let [.., a, b, c, d, _, _, _, _] = header;
    if let Some(place) = place(fd) {
        place.store(THERE | u64::from(u32::from_ne_bytes([a, b, c, d])), Ordering::Release);
    }
}

/// The answer to a request whose gateway is gone, once; `None`: there is none.
///
/// # Safety
/// There is room for `room` bytes at `at`.
pub unsafe fn refused(fd: c_int, at: *mut c_void, room: size_t, flags: c_int) -> Option<ssize_t> {
    if !ours::waits(fd) || ours::listens(fd) {
        return None;
    }
    let place = place(fd)?;
    let asked = match flags & libc::MSG_PEEK {
        0 => place.swap(0, Ordering::AcqRel),
        _ => place.load(Ordering::Acquire),
    };
    let answer = answer((asked & THERE != 0).then_some(asked as u32)?);
    let length = room.min(answer.len());
    if !at.is_null() {
        // SAFETY: as the caller says, and no more than there is of the answer.
        unsafe { std::ptr::copy_nonoverlapping(answer.as_ptr(), at.cast(), length) };
    }
    // Whoever asks for it hears how long the message is.
    let told = if flags & libc::MSG_TRUNC != 0 { answer.len() } else { length };
    ssize_t::try_from(told).ok()
}

/// `nlmsgerr`, without what the request was but for its number.
fn answer(number: u32) -> [u8; ANSWER] {
    let mut answer = [0; ANSWER];
    let mut put = |at: usize, bytes: &[u8]| answer[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &(ANSWER as u32).to_ne_bytes());
    put(4, &NLMSG_ERROR.to_ne_bytes());
    put(8, &number.to_ne_bytes());
    put(HEADER, &(-libc::ECONNREFUSED).to_ne_bytes());
    put(HEADER + 4, &(HEADER as u32).to_ne_bytes());
    put(HEADER + 12, &number.to_ne_bytes());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_of_netlink_and_has_the_requests_number() {
        let mut request = [0; 40];
        request[8..12].copy_from_slice(&77_u32.to_ne_bytes());
        // SAFETY: the array and its length; a number that no descriptor of this test has.
        unsafe {
            remember(60_000, request.as_ptr().cast(), request.len());
            remember(60_001, request.as_ptr().cast(), HEADER - 1);
        }
        let asked = |fd| place(fd).map(|place| place.load(Ordering::Acquire));
        assert_eq!((asked(60_000), asked(60_001)), (Some(THERE | 77), Some(0)));
        let answer = answer(77);
        assert_eq!((answer.len(), answer[0], answer[4]), (36, 36, 2));
        assert_eq!(
            (&answer[8..12], &answer[16..20]),
            (&77_u32.to_ne_bytes()[..], &(-111_i32).to_ne_bytes()[..])
        );
        forget(60_000);
        assert_eq!(asked(60_000), Some(0));
    }
}
