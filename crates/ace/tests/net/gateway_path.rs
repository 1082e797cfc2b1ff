// SPDX-License-Identifier: Apache-2.0
//! Path MTU (RFC 4301, 8.2): what routers say is taken where it is about packets that were sent, and the inside hears of it.

use std::net::UdpSocket;
use std::os::fd::AsFd;

use nix::sys::socket::{getsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};

use crate::gateway::{A, B, GCM, UDP, ask, gateway, sas};
use crate::netns::{World, until};

/// A socket of `a` whose datagrams are not divided, and what its kernel knows of the way.
fn socket(world: &World) -> UdpSocket {
    let socket = world.within("a", || {
        let socket = UdpSocket::bind((A, 0)).expect("an address");
        socket.connect((B, 9)).expect("a route");
        socket
    });
    rustix::net::sockopt::set_ip_mtu_discover(socket.as_fd(), rustix::net::sockopt::Ipv4PathMtuDiscovery::DO)
        .expect("an option");
    socket
}

fn mtu(socket: &UdpSocket) -> i32 {
    getsockopt(socket, sockopt::IpMtu).expect("it is connected")
}

/// The last ESP of `a` on the wire, from its IP header.
fn last_sent(seen: &[Vec<u8>]) -> Vec<u8> {
    let of_a =
        |frame: &&Vec<u8>| frame.get(12..14) == Some(&[8, 0]) && frame.get(26..30) == Some(&[192, 0, 2, 1]);
    seen.iter().rev().find(of_a).expect("something was sent")[14..].to_vec()
}

/// A router's word to `a` that a packet was too long.
fn tell(world: &World, mtu: u16, packet: &[u8], quoted: usize) {
    let mut icmp = vec![3, 4, 0, 0, 0, 0];
    icmp.extend(mtu.to_be_bytes());
    icmp.extend(&packet[..quoted.min(packet.len())]);
    if icmp.len() % 2 == 1 {
        icmp.push(0);
    }
    let sum = icmp
        .chunks(2)
        .fold(0u32, |sum, pair| (sum + (u32::from(pair[0]) << 8 | u32::from(pair[1]))) % 0xffff);
    icmp[2..4].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    world.within("b", || {
        let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).expect("root may");
        socket.send_to(&icmp, &std::net::SocketAddr::from(([192, 0, 2, 1], 0)).into()).expect("it goes");
    });
}

#[test]
fn routers_are_heard_and_the_inside_hears_of_it() {
    for outside in [UDP, "encapsulation = \"none\"\n"] {
        let Some(world) = World::new() else { return };
        gateway(&world, 1, outside, &sas(1, "tunnel", '0', GCM));
        gateway(&world, 2, outside, &sas(2, "tunnel", '0', GCM));
        // Somebody listens, or the socket would hear of that.
        let _taker = world.within("b", || UdpSocket::bind((B, 9)).expect("an address"));
        let socket = socket(&world);
        let count = |what: &str| ask(&world, "a", "status")["gateway"][what].as_u64().expect("a number");
        let long = || {
            let (sent, seen) = world.watch(|| socket.send(&[7; 1300]));
            (sent, seen)
        };
        let (sent, seen) = long();
        assert_eq!((sent.expect("it goes"), mtu(&socket)), (1300, 1400));
        let packet = last_sent(&seen);
        // About nothing that was sent: another SPI, another number, a packet that would have gone, another end, too little.
        let upper = if outside == UDP { 28 } else { 20 };
        let mut wrong = vec![packet.clone(); 3];
        wrong[0][upper + 3] ^= 1;
        wrong[1][upper + 5] ^= 1;
        wrong[2][19] ^= 1;
        wrong.iter().for_each(|packet| tell(&world, 1200, packet, 200));
        tell(&world, 1500, &packet, 200);
        tell(&world, 1200, &packet, upper + 4);
        until("they are heard", || count("path_mtu_ignored") == 3);
        assert_eq!(count("path_mtu_lowered"), 0);
        assert!(long().0.is_ok());
        tell(&world, 1200, &packet, 200);
        until("it is heard", || count("path_mtu_lowered") == 1);
        // The first one is lost, and the kernel knows behind it.
        until("the inside hears of it", || long().0.is_err());
        let known = mtu(&socket);
        assert!((1100..1200).contains(&known), "{known}");
        assert!(count("too_big_answered") > 0);
        let longest = vec![7; usize::try_from(known).expect("bytes") - 28];
        // An error that is told late is told once.
        let ((), seen) = world.watch(|| until("it goes", || socket.send(&longest).is_ok()));
        let len = last_sent(&seen).len();
        assert!((1185..=1200).contains(&len), "{len}");
        // Nobody is told wrongly about what goes through.
        assert_eq!(world.ping("a", B, 2), 2);
    }
}

/// What a listener of `b` hears of the longest segments when `a` calls, and the other way round.
#[test]
fn the_mss_of_tcp_fits() {
    for (clamps, most) in [(true, 1360), (false, 8960)] {
        let Some(world) = World::new() else { return };
        let a = gateway(&world, 1, UDP, &sas(1, "tunnel", '0', GCM));
        gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
        // Both ends believe in long packets, and one gateway does not.
        for of in ["a", "b"] {
            world.ip(of, "link set ace0 mtu 9000").expect("root may");
        }
        if clamps {
            let text = std::fs::read_to_string(world.path("a.toml")).expect("it was written");
            std::fs::write(world.path("a.toml"), text.replace("[outside]", "clamp_mss = true\n[outside]"))
                .expect("ours");
            assert_eq!(world.end(a, "-TERM"), Some(0));
            world.start("a", crate::common::command().arg("gateway").arg(world.path("a.toml")), "again.log");
            until("it is ready", || world.read("again.log").contains("ready sas="));
            world.ip("a", "link set ace0 mtu 9000").expect("root may");
        }
        let listener = world.within("b", || std::net::TcpListener::bind((B, 0)).expect("an address"));
        let port = listener.local_addr().expect("bound").port();
        let stream = world.within("a", || std::net::TcpStream::connect((B, port)).expect("it listens"));
        let (taken, _) = listener.accept().expect("somebody calls");
        for end in [&stream, &taken] {
            let mss = getsockopt(end, sockopt::TcpMaxSeg).expect("it is connected");
            // Timestamps take 12 bytes.
            assert!((most - 12..=most).contains(&mss), "{mss}");
        }
    }
}

#[test]
fn traffic_classes_are_seen_outside() {
    for outside in [UDP, "encapsulation = \"none\"\n"] {
        let Some(world) = World::new() else { return };
        gateway(&world, 1, outside, &sas(1, "tunnel", '0', GCM));
        let socket = world.within("a", || UdpSocket::bind((A, 0)).expect("an address"));
        for class in [0u8, 2, 0xb8, 0x8a, 0xff] {
            rustix::net::sockopt::set_ip_tos(socket.as_fd(), class).expect("an option");
            let (_, seen) = world.watch(|| socket.send_to(b"words", (B, 9)).expect("it goes"));
            // ECN of the kernel's own sockets is the sender's.
            assert_eq!(last_sent(&seen)[1] & 0xfc, class & 0xfc, "{outside}");
        }
    }
}
