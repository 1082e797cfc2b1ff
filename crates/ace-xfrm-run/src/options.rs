// SPDX-License-Identifier: Apache-2.0
//! Options of netlink on a connection to the gateway, for the launcher and for the preload library: each is done or
//! refused.

use std::ffi::c_int;

const SOL_NETLINK: c_int = 270;

impl Treatment {
    /// The groups that are listened to with this option, if it changes them.
    pub fn groups(&self, groups: u32) -> Option<u32> {
        let Treatment::Group { number, joins } = self else { return None };
        let bit = 1_u32.checked_shl(number.wrapping_sub(1)).unwrap_or(0);
        Some(if *joins { groups | bit } else { groups & !bit })
    }
}

/// What becomes of an option that is set.
#[derive(Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is a socket's, and the kernel's affair.
    Socket,
    /// It holds already.
    Holds,
    /// A group is listened to from now on, or no more.
    Group {
        /// From 1.
        number: u32,
        /// Or leaves.
        joins: bool,
    },
    /// It is not carried out.
    Refused(c_int),
}

/// netlink(7): options of SOL_NETLINK.
pub fn option(level: c_int, name: c_int, value: Option<u32>) -> Treatment {
    if level != SOL_NETLINK {
        return Treatment::Socket;
    }
    match (name, value) {
        // NETLINK_ADD_MEMBERSHIP, NETLINK_DROP_MEMBERSHIP: groups of XFRM are few.
        (1 | 2, Some(number @ 1..=32)) => Treatment::Group { number, joins: name == 1 },
        (1 | 2, _) => Treatment::Refused(libc::EINVAL),
        // BROADCAST_ERROR, NO_ENOBUFS, CAP_ACK, EXT_ACK, GET_STRICT_CHK. The gateway waits for who does not read;
        // its acknowledgements repeat no request, and have nothing behind; XFRM knows one way to look at requests.
        (4 | 5 | 10 | 11 | 12, _) => Treatment::Holds,
        // NETLINK_PKTINFO, the rings, LISTEN_ALL_NSID, and what comes later.
        _ => Treatment::Refused(libc::ENOPROTOOPT),
    }
}

/// What an option of a socket is, where it would tell.
pub fn asked(level: c_int, name: c_int) -> Option<Result<u32, c_int>> {
    match (level, name) {
        (libc::SOL_SOCKET, libc::SO_DOMAIN) => Some(Ok(libc::AF_NETLINK as u32)),
        (libc::SOL_SOCKET, libc::SO_PROTOCOL) => Some(Ok(6)),
        (libc::SOL_SOCKET, libc::SO_TYPE) => Some(Ok(libc::SOCK_RAW as u32)),
        (SOL_NETLINK, _) => Some(Err(libc::ENOPROTOOPT)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_done_or_refused() {
        assert_eq!(option(libc::SOL_SOCKET, libc::SO_RCVBUF, Some(1)), Treatment::Socket);
        assert_eq!(option(SOL_NETLINK, 1, Some(3)), Treatment::Group { number: 3, joins: true });
        assert_eq!(option(SOL_NETLINK, 2, Some(3)), Treatment::Group { number: 3, joins: false });
        for (name, value) in [(1, 0), (1, 33), (3, 1), (6, 1), (7, 1), (8, 1), (9, 1), (13, 1), (99, 1)] {
            assert!(
                matches!(option(SOL_NETLINK, name, Some(value)), Treatment::Refused(_)),
                "{name} {value}"
            );
        }
        assert_eq!(option(SOL_NETLINK, 11, Some(1)), Treatment::Holds);
    }
}
