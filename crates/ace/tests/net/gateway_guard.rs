// SPDX-License-Identifier: Apache-2.0
//! What protects goes away under a gateway: it ends, and nothing leaves in clear.

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{fs, thread};

use crate::gateway::{B, GCM, UDP, gateway, gateway_of, sas};
use crate::netns::{World, shown, until};

const RAW: &str = "encapsulation = \"none\"\n";
const TWO: &str = "[engine]\ncores = 2\n";

#[test]
fn a_device_that_is_gone_ends_the_gateway() {
    for outside in [UDP.to_owned(), RAW.to_owned(), format!("{UDP}{TWO}"), format!("{RAW}{TWO}")] {
        let Some(world) = World::new() else { return };
        let a = gateway(&world, 1, &outside, &sas(1, "tunnel", '0', GCM));
        gateway(&world, 2, &outside, &sas(2, "tunnel", '0', GCM));
        assert_eq!(world.ping("a", B, 3), 3);
        world.ip("a", "link delete ace0").expect("root may");
        assert_eq!(world.ended(a), Some(1), "{outside}");
        let log = world.read("a.log");
        let last = log.lines().last().expect("it says why");
        assert!(last.contains("ace0") && last.contains("start the gateway anew"), "{log}");
    }
}

/// Pings without end from `a` while something is done to it, and a few more behind that. How many frames on the wire show
/// them, and how many were answered behind it.
fn pinged(world: &World, what: impl FnOnce() + Send) -> (usize, usize) {
    let ((), seen) = world.watch(|| {
        let (stop, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            // Several at once: an answer that does not come keeps nobody waiting.
            for _ in 0..4 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        world.ping_in_vain("a", B, 1);
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            until("pings are on their way", || sent.load(Ordering::Relaxed) > 10);
            what();
            let before = sent.load(Ordering::Relaxed);
            until("pings go on", || sent.load(Ordering::Relaxed) > before + 8);
            stop.store(true, Ordering::Relaxed);
        });
    });
    (shown(&seen), world.ping_in_vain("a", B, 2))
}

/// The mark's table, by which packets that carry no mark leave.
const MARKED: &str = "mark = 2766\n";

#[test]
fn whatever_is_taken_away_nothing_leaves_in_clear() {
    let plain: &[&str] = &[
        "link set ace0 down",
        "link delete ace0",
        "route delete 10.0.2.0/24 dev ace0",
        "route delete unreachable 10.0.2.0/24 metric 1",
        "-6 route delete fd00:2::/64 dev ace0",
        "-6 route flush dev ace0",
        "address flush dev ace0",
    ];
    let marked: &[&str] = &[
        "link set ace0 down",
        "route delete 10.0.2.0/24 dev ace0 table 2766",
        "route delete unreachable 10.0.2.0/24 metric 1 table 2766",
    ];
    for (more, ways) in [("", plain), (MARKED, marked)] {
        let Some(world) = World::new() else { return };
        let outside = format!("{UDP}{more}");
        gateway(&world, 2, &outside, &sas(2, "tunnel", '0', GCM));
        for way in ways {
            let nobody = "user = \"nobody\"\n";
            let a = gateway_of(&world, 1, nobody, &["fd00:2::/64"], &outside, &sas(1, "tunnel", '0', GCM));
            assert_eq!(world.ping("a", B, 2), 2, "{way}");
            // It is nobody, and cannot put it back.
            let (clear, answered) = pinged(&world, || {
                world.ip("a", way).expect(way);
                assert_eq!(world.ended(a), Some(1), "{way}");
            });
            assert_eq!((clear, answered), (0, 0), "{way}");
            let log = world.read("a.log");
            assert!(
                log.lines().last().is_some_and(|last| last.contains("ace0") || last.contains("unreachable")),
                "{log}"
            );
            // And up again, with no gateway.
            if way.contains("down") {
                let (clear, _) = pinged(&world, || world.ip("a", "link set ace0 up").expect("root may"));
                assert_eq!(clear, 0, "{way}, and up");
            }
        }
        // The last one's device stands.
        let release = |world: &World| {
            let mut command = crate::common::command();
            world.run("a", command.args(["gateway", "release"]).arg(world.path("a.toml")))
        };
        let a = gateway_of(&world, 1, "", &["fd00:2::/64"], &outside, &sas(1, "tunnel", '0', GCM));
        let refused = release(&world);
        assert!(crate::common::stderr(&refused).contains("stop it first"), "{refused:?}");
        // Killed, and the kernel told to pass over routes by a device without a carrier.
        let (clear, answered) = pinged(&world, || {
            assert_eq!(world.end(a, "-KILL"), None);
            world.within("a", || {
                for of in ["ipv4/conf/all", "ipv4/conf/ace0", "ipv6/conf/all", "ipv6/conf/ace0"] {
                    let switch = format!("/proc/sys/net/{of}/ignore_routes_with_linkdown");
                    fs::write(switch, "1").expect("root may");
                }
            });
        });
        assert_eq!((clear, answered), (0, 0));
        let six = world.run("a", Command::new("ip").args(["-6", "route", "get", "fd00:2::1"]));
        assert_ne!(six.status.code(), Some(0), "{six:?}");
        // What outlives it is taken away by a word, twice is as good, and the wire shows that it was that.
        for _ in 0..2 {
            let released = release(&world);
            assert_eq!(released.status.code(), Some(0), "{released:?}");
        }
        let (clear, _) = pinged(&world, || {});
        assert!(clear > 0, "nothing stood in the way before");
    }
}

#[test]
fn who_may_puts_it_back() {
    for (outside, table) in [(UDP.to_owned(), ""), (format!("{UDP}{MARKED}"), " table 2766")] {
        let Some(world) = World::new() else { return };
        gateway(&world, 2, &outside, &sas(2, "tunnel", '0', GCM));
        let a = gateway_of(&world, 1, "", &["fd00:2::/64"], &outside, &sas(1, "tunnel", '0', GCM));
        let mut ways = vec![
            "link set ace0 down".to_owned(),
            format!("route delete 10.0.2.0/24 dev ace0{table}"),
            format!("-6 route delete fd00:2::/64 dev ace0{table}"),
            format!("route delete unreachable 10.0.2.0/24 metric 1{table}"),
            format!("-6 route delete unreachable fd00:2::/64 metric 1025{table}"),
            "address flush dev ace0".to_owned(),
        ];
        if !table.is_empty() {
            ways.push("-6 rule delete not fwmark 2766 lookup 2766".to_owned());
        }
        for (n, way) in ways.iter().enumerate() {
            let (clear, answered) = pinged(&world, || {
                world.ip("a", way).expect(way);
                until("it is put back", || world.read("a.log").matches("put back").count() > n);
            });
            assert_eq!((clear, answered), (0, 2), "{way}");
        }
        // Other people's routes are their own.
        let log = world.read("a.log").matches("put back").count();
        world.ip("a", "route add 10.44.0.0/16 via 192.0.2.2").expect("root may");
        world.ip("a", "route delete 10.44.0.0/16 via 192.0.2.2").expect("root may");
        assert_eq!((world.ping("a", B, 2), world.read("a.log").matches("put back").count()), (2, log));
        assert_eq!(world.end(a, "-TERM"), Some(0));
    }
}
