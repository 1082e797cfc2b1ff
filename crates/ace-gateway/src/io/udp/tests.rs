// SPDX-License-Identifier: Apache-2.0
//! Sockets of one machine that send each other datagrams.

use std::io::IoSliceMut;
use std::time::Duration;

use super::*;

#[test]
fn dscp_goes_out_with_one_datagram_and_with_many() {
    for (bind, to) in [("0.0.0.0:0", "127.0.0.1:0"), ("[::]:0", "127.0.0.1:0"), ("[::]:0", "[::1]:0")] {
        let mut ours = Udp::bind(bind.parse().unwrap()).unwrap();
        let mut theirs = Socket::new(Domain::for_address(to.parse().unwrap()), Type::DGRAM, None).unwrap();
        theirs.bind(&to.parse::<SocketAddr>().unwrap().into()).unwrap();
        if to.starts_with('[') {
            theirs.set_recv_tclass_v6(true).unwrap();
        } else {
            theirs.set_recv_tos_v4(true).unwrap();
        }
        theirs.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let at = theirs.local_addr().unwrap().as_socket().unwrap();
        // The same class together, and a run without any between.
        let classes = [0xb8, 0xb9, 0xb9, 0xb9, 0x02, 0x00, 0x29];
        for (n, class) in classes.iter().enumerate() {
            let payload = [0, 0, 1, 2, n as u8, 0, 0, 0, 7];
            ours.put(&mut Losses::default(), at, How { class: *class, whole: true, mark: 0 }, &payload)
                .unwrap();
        }
        ours.flush(&mut Losses::default()).unwrap();
        for (n, class) in classes.iter().enumerate() {
            let (class_found, payload) = received(&mut theirs);
            assert_eq!((payload[4], class_found), (n as u8, *class), "{bind} to {to}");
        }
    }
}

#[test]
fn dscp_comes_in_where_it_is_wanted_and_congestion_marks_always() {
    for (bind, to) in [("127.0.0.1:0", "0.0.0.0:0"), ("[::]:0", "0.0.0.0:0"), ("[::1]:0", "[::]:0")] {
        let (mut giver, mut taker) =
            (Udp::bind(to.parse().unwrap()).unwrap(), Udp::bind(bind.parse().unwrap()).unwrap());
        let port = taker.local_addr().unwrap().port();
        let at = SocketAddr::new(if bind == "[::1]:0" { "::1" } else { "127.0.0.1" }.parse().unwrap(), port);
        let classes = [0xb8, 0xb9, 0xb9, 0xb9, 0x02, 0x00, 0x29];
        for classed in [false, true] {
            if classed {
                taker.want_class();
            }
            let losses = &mut Losses::default();
            for (n, class) in classes.iter().enumerate() {
                let how = How { class: *class, whole: true, mark: 0 };
                giver.put(losses, at, how, &[0, 0, 1, 2, n as u8, 0, 0, 0, 7]).unwrap();
            }
            giver.flush(losses).unwrap();
            let mut found = Vec::new();
            while found.len() < classes.len() {
                let taken = |source: SocketAddr, class, payload: &[u8]| {
                    assert_eq!(source.ip(), at.ip());
                    found.push((payload[4], class));
                };
                taker.read(losses, taken).unwrap();
            }
            let wanted = |class: u8| if classed { class } else { class & ECN };
            let wanted: Vec<_> = (0..).zip(classes).map(|(n, class)| (n, wanted(class))).collect();
            assert_eq!(found, wanted, "{bind} {classed}");
        }
    }
}

/// The traffic class of a datagram, and its payload.
fn received(socket: &mut Socket) -> (u8, Vec<u8>) {
    use nix::sys::socket::{ControlMessageOwned, recvmsg};
    let (mut memory, mut more) = ([0; 64], nix::cmsg_space!([i32; 4]));
    let mut pieces = [IoSliceMut::new(&mut memory)];
    let got = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut pieces, Some(&mut more), MsgFlags::empty());
    let got = got.unwrap();
    let class = got.cmsgs().unwrap().find_map(|one| match one {
        ControlMessageOwned::Ipv4Tos(class) => Some(class),
        ControlMessageOwned::Ipv6TClass(class) => u8::try_from(class).ok(),
        _ => None,
    });
    let len = got.bytes;
    (class.unwrap(), memory[..len].to_vec())
}

#[test]
fn an_ike_daemon_at_the_same_port_gets_what_is_marked_as_its_and_nothing_else() {
    let mut ours = Udp::bind_beside_ike("0.0.0.0:0".parse().unwrap()).unwrap();
    let port = ours.local_addr().unwrap().port();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let marked = [0, 0, 0, 0, 1, 2, 3, 4];
    let [esp, keepalive]: [&[u8]; 2] = [&[0, 0, 0, 9, 0, 0, 0, 1, 5], &[0xff]];
    let got = |ours: &mut Udp| {
        let mut all = Vec::new();
        ours.socket.set_nonblocking(true).unwrap();
        ours.read(&mut Losses::default(), |_, _, payload| all.push(payload.to_vec())).unwrap();
        all
    };
    let send = |what: &[u8]| sender.send_to(what, ("127.0.0.1", port)).map(drop).unwrap();
    // Loopback delivers at once. Nobody else is there yet.
    send(&marked);
    assert_eq!(got(&mut ours), [marked.to_vec()]);
    // Not who does not share.
    assert_eq!(UdpSocket::bind(("0.0.0.0", port)).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    let theirs = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).unwrap();
    theirs.set_reuse_port(true).unwrap();
    theirs.bind(&SocketAddr::from(([0, 0, 0, 0], port)).into()).unwrap();
    let theirs = UdpSocket::from(theirs);
    theirs.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    for _ in 0..20 {
        [esp, &marked, keepalive].iter().for_each(|what| send(what));
        assert_eq!(got(&mut ours), [esp.to_vec(), keepalive.to_vec()]);
        let mut memory = [0; 64];
        let len = theirs.recv(&mut memory).unwrap();
        assert_eq!(memory[..len], marked);
    }
    theirs.set_nonblocking(true).unwrap();
    assert!(theirs.recv(&mut [0; 64]).is_err());
    // This one goes and comes again: it is second now, and nothing goes another way.
    drop(ours);
    let mut ours = Udp::bind_beside_ike(SocketAddr::from(([0, 0, 0, 0], port))).unwrap();
    let theirs_is = |theirs: &UdpSocket, wanted: Option<&[u8]>| {
        let mut memory = [0; 64];
        assert_eq!(theirs.recv(&mut memory).ok().map(|len| &memory[..len]), wanted);
    };
    for _ in 0..20 {
        [esp, &marked].iter().for_each(|what| send(what));
        assert_eq!(got(&mut ours), [esp.to_vec()]);
        theirs_is(&theirs, Some(&marked));
    }
}
