// SPDX-License-Identifier: Apache-2.0
//! A gateway, its standby and their peer, on three machines: whoever of the two goes, traffic goes on, and on the wire no
//! number comes twice.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{command, stderr};
use crate::gateway::{A, B, GCM, UDP, ask, gateway, sas};
use crate::netns::{World, shown, until};

/// The standby takes over soon.
const SOON: &str = "wait = 2\n";

/// One of the pair: `a` at 192.0.2.1 or `c` at 192.0.2.3. Both have the same SAs.
fn configure(world: &World, name: &str, more: &str) {
    let (ours, theirs) = if name == "a" { (1, 3) } else { (3, 1) };
    world.write_keys(&format!("{name}-sas.toml"), &sas(1, "tunnel", '0', GCM));
    let config = format!(
        "sas = \"{name}-sas.toml\"\ncontrol = \"{name}.sock\"\nuser = \"nobody\"\n[inside]\ntun = \"ace0\"\n\
         address = [\"10.0.1.1/32\"]\nroutes = [\"10.0.2.0/24\"]\n[outside]\n{UDP}\
         [standby]\nlisten = \"192.0.2.{ours}:4600\"\npeer = \"192.0.2.{theirs}:4600\"\nkey = \"pair.key\"\n{more}"
    );
    fs::write(world.path(&format!("{name}.toml")), config).expect("it is ours");
    let key = world.path("pair.key");
    fs::write(&key, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n")
        .expect("it is ours");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

/// Starts one as this or that, and waits until its log says so.
fn start(world: &World, name: &str, words: &[&str], says: &str) -> u32 {
    let log = format!("{name}.log");
    let id = world.start(
        name,
        command().arg("gateway").args(words).arg(world.path(&format!("{name}.toml"))),
        &log,
    );
    until(says, || {
        let logged = world.read(&log);
        assert!(!logged.contains("ace: "), "{logged}");
        logged.contains(says)
    });
    id
}

fn is_attached(world: &World, name: &str) -> bool {
    ask(world, name, "status")["standby"]["attached"] == true
}

/// A word, and whether it is taken.
fn say(world: &World, name: &str, words: &[&str]) -> Result<(), String> {
    let out = world.run(name, command().arg("gateway").args(words));
    if out.status.success() { Ok(()) } else { Err(stderr(&out)) }
}

/// SPI and number of every packet of ESP in UDP from the pair's side; none comes twice.
fn numbers(frames: &[Vec<u8>]) -> usize {
    let mut seen = HashSet::new();
    for frame in frames {
        let Some(ip) = frame.get(14..).filter(|ip| ip.len() > 44 && ip[0] == 0x45 && ip[9] == 17) else {
            continue;
        };
        let esp = &ip[28..36];
        // The kernel shows a frame at each port of the bridge: what tells copies is the whole packet.
        if ip[12..15] == [192, 0, 2]
            && ip[15] != 2
            && ip[22..24] == 4500_u16.to_be_bytes()
            && esp[..2] == [0, 0]
            && esp[2] != 0
        {
            seen.insert((esp.to_vec(), ip[28..].to_vec()));
        }
    }
    let alone: HashSet<_> = seen.iter().map(|(number, _)| number.clone()).collect();
    assert_eq!(alone.len(), seen.len(), "an SPI and number on two packets");
    seen.len()
}

#[test]
fn a_standby_takes_over_and_the_old_one_is_refused() {
    let Some(world) = World::with_third() else { return };
    gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
    configure(&world, "a", SOON);
    configure(&world, "c", SOON);
    // Without its standby the first one of a pair does not begin.
    let refused =
        say(&world, "a", &[world.path("a.toml").to_str().expect("UTF-8")]).expect_err("nobody waits");
    assert!(
        refused.contains("the state file is new, and the standby at 192.0.2.3:4600 is not attached"),
        "{refused}"
    );
    start(&world, "c", &["standby"], "waits as a standby");
    let a = start(&world, "a", &[], "ready sas=2");
    assert!(is_attached(&world, "a") && is_attached(&world, "c"));
    let ((), frames) = world.watch(|| {
        assert_eq!(world.ping("a", B, 5), 5);
        assert_eq!(world.end(a, "-KILL"), None);
        until("it has taken over", || world.read("c.log").contains("ready sas=2"));
        // The peer follows behind two packets from there.
        until("the peer has followed", || world.ping_in_vain("c", B, 1) == 1);
        assert_eq!(world.ping("c", B, 5), 5);
        assert_eq!(world.ping("b", A, 5), 5);
    });
    assert!(numbers(&frames) >= 15 && shown(&frames) == 0, "{}", numbers(&frames));
    // The old one learns of it, and may not count any more, with its standby or without.
    for _ in 0..2 {
        let refused =
            say(&world, "a", &[world.path("a.toml").to_str().expect("UTF-8")]).expect_err("it is over");
        assert!(
            refused.contains("has taken over (number 1)") || refused.contains("was given over"),
            "{refused}"
        );
        assert!(refused.contains("`ace gateway standby CONFIG` makes"), "{refused}");
    }
    let refused = say(&world, "a", &["hand-over", world.path("a.toml").to_str().expect("UTF-8")]);
    assert!(refused.is_ok(), "it is given over already: {refused:?}");
    // As the standby of the other one it is welcome, and takes over again when somebody says so.
    let a = start(&world, "a", &["standby"], "waits as a standby");
    until("it is attached", || is_attached(&world, "c"));
    let control = world.path("a.sock");
    let ((), frames) = world.watch(|| {
        assert_eq!(world.ping("c", B, 3), 3);
        say(&world, "a", &["take-over", "--control", control.to_str().expect("UTF-8")])
            .expect("it has everything");
        until("it has taken over", || world.read("a.log").contains("ready sas=2"));
        until("the other one has ended", || world.read("c.log").contains("this one would use numbers again"));
        until("the peer has followed", || world.ping_in_vain("a", B, 1) == 1);
        assert_eq!((world.ping("a", B, 3), world.ping("b", A, 3)), (3, 3));
    });
    assert!(numbers(&frames) >= 9 && shown(&frames) == 0);
    assert_eq!(ask(&world, "a", "status")["standby"]["take_overs"], 2);
    start(&world, "c", &["standby"], "attached: it has everything");
    // One of the pair waits by itself, if the other one took over meanwhile.
    world.end(a, "-KILL");
    until("it has taken over", || world.read("c.log").contains("ready sas=2"));
    start(&world, "a", &["standby"], "waits as a standby");
    until("it is attached", || is_attached(&world, "c"));
    assert_eq!(ask(&world, "c", "status")["standby"]["take_overs"], 3);
}

#[test]
fn without_its_standby_a_gateway_stops_or_goes_on_as_it_is_told() {
    for (more, goes) in [(SOON, false), ("wait = 2\nalone = \"go-on\"\n", true)] {
        let Some(world) = World::with_third() else { return };
        gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
        configure(&world, "a", more);
        configure(&world, "c", more);
        let c = start(&world, "c", &["standby"], "waits as a standby");
        let a = start(&world, "a", &[], "ready sas=2");
        assert_eq!(world.ping("a", B, 2), 2);
        // Told to stop, the standby says so first.
        assert_eq!(world.end(c, "-TERM"), Some(0));
        until("the gateway is alone", || ask(&world, "a", "status")["standby"]["state"] == "alone");
        assert_eq!(world.ping("a", B, 40), 40);
        // The wire between them is cut while it is attached.
        let c = start(&world, "c", &["standby"], "attached: it has everything");
        world.ip("m", "link set to-c down").expect("root may");
        until("it is attached no longer", || !is_attached(&world, "a"));
        if goes {
            assert_eq!(world.ping("a", B, 40), 40);
            // Silence says nothing then.
            until("the standby looks on", || world.read("c.log").contains("this one does not take over"));
            assert_eq!(ask(&world, "c", "status")["standby"]["role"], "standby");
            let control = world.path("c.sock");
            let refused = say(&world, "c", &["take-over", "--control", control.to_str().expect("UTF-8")]);
            assert!(
                refused.as_ref().is_err_and(|why| why.contains("ace gateway hand-over CONFIG")),
                "{refused:?}"
            );
            world.ip("m", "link set to-c up").expect("root may");
            until("it is attached again", || is_attached(&world, "a"));
            // In order: stopped, and given over.
            assert_eq!(world.end(a, "-TERM"), Some(0));
            say(&world, "a", &["hand-over", world.path("a.toml").to_str().expect("UTF-8")])
                .expect("it waits");
            until("it has taken over", || world.read("c.log").contains("ready sas=2"));
            assert_eq!(world.end(c, "-TERM"), Some(0));
        } else {
            // What it may use is used up sooner or later.
            until("it stands still", || {
                world.ping_in_vain("a", B, 1);
                ask(&world, "a", "status")["packets"]["dropped"]["sequence_withheld"].as_u64() > Some(0)
            });
            // The standby took over; the one before has nothing to go on with, and ends when it hears of it.
            until("it has taken over", || world.read("c.log").contains("ready sas=2"));
            world.ip("m", "link set to-c up").expect("root may");
            assert_eq!(world.ended(a), Some(1));
            assert!(world.read("a.log").contains("has taken over (number 1)"), "{}", world.read("a.log"));
            until("the peer has followed", || world.ping_in_vain("c", B, 1) == 1);
        }
    }
}

#[test]
fn a_lost_standby_is_said_to_be_lost_and_a_stranger_is_nobody() {
    let Some(world) = World::with_third() else { return };
    gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
    configure(&world, "a", "wait = 20\n");
    configure(&world, "c", "wait = 20\n");
    let c = start(&world, "c", &["standby"], "waits as a standby");
    let a = start(&world, "a", &[], "ready sas=2");
    // Killed and started again before the standby takes over, it is the gateway, as one of the pair too.
    assert_eq!(world.end(a, "-KILL"), None);
    start(&world, "a", &["standby"], "ready sas=2");
    assert!(is_attached(&world, "a"));
    // What the peer sends within the last block is not taken.
    until("it is behind the block", || world.ping_in_vain("a", B, 1) == 1);
    let control = world.path("a.sock");
    let alone = ["alone", "--standby-is-off", "--control", control.to_str().expect("UTF-8")];
    let refused = say(&world, "a", &alone).expect_err("it is there");
    assert!(refused.contains("the standby is attached; stop it there"), "{refused}");
    assert_eq!(world.end(c, "-KILL"), None);
    until("it is attached no longer", || !is_attached(&world, "a"));
    say(&world, "a", &alone).expect("it is off");
    assert_eq!(world.ping("a", B, 40), 40);
    // Another key, or one that others may read.
    let key = world.path("pair.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).expect("it is ours");
    let config = world.path("c.toml");
    let refused = say(&world, "c", &["standby", config.to_str().expect("UTF-8")]).expect_err("it is open");
    assert!(refused.contains("(mode 640); chmod 600"), "{refused}");
    fs::write(&key, "ff".repeat(32)).expect("it is ours");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let c = start(&world, "c", &["standby"], "waits as a standby");
    until("a stranger is refused", || world.read("a.log").contains("does not have the same key"));
    assert!(!is_attached(&world, "a") && !is_attached(&world, "c"));
    assert_eq!(world.end(c, "-TERM"), Some(0));
    fs::write(&key, "no key").expect("it is ours");
    let refused = say(&world, "c", &["standby", config.to_str().expect("UTF-8")]).expect_err("it is none");
    assert!(refused.contains("pair.key:1: it is no key"), "{refused}");
    // A copy is no gateway's state.
    let refused = say(&world, "c", &[config.to_str().expect("UTF-8")]).expect_err("no key either");
    assert!(refused.contains("pair.key:1"), "{refused}");
    let plain = fs::read_to_string(&config).expect("ours");
    fs::write(&config, plain.split("[standby]").next().unwrap_or_default()).expect("it is ours");
    let refused = say(&world, "c", &[config.to_str().expect("UTF-8")]).expect_err("it is a copy");
    assert!(refused.contains("is a standby's copy"), "{refused}");
}
