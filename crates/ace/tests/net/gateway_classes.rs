// SPDX-License-Identifier: Apache-2.0
//! What is an SA's own of the headers outside: DSCP on the way in, and the mark by which the kernel routes.

use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use socket2::SockRef;

use crate::gateway::{A, B, GCM, UDP, gateway, gateway_of, sas};
use crate::netns::{World, until};

const RAW: &str = "encapsulation = \"none\"\n";
/// Expedited forwarding, and no congestion mark.
const EF: u8 = 0xb8;

/// The class with which a datagram that left with EF arrives.
fn class_of_ef(world: &World) -> u8 {
    let taker = world.within("b", || UdpSocket::bind((B, 0)).expect("an address of its own"));
    let at = taker.local_addr().expect("it is bound");
    SockRef::from(&taker).set_recv_tos_v4(true).expect("Linux");
    taker.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
    let giver =
        world.within("a", || UdpSocket::bind(SocketAddr::from((A, 0))).expect("an address of its own"));
    SockRef::from(&giver).set_tos_v4(EF.into()).expect("Linux");
    giver.send_to(b"with a class", at).expect("it goes");
    let (mut memory, mut more) = ([0; 64], nix::cmsg_space!([i32; 4]));
    let mut pieces = [IoSliceMut::new(&mut memory)];
    let got = recvmsg::<SockaddrStorage>(taker.as_raw_fd(), &mut pieces, Some(&mut more), MsgFlags::empty());
    let got = got.expect("it arrives");
    let class = got.cmsgs().expect("whole").find_map(|one| match one {
        ControlMessageOwned::Ipv4Tos(class) => Some(class),
        _ => None,
    });
    class.expect("it was asked for")
}

/// The outer header has no DSCP here, so that it shows whose the inner one has.
#[test]
fn dscp_of_what_comes_is_copied_where_that_is_asked_for() {
    for outside in [UDP, RAW] {
        let Some(world) = World::new() else { return };
        let with = |who: u8, direction: &str, line: &str| {
            let of = format!("direction = \"{direction}\"\n");
            sas(who, "tunnel", '0', GCM).replace(&of, &format!("{of}{line}"))
        };
        gateway(&world, 1, outside, &with(1, "out", "copy_dscp = false\n"));
        let b = gateway(&world, 2, outside, &with(2, "in", "copy_dscp = true\n"));
        assert_eq!(world.ping("a", B, 1), 1);
        assert_eq!(class_of_ef(&world), 0, "{outside}");
        world.write_keys("b-sas.toml", &sas(2, "tunnel", '0', GCM));
        world.signal(b, "-HUP");
        until("it is its own again", || class_of_ef(&world) == EF);
    }
}

/// What carries the mark is led astray here; what carries another or none is not.
#[test]
fn an_sas_mark_decides_the_way_of_its_packets() {
    for outside in [UDP.to_owned(), RAW.to_owned(), format!("{UDP}[engine]\ncores = 2\n")] {
        let Some(world) = World::new() else { return };
        world.ip("a", "route add blackhole 192.0.2.0/24 table 77").expect("root may");
        world.ip("a", "rule add pref 5 fwmark 5 lookup 77").expect("root may");
        let marked = |mark: u32| {
            let out = "direction = \"out\"\n";
            sas(1, "tunnel", '0', GCM).replace(out, &format!("{out}output_mark = {mark}\n"))
        };
        let a = gateway_of(&world, 1, "", &[], &outside, &marked(6));
        gateway(&world, 2, &outside, &sas(2, "tunnel", '0', GCM));
        assert_eq!(world.ping("a", B, 2), 2, "{outside}");
        for (mark, answered) in [(5, 0), (0, 2), (5, 0), (6, 2)] {
            let text = if mark == 0 { sas(1, "tunnel", '0', GCM) } else { marked(mark) };
            // Another mark is another SA: a claim that its key is new no longer holds.
            world.write_keys("a-sas.toml", &text.replace("fresh_key = true\n", ""));
            let before = world.read("a.log").matches("SAs taken").count();
            world.signal(a, "-HUP");
            until("it is taken", || {
                let log = world.read("a.log");
                assert!(!log.contains("not reloaded"), "{log}");
                log.matches("SAs taken").count() > before
            });
            let found = if answered == 0 { world.ping_in_vain("a", B, 2) } else { world.ping("a", B, 2) };
            assert_eq!(found, answered, "{mark} {outside}");
        }
    }
}
