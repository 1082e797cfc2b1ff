// SPDX-License-Identifier: Apache-2.0
//! Which calls we are told of: a program of the kernel's packet filters over a call's number and arguments. It cannot look
//! at memory, so connections have numbers of their own among a program's descriptors, by which their calls are told.

use std::ops::Range;

use libc::{c_long, sock_filter};

/// NETLINK_XFRM.
const XFRM: u32 = 6;
/// Connections at once, in one program.
const CONNECTIONS: u32 = 64;

const ARCH: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else if cfg!(target_arch = "riscv64") {
    Some(0xc000_00f3)
} else {
    None
};

/// Calls on connections that we answer.
const ANSWERED: [c_long; 8] = [
    libc::SYS_connect,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
];

// linux/bpf_common.h, linux/seccomp.h.
const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;
const ERRNO: u32 = 0x0005_0000;
const KILL_PROCESS: u32 = 0x8000_0000;
/// Places in struct seccomp_data.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// The low half of an argument, which is all that the kernel looks at of an int (little endian).
const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// The numbers that connections have: the last ones of those that `select` can have, so that no program uses them
/// unless it has as many descriptors. `None` if there are too few.
pub fn numbers(most: u64) -> Option<Range<u32>> {
    let end = u32::try_from(most.min(1024)).ok().filter(|most| *most >= 2 * CONNECTIONS)?;
    Some(end - CONNECTIONS..end)
}

const fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

/// The filter for connections with these numbers.
pub fn program(numbers: Range<u32>) -> Option<Vec<sock_filter>> {
    let mut steps = Vec::new();
    // Skips what follows up to `skip` steps unless A is the value.
    let unless = |code, k, skip| sock_filter { code, jt: 0, jf: skip, k };
    let when = |code, k, skip| sock_filter { code, jt: skip, jf: 0, k };
    // Programs of other processors have other numbers of calls: they do not run.
    steps.extend([
        step(LOAD, ARCHITECTURE),
        when(JUMP_EQUAL, ARCH?, 1),
        step(RETURN, KILL_PROCESS),
        step(LOAD, NUMBER),
    ]);
    if cfg!(target_arch = "x86_64") {
        // The same for x32.
        steps.extend([unless(JUMP_AT_LEAST, 0x4000_0000, 1), step(RETURN, ERRNO | libc::ENOSYS as u32)]);
    }
    let number = |call: c_long| call as u32;
    // A socket of io_uring would come without a call.
    steps.extend([
        unless(JUMP_EQUAL, number(libc::SYS_io_uring_setup), 1),
        step(RETURN, ERRNO | libc::ENOSYS as u32),
    ]);
    steps.extend([
        unless(JUMP_EQUAL, number(libc::SYS_socket), 6),
        step(LOAD, argument(0)),
        unless(JUMP_EQUAL, libc::AF_NETLINK as u32, 3),
        step(LOAD, argument(2)),
        unless(JUMP_EQUAL, XFRM, 1),
        step(RETURN, NOTIFY),
        step(RETURN, ALLOW),
    ]);
    // Every one: a port of UDP may be the gateway's.
    steps.extend([unless(JUMP_EQUAL, number(libc::SYS_bind), 1), step(RETURN, NOTIFY)]);
    for (at, call) in ANSWERED.iter().enumerate() {
        // To what follows behind the list.
        let rest = (ANSWERED.len() - at) as u8;
        steps.push(when(JUMP_EQUAL, number(*call), rest));
    }
    steps.extend([
        step(RETURN, ALLOW),
        step(LOAD, argument(0)),
        unless(JUMP_AT_LEAST, numbers.start, 2),
        when(JUMP_AT_LEAST, numbers.end, 1),
        step(RETURN, NOTIFY),
        step(RETURN, ALLOW),
    ]);
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's machine, as far as the filter uses it.
    fn run(steps: &[sock_filter], arch: u32, call: c_long, arguments: [u32; 3]) -> u32 {
        let (mut at, mut a) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = steps[at];
            at += 1;
            let holds = match code {
                LOAD => {
                    a = match k {
                        NUMBER => call as u32,
                        ARCHITECTURE => arch,
                        place => arguments[(place as usize - 16) / 8],
                    };
                    continue;
                }
                JUMP_EQUAL => a == k,
                JUMP_AT_LEAST => a >= k,
                RETURN => return k,
                other => panic!("{other:#x}"),
            };
            at += usize::from(if holds { jt } else { jf });
        }
    }

    #[test]
    fn we_are_told_of_what_matters_and_of_nothing_else() {
        let (Some(arch), Some(numbers)) = (ARCH, numbers(4096)) else { return };
        assert_eq!(numbers, 960..1024);
        assert_eq!((super::numbers(200), super::numbers(127)), (Some(136..200), None));
        let steps = program(numbers).expect("a filter");
        let told = |call, arguments| run(&steps, arch, call, arguments);
        let netlink = libc::AF_NETLINK as u32;
        for kind in [libc::SOCK_RAW, libc::SOCK_DGRAM, libc::SOCK_RAW | libc::SOCK_CLOEXEC] {
            assert_eq!(told(libc::SYS_socket, [netlink, kind as u32, XFRM]), NOTIFY);
        }
        assert_eq!(told(libc::SYS_socket, [netlink, 3, 0]), ALLOW);
        assert_eq!(told(libc::SYS_socket, [2, 3, XFRM]), ALLOW);
        for call in ANSWERED {
            for (fd, answer) in
                [(0, ALLOW), (959, ALLOW), (960, NOTIFY), (1023, NOTIFY), (1024, ALLOW), (u32::MAX, ALLOW)]
            {
                assert_eq!(told(call, [fd, 0, 0]), answer, "{call} {fd}");
            }
        }
        assert_eq!(told(libc::SYS_bind, [3, 0, 0]), NOTIFY);
        for call in [libc::SYS_read, libc::SYS_sendto, libc::SYS_close, libc::SYS_execve] {
            assert_eq!(told(call, [970, 0, 0]), ALLOW, "{call}");
        }
        assert_eq!(told(libc::SYS_io_uring_setup, [0; 3]), ERRNO | libc::ENOSYS as u32);
        assert_eq!(run(&steps, arch ^ 0x8000_0000, libc::SYS_read, [0; 3]), KILL_PROCESS);
    }
}
