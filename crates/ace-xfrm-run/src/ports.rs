// SPDX-License-Identifier: Apache-2.0
//! The port of ESP in UDP, which is IKE's as well: the kernel divides what comes between two sockets that have one address.

use std::ffi::c_int;
use std::io::Write;
use std::net::Ipv4Addr;

use crate::kernel;

/// Whether a program may share an address of UDP that is taken. It may not if the gateway has the port at every address and
/// the program asks for one of them: the kernel gives that one all, so that no ESP reaches the gateway. The reason goes to
/// standard error.
pub fn may_share(domain: c_int, address: &[u8]) -> bool {
    if !kernel::is_taken_everywhere(domain, address) {
        return true;
    }
    if let Some([_, _, a, b, one @ ..]) = address.get(..8)
        && let Ok(one) = <[u8; 4]>::try_from(one)
    {
        let (at, port) = (Ipv4Addr::from(one), u16::from_be_bytes([*a, *b]));
        let _ = writeln!(
            std::io::stderr(),
            "ace: {at}:{port} is not shared with a gateway that listens at 0.0.0.0:{port}, as no ESP would reach it; \
             remedy: listen = \"{at}:{port}\" in [outside] of the gateway's file"
        );
    }
    false
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    fn may(address: Ipv4Addr, port: u16) -> bool {
        let mut bytes = (libc::AF_INET as u16).to_ne_bytes().to_vec();
        bytes.extend(port.to_be_bytes());
        bytes.extend(address.octets());
        bytes.extend([0; 8]);
        may_share(libc::AF_INET, &bytes)
    }

    #[test]
    fn a_gateway_at_every_address_shares_with_who_is_there_too() {
        let gateway = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let port = gateway.local_addr().unwrap().port();
        assert!(may(Ipv4Addr::UNSPECIFIED, port));
        assert!(!may(Ipv4Addr::LOCALHOST, port));
    }

    #[test]
    fn a_gateway_at_one_address_shares_it() {
        let gateway = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = gateway.local_addr().unwrap().port();
        assert!(may(Ipv4Addr::LOCALHOST, port));
    }
}
