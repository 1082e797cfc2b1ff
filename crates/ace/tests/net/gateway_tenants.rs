// SPDX-License-Identifier: Apache-2.0
//! Tenants with the same nets: a device inside each, in a network namespace or behind a table of its own. Nothing of one
//! comes to another.

use std::fs;
use std::process::Command;

use crate::gateway::{A, B, GCM, UDP, ask, sas, started};
use crate::gateway_firewall::{arrives, released};
use crate::netns::{World, shown, until};
use crate::xfrm::Ends;

const TENANTS: [u8; 2] = [7, 8];
const RAW: &str = "encapsulation = \"none\"\n";
const TWO: &str = "[engine]\ncores = 2\n";

/// SAs of tenants, all between the same nets.
fn of_tenants(who: u8, tenants: &[u8]) -> String {
    let one = |tenant: &u8| {
        let digit = char::from(b'0' + tenant);
        let text = sas(who, "tunnel", digit, GCM).replace("name = \"", &format!("name = \"t{tenant}-"));
        text.replace("fresh_key = true\n", &format!("fresh_key = true\nif_id = {tenant}\n"))
    };
    tenants.iter().map(one).collect()
}

/// A gateway whose own device has no address and no route.
fn gateway(world: &World, who: u8, top: &str, outside: &str, sas: &str) -> u32 {
    let name = ["a", "b"][usize::from(who) - 1];
    world.write_keys(&format!("{name}-sas.toml"), sas);
    started(world, name, top, &format!("[outside]\n{outside}"))
}

/// A device of a tenant, with the end's address inside and a way to the other's net.
pub fn interface(who: u8, tenant: u8, more: &str) -> String {
    let other = 3 - who;
    format!(
        "[[interface]]\nname = \"ace{tenant}\"\nif_id = {tenant}\naddress = [\"10.0.{who}.1/32\"]\n\
         routes = [\"10.0.{other}.0/24\"]\n{more}"
    )
}

/// Each in a namespace of its own.
pub fn in_namespaces(world: &World, who: u8) -> String {
    let end = ["a", "b"][usize::from(who) - 1];
    let one = |tenant: u8| {
        let space = world.space(&format!("{end}{tenant}"));
        interface(who, tenant, &format!("netns = \"{space}\"\n"))
    };
    TENANTS.map(one).concat()
}

/// Packets that came out of a device, as the kernel where it is counts them.
fn came(world: &World, of: &str, device: &str) -> u64 {
    let text = world.within(of, || fs::read_to_string("/proc/thread-self/net/dev").expect("Linux"));
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{device}:")));
    let line = line.unwrap_or_else(|| panic!("no {device} in\n{text}"));
    line.split_whitespace().nth(1).expect("packets").parse().expect("a number")
}

/// Hosts of tenants behind `a`, all with one address: a table each leads from their device to the tenant's, and one back.
fn behind_tables(world: &World) -> String {
    for of in ["all", "default"] {
        world.set("a", &format!("net/ipv4/conf/{of}/rp_filter"), "0");
    }
    world.set("a", "net/ipv4/ip_forward", "1");
    for tenant in TENANTS {
        let (host, lan) = (world.space(&format!("h{tenant}")), format!("lan{tenant}"));
        let does = |of: &str, words: &str| world.ip(of, words).expect("root may");
        does("a", &format!("link add {lan} type veth peer name lan netns {host}"));
        does("a", &format!("link set {lan} up"));
        let host = format!("h{tenant}");
        does(&host, "link set lan up");
        does(&host, "address add 10.0.1.1/32 dev lan");
        does(&host, "route add default dev lan");
        world.set("a", &format!("net/ipv4/conf/{lan}/proxy_arp"), "1");
        does("a", &format!("rule add iif {lan} lookup 10{tenant}7"));
        does("a", &format!("rule add iif ace{tenant} lookup 10{tenant}8"));
        does("a", &format!("route add 10.0.1.0/24 dev {lan} table 10{tenant}8"));
    }
    let one = |tenant: u8| {
        let text = interface(1, tenant, &format!("table = 10{tenant}7\n"));
        text.replace("address = [\"10.0.1.1/32\"]\n", "")
    };
    TENANTS.map(one).concat()
}

/// `a` has tables, `b` namespaces.
#[test]
fn tenants_with_the_same_nets_do_not_meet() {
    for outside in [UDP.to_owned(), RAW.to_owned(), format!("{UDP}{TWO}")] {
        let Some(world) = World::new() else { return };
        let (tables, spaces) = (behind_tables(&world), in_namespaces(&world, 2));
        gateway(&world, 1, "user = \"nobody\"\n", &format!("{outside}{tables}"), &of_tenants(1, &TENANTS));
        let b = gateway(
            &world,
            2,
            "user = \"nobody\"\n",
            &format!("{outside}{spaces}"),
            &of_tenants(2, &TENANTS),
        );
        let ((), seen) = world.watch(|| {
            assert_eq!(world.ping("h7", B, 3), 3, "{outside}");
            assert_eq!((came(&world, "b7", "ace7"), came(&world, "b8", "ace8")), (3, 0), "{outside}");
            assert_eq!(world.ping("h8", B, 4), 4, "{outside}");
            assert_eq!((came(&world, "b7", "ace7"), came(&world, "b8", "ace8")), (3, 4), "{outside}");
            assert_eq!(
                (came(&world, "a", "ace7"), came(&world, "a", "ace8"), came(&world, "a", "ace0")),
                (3, 4, 0)
            );
        });
        assert_eq!(shown(&seen), 0, "{outside}");
        // The device is named with each SA.
        let all = ask(&world, "b", "sas");
        let named = |sa: &serde_json::Value| {
            (sa["name"].as_str().map(|name| name[..2].to_owned()), sa["interface"].clone())
        };
        for (name, interface) in all.as_array().expect("SAs").iter().map(named) {
            assert_eq!(name.map(|name| name.replace('t', "ace")), interface.as_str().map(str::to_owned));
        }
        // One has no SA any more: nothing of it leaves, and the other goes on.
        world.write_keys("b-sas.toml", &of_tenants(2, &[7]));
        world.signal(b, "-HUP");
        until("its SAs are gone", || ask(&world, "b", "status")["sas"] == 2);
        let (pings, seen) = world.watch(|| (world.ping_in_vain("b8", A, 2), world.ping("b7", A, 2)));
        assert_eq!((pings, shown(&seen)), ((0, 2), 0), "{outside}");
        // Devices and shut routes outlive the gateway where they are, and the next one finds them there.
        assert_eq!(world.end(b, "-KILL"), None);
        let (pings, seen) = world.watch(|| world.ping_in_vain("b7", A, 2));
        assert_eq!((pings, shown(&seen)), (0, 0), "{outside}");
        let path = world.path("b.toml");
        let b = world.start("b", crate::common::command().arg("gateway").arg(&path), "again.log");
        until("it is ready", || world.read("again.log").contains("ready sas="));
        // Behind a kill some numbers are passed over.
        until("it goes again", || world.ping_in_vain("b7", A, 1) == 1);
        assert_eq!(world.end(b, "-TERM"), Some(0));
        released(&world, "b");
        for words in ["link show ace7", "route get 10.0.1.1"] {
            assert!(world.ip("b7", words).is_err(), "{words} of what was taken away");
        }
        let shut = world.run("b7", Command::new("ip").args(["route", "show", "type", "unreachable"]));
        assert_eq!(crate::common::stdout(&shut), "", "{outside}");
    }
}

/// The usual way to give a tenant its device, without a word in the configuration.
#[test]
fn a_device_that_is_moved_works_where_it_is() {
    for top in ["user = \"nobody\"\n", ""] {
        let Some(world) = World::new() else { return };
        let (outside, spaces) = (format!("{UDP}{}", interface(1, 7, "")), in_namespaces(&world, 2));
        let a = gateway(&world, 1, top, &outside, &of_tenants(1, &[7]));
        gateway(&world, 2, top, &format!("{UDP}{spaces}"), &of_tenants(2, &[7]));
        assert_eq!(world.ping("a", B, 2), 2);
        let space = world.space("a7");
        world.ip("a", &format!("link set ace7 netns {space}")).expect("root may");
        until("it is seen", || world.read("a.log").contains("somebody moved the device"));
        for words in
            ["link set ace7 up", "address add 10.0.1.1/32 dev ace7", "route add 10.0.2.0/24 dev ace7"]
        {
            world.ip("a7", words).expect("root may");
        }
        let ((), seen) = world.watch(|| {
            assert_eq!(world.ping("a7", B, 3), 3);
            // Where the gateway is the nets are shut, and stay so.
            assert_eq!(world.ping_in_vain("a", B, 1), 0);
            if top.is_empty() {
                world.ip("a", "route delete unreachable 10.0.2.0/24 metric 1").expect("root may");
                until("it is put back", || world.read("a.log").contains("put back what somebody took away"));
            }
            assert_eq!(world.ping_in_vain("a", B, 1), 0);
        });
        assert_eq!(shown(&seen), 0);
        assert_eq!(ask(&world, "a", "status")["interfaces"][0]["moved"], true);
        // Up, down and renamed it is its new owner's; deleted it is gone.
        world.ip("a7", "link set ace7 down").expect("root may");
        world.ip("a7", "link set ace7 name tenant up").expect("root may");
        world.ip("a7", "route add 10.0.2.0/24 dev tenant").expect("root may");
        assert_eq!(world.ping("a7", B, 2), 2);
        world.ip("a7", "link delete tenant").expect("root may");
        assert_eq!(world.ended(a), Some(1));
        let log = world.read("a.log");
        assert!(log.lines().last().is_some_and(|last| last.contains("start the gateway anew")), "{log}");
    }
}

/// Rules of a tenant that shares the gateway's table hold on the wire; where others may have its nets they cannot.
#[test]
fn the_wire_is_kept_clear_of_nets_that_are_one_tenants_alone() {
    for (more, kept_out) in [("", true), ("table = 1077\n", false)] {
        let Some(world) = World::new() else { return };
        for of in ["all", "wire"] {
            world.set("b", &format!("net/ipv4/conf/{of}/rp_filter"), "0");
        }
        world.ip("a", "address add 10.0.1.1/32 dev lo").expect("root may");
        world.ip("a", "route add 10.0.2.0/24 via 192.0.2.2").expect("root may");
        let outside = format!("{UDP}{}", interface(2, 7, more));
        gateway(&world, 2, "user = \"nobody\"\n", &outside, &of_tenants(2, &[7]));
        let arrives = || arrives(&world, "10.0.1.1", B, 9000);
        match kept_out {
            true => assert!(!arrives()),
            false => until("others may have the net", arrives),
        }
        // Either way what is led to the device is ESP or nothing, also when somebody takes it down.
        if !kept_out {
            world.ip("b", "rule add to 10.0.1.0/24 lookup 1077").expect("root may");
        }
        let (_, seen) = world.watch(|| {
            world.ping_in_vain("b", A, 2);
            world.ip("b", "link set ace7 down").expect("root may");
            world.ping_in_vain("b", A, 2);
        });
        assert_eq!(shown(&seen), 0, "{more}");
    }
}

/// `ip xfrm` with `if_id`, as it is on every Linux.
#[test]
fn tenants_by_xfrm_do_not_meet() {
    let Some(world) = World::new() else { return };
    let more = [1, 2].map(|who| in_namespaces(&world, who));
    let Some(ends) = Ends::with(world, &more) else { return };
    let world = &ends.world;
    let policy = |of: &str, tenant: u8, from: u8, (verb, way): (&str, &str)| {
        let to = 3 - from;
        let pair = format!("src 192.0.2.{from} dst 192.0.2.{to}");
        let tmpl = format!("tmpl {pair} proto esp reqid 1 mode tunnel");
        let sel = format!("src 10.0.{from}.0/24 dst 10.0.{to}.0/24 dir {way}");
        ends.does(of, &format!("xfrm policy {verb} {sel} {tmpl} if_id {tenant}"));
    };
    for tenant in TENANTS {
        for (of, ways) in [("a", ["out", "in"]), ("b", ["in", "out"])] {
            for (from, way) in [1, 2].into_iter().zip(ways) {
                let key = format!("0x{}", format!("{from}{tenant}").repeat(20));
                let sa =
                    format!("src 192.0.2.{from} dst 192.0.2.{} proto esp spi 0x{from}00{tenant}", 3 - from);
                // One request id for all: the number of the device alone tells them apart.
                ends.does(
                    of,
                    &format!("xfrm state add {sa} reqid 1 mode tunnel aead rfc4106(gcm(aes)) {key} 128 if_id {tenant}"),
                );
                policy(of, tenant, from, ("add", way));
            }
        }
    }
    assert!(ends.does("a", "xfrm state list").contains("if_id 0x7"));
    assert!(ends.does("a", "xfrm policy list").contains("if_id 0x8"));
    let ((), seen) = world.watch(|| {
        assert_eq!(world.ping("a7", B, 3), 3);
        assert_eq!((came(world, "b7", "ace7"), came(world, "b8", "ace8")), (3, 0));
        assert_eq!(world.ping("a8", B, 4), 4);
        assert_eq!((came(world, "b7", "ace7"), came(world, "b8", "ace8")), (3, 4));
        // Nothing is for the device without a number.
        assert_eq!(world.ping_in_vain("a", B, 1), 0);
    });
    assert_eq!(shown(&seen), 0);
    // A policy of another tenant is not deleted by the same words; without one nothing comes out.
    ends.refuses("b", "xfrm policy delete src 10.0.1.0/24 dst 10.0.2.0/24 dir in", "No such file");
    ends.does("b", "xfrm policy delete src 10.0.1.0/24 dst 10.0.2.0/24 dir in if_id 7");
    let (pings, seen) = world.watch(|| (world.ping_in_vain("a7", B, 2), world.ping("a8", B, 2)));
    assert_eq!((pings, shown(&seen)), ((0, 2), 0));
    policy("b", 7, 1, ("add", "in"));
    assert_eq!(world.ping("a7", B, 2), 2);
    ends.refuses("a", "xfrm policy add src 10.0.1.0/24 dst 10.0.2.0/24 dir out if_id 9", "No such device");
    until("the log names the remedy", || world.read("a.log").contains("[[interface]] makes one"));
    // The kernel's own devices are the kernel's: here it has none, or they see nothing of this.
    let out = world
        .run("a", Command::new("ip").args(["link", "add", "x7", "type", "xfrm", "dev", "lo", "if_id", "7"]));
    if out.status.success() {
        assert_eq!(world.ping("a7", B, 2), 2);
        assert_eq!(came(world, "a", "x7"), 0);
    }
}
