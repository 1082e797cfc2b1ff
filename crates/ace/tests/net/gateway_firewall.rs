// SPDX-License-Identifier: Apache-2.0
//! Clear packets that a rule covers never reach the inside (RFC 4301, 5.2), whatever becomes of SAs, of the table that
//! keeps them out, and of the gateway.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::gateway::{A, B, GCM, UDP, ask, gateway, gateway_of, sas};
use crate::netns::{World, shown, until};
use crate::xfrm::{Ends, library};

const RAW: &str = "encapsulation = \"none\"\n";
const STRANGER: &str = "10.0.9.9";
const PORT: u16 = 9000;
const IKE: u16 = 500;

/// Only `b` has a gateway; `a` sends in clear what should have come protected, also under other people's addresses.
fn world() -> Option<World> {
    let world = World::new()?;
    for address in ["10.0.1.1/32", "10.0.9.9/32"] {
        world.ip("a", &format!("address add {address} dev lo")).expect("root may");
    }
    for of in ["all", "wire"] {
        world.within("b", || {
            std::fs::write(format!("/proc/sys/net/ipv4/conf/{of}/rp_filter"), "0").expect("root may")
        });
    }
    world.ip("a", "route add 10.0.2.0/24 via 192.0.2.2").expect("root may");
    Some(world)
}

/// Whether a clear datagram arrives. Several go, so that none is lost by accident; nobody waits long for what is dropped.
pub fn arrives(world: &World, from: &str, to: impl Into<IpAddr>, port: u16) -> bool {
    let to = SocketAddr::new(to.into(), port);
    let mut taker = None;
    // A program that another test starts has the last socket until it begins.
    until("the address is free", || {
        taker = world.within("b", || UdpSocket::bind(to).ok());
        taker.is_some()
    });
    let taker = taker.expect("it is bound");
    taker.set_read_timeout(Some(Duration::from_millis(300))).expect("a time");
    let from: IpAddr = from.parse().expect("an address");
    // IKE comes from its port.
    let own = if port == IKE { IKE } else { 0 };
    let giver = world.within("a", || UdpSocket::bind((from, own)).expect("an address of its own"));
    // By the wire, whatever is routed elsewhere.
    socket2::SockRef::from(&giver).bind_device(Some(b"wire")).expect("root may");
    for _ in 0..3 {
        // A gateway there may keep it in.
        let _ = giver.send_to(b"not protected", to);
    }
    taker.recv(&mut [0; 64]).is_ok()
}

/// What a gateway leaves behind is taken away.
pub fn released(world: &World, of: &str) {
    let path = world.path(&format!("{of}.toml"));
    let out = world.run(of, crate::common::command().args(["gateway", "release"]).arg(path));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

fn covered(world: &World) -> bool {
    arrives(world, &A.to_string(), B, PORT)
}

/// What is to arrive does so in the end, however busy this machine is.
fn others_arrive(world: &World) -> bool {
    until("what nobody covers arrives", || {
        arrives(world, STRANGER, B, PORT) && arrives(world, "192.0.2.1", [192, 0, 2, 2], PORT)
    });
    true
}

#[test]
fn clear_packets_that_a_rule_covers_do_not_arrive() {
    for (mode, outside) in [("tunnel", UDP), ("tunnel", RAW), ("transport", UDP), ("transport", RAW)] {
        let Some(world) = world() else { return };
        // In transport mode the ends are the addresses inside.
        let outside = &format!("{outside}{}", if mode == "tunnel" { "" } else { "mark = 2766\n" });
        let b = gateway(&world, 2, outside, &sas(2, mode, '0', GCM));
        assert!(!covered(&world) && others_arrive(&world), "{mode} {outside}");
        until("it is counted", || ask(&world, "b", "status")["clear_dropped"].as_u64() == Some(3));
        // The gateway's death changes nothing.
        assert_eq!(world.end(b, "-KILL"), None);
        assert!(!covered(&world) && others_arrive(&world), "{mode} {outside}");
    }
}

#[test]
fn rules_that_come_and_go_are_followed() {
    for top in ["user = \"nobody\"\n", ""] {
        let Some(world) = world() else { return };
        let with = sas(2, "tunnel", '0', GCM);
        let b = gateway_of(&world, 2, top, &[], UDP, &with);
        for _ in 0..2 {
            world.write_keys("b-sas.toml", "");
            world.signal(b, "-HUP");
            until("no rule is left", || covered(&world));
            world.write_keys("b-sas.toml", &with);
            world.signal(b, "-HUP");
            until("the rule is back", || !covered(&world));
        }
        // Narrower, and wider again, in the same SA.
        world.write_keys("b-sas.toml", &with.replace("10.0.1.0/24", "10.0.1.128/25"));
        world.signal(b, "-HUP");
        until("the selector is another one", || covered(&world));
        world.write_keys("b-sas.toml", &with);
        world.signal(b, "-HUP");
        until("the selector is the old one", || !covered(&world));
        assert!(others_arrive(&world));
        assert_eq!(world.end(b, "-TERM"), Some(0));
        assert!(!covered(&world), "what is left behind holds");
        released(&world, "b");
        world.ip("b", "address add 10.0.2.1/32 dev lo").expect("root may");
        until("nothing is kept out any more", || covered(&world));
        // Twice is once.
        released(&world, "b");
    }
}

#[test]
fn a_table_that_is_taken_away_stays_or_is_put_back() {
    for top in ["user = \"nobody\"\n", ""] {
        let Some(world) = world() else { return };
        let b = gateway_of(&world, 2, top, &[], UDP, &sas(2, "tunnel", '0', GCM));
        let mut taken = 0;
        for _ in 0..3 {
            // Since Linux 6.9 it is the gateway's own.
            if world.within("b", || ace_gateway::firewall::release("ace0")).is_ok() {
                taken += 1;
                until("it is back", || world.read("b.log").matches("put back the table").count() >= taken);
            }
            assert!(!covered(&world) && others_arrive(&world));
        }
        assert_eq!(world.end(b, "-TERM"), Some(0));
    }
}

/// Both have gateways, and routes lead elsewhere: a rule in front of all others, a longer prefix.
#[test]
fn what_is_routed_elsewhere_does_not_leave_in_clear() {
    for outside in [UDP, RAW, &format!("{UDP}mark = 2766\n")] {
        let Some(world) = World::new() else { return };
        gateway(&world, 2, outside, &sas(2, "tunnel", '0', GCM));
        let a = gateway_of(&world, 1, "", &[], outside, &sas(1, "tunnel", '0', GCM));
        assert_eq!(world.ping("a", B, 2), 2);
        let elsewhere = [
            ["route add 10.0.2.0/25 via 192.0.2.2", "route delete 10.0.2.0/25"],
            ["rule add pref 5 to 10.0.2.0/24 lookup 99", "rule delete pref 5"],
        ];
        world.ip("a", "route add default via 192.0.2.2 table 99").expect("root may");
        let pinged = |world: &World| shown(&world.watch(|| world.ping_in_vain("a", B, 2)).1);
        for [there, back] in elsewhere {
            // With a mark the main table has no say in it.
            let table =
                if outside.contains("mark") && there.starts_with("route") { " table 2766" } else { "" };
            world.ip("a", &format!("{there}{table}")).expect("root may");
            assert_eq!(pinged(&world), 0, "{there}");
            world.ip("a", &format!("{back}{table}")).expect("root may");
            until("it goes again", || world.ping_in_vain("a", B, 1) == 1);
        }
        // The table outlives the gateway.
        world.ip("a", elsewhere[1][0]).expect("root may");
        assert_eq!(world.end(a, "-KILL"), None);
        assert_eq!(pinged(&world), 0, "{outside}");
    }
}

#[test]
fn everything_may_be_covered_and_the_tunnel_itself_goes_on() {
    let Some(world) = World::new() else { return };
    let all = |who| {
        let text = sas(who, "tunnel", '0', GCM);
        text.replace("10.0.1.0/24", "0.0.0.0/0").replace("10.0.2.0/24", "0.0.0.0/0")
    };
    let a = gateway(&world, 1, UDP, &all(1));
    let b = gateway(&world, 2, UDP, &all(2));
    assert_eq!(world.ping("a", B, 3), 3);
    assert!(!arrives(&world, "192.0.2.1", [192, 0, 2, 2], PORT), "in clear");
    until("IKE arrives", || arrives(&world, "192.0.2.1", [192, 0, 2, 2], IKE));
    assert_eq!(world.ping("a", B, 3), 3);
    // By a device of the inside everything comes.
    assert_eq!(world.end(a, "-TERM"), Some(0));
    let path = world.path("a.toml");
    let text = std::fs::read_to_string(&path).expect("it was written");
    std::fs::write(&path, text.replace("[outside]", "interfaces = [\"wire\"]\n[outside]"))
        .expect("it is ours");
    world.start("a", crate::common::command().arg("gateway").arg(&path), "again.log");
    until("it is ready", || world.read("again.log").contains("ready sas="));
    assert_eq!(world.ping("a", B, 3), 3);
    assert_eq!(world.end(b, "-TERM"), Some(0));
    released(&world, "b");
    let taker = world.within("a", || UdpSocket::bind("192.0.2.1:9000").expect("an address"));
    let giver = world.within("b", || UdpSocket::bind("192.0.2.2:0").expect("an address"));
    giver.send_to(b"clear", "192.0.2.1:9000").expect("it goes");
    taker.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
    taker.recv(&mut [0; 64]).expect("it arrives");
}

#[test]
fn who_does_without_says_so() {
    let Some(world) = world() else { return };
    gateway(&world, 2, &format!("{UDP}firewall = false\n"), &sas(2, "tunnel", '0', GCM));
    until("it arrives", || covered(&world));
    assert_eq!(ask(&world, "b", "status")["clear_dropped"], serde_json::Value::Null);
}

/// A reload of thousands of rules that overlap each other is taken, and each of them holds.
#[test]
fn thousands_of_rules_hold() {
    const COUNT: usize = 12_000;
    let Some(world) = world() else { return };
    let one = |n: usize| {
        let (key, net) = (format!("{n:08x}{:032x}", n * 7 + 1), format!("10.0.2.{}/32", n % 250 + 1));
        let from = format!("10.{}.{}.0/24", n / 250 % 2 + n / 3000 * 2, n / 500 % 6);
        format!(
            "[[sa]]\nname = \"n{n}\"\nspi = {}\ndirection = \"in\"\nmode = \"tunnel\"\nlocal = \"192.0.2.2\"\nremote = \"192.0.2.1\"\n\
             fresh_key = true\nselector = {{ src = \"{from}\", dst = \"{net}\" }}\ncipher = \"aes-128-gcm-16\"\nkey = \"{key}\"\n",
            0x1000 + n
        )
    };
    let all: String = (0..COUNT).map(one).collect();
    let b = gateway_of(&world, 2, "", &[], UDP, &all);
    assert!(!covered(&world) && others_arrive(&world));
    // The one that covers what is sent here.
    world.write_keys("b-sas.toml", &(0..COUNT).filter(|n| *n != 500).map(one).collect::<String>());
    world.signal(b, "-HUP");
    until("one is gone", || covered(&world));
    // News of its own elements are more than a socket takes; it does not believe that somebody else was there.
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(!world.read("b.log").contains("put back the table"), "{}", world.read("b.log"));
    assert_eq!(world.end(b, "-TERM"), Some(0));
}

/// With an SA file and XFRM: rules of both hold over a kill, until whoever negotiates has installed its policies again.
#[test]
fn policies_of_an_earlier_life_hold_beside_the_file() {
    let Some(world) = world() else { return };
    let file = |net: &str| sas(2, "tunnel", '0', GCM).replace("10.0.1.0/24", net);
    let outside = format!("{UDP}[xfrm]\nsocket = \"b.xfrm\"\n");
    let start = |world: &World, net: &str| gateway_of(world, 2, "", &[], &outside, &file(net));
    let b = start(&world, "10.0.8.0/24");
    let ends = Ends { world, library: library(), gateways: [b; 2] };
    let world = &ends.world;
    until("nobody covers it", || covered(world));
    let template = "tmpl src 192.0.2.1 dst 192.0.2.2 proto esp reqid 1 mode tunnel";
    let policy = |net: &str| format!("xfrm policy add src {net} dst 10.0.2.0/24 dir in {template}");
    ends.does("b", &policy("10.0.1.0/24"));
    until("it is kept out", || !covered(world));
    assert_eq!(world.end(b, "-KILL"), None);
    assert!(!covered(world));
    // The file has another rule now, which holds from the start; nobody has spoken by XFRM.
    let b = start(world, "10.0.9.0/24");
    assert!(!covered(world), "a policy of before");
    assert!(!arrives(world, STRANGER, B, PORT), "a rule of now");
    std::thread::sleep(Duration::from_millis(1500));
    world.write_keys("b-sas.toml", &file("10.0.7.0/24"));
    world.signal(b, "-HUP");
    until("the file's rule is another one", || arrives(world, STRANGER, B, PORT));
    assert!(!covered(world), "a reload says nothing of policies");
    // Whoever negotiates has others now. They hold at once, and those of before go a second later.
    ends.does("b", &policy("10.0.9.0/24"));
    until("a policy of now", || !arrives(world, STRANGER, B, PORT));
    until("the policies of before are gone", || covered(world));
    assert!(!arrives(world, STRANGER, B, PORT));
    assert_eq!(world.end(b, "-TERM"), Some(0));
}
