// SPDX-License-Identifier: Apache-2.0
//! `ace gateway` on live traffic: two gateways over a wire on which everything is watched.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;

use crate::netns::{WORD, World, shown, until};
use serde_json::Value;

pub const A: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
pub const B: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 1);
/// Routed into no gateway.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 9);

pub const GCM: &str = "cipher = \"aes-128-gcm-16\"\nkey = \"K0112233445566778899aabbccddeeff00112233\"\n";
const CBC: &str = "cipher = \"aes-256-cbc\"\nkey = \"K0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"\n\
                   auth = \"hmac-sha256-128\"\nauth_key = \"K0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"\n";
const AH: &str =
    "protocol = \"ah\"\nauth = \"hmac-sha1-96\"\nauth_key = \"K0112233445566778899aabbccddeeff00112233\"\n";

/// Two SAs between the ends, with a digit in their keys; `who` is 1 or 2.
pub fn sas(who: u8, mode: &str, digit: char, suite: &str) -> String {
    let other = 3 - who;
    // In transport mode the ends are the addresses inside.
    let end = |n: u8| if mode == "tunnel" { format!("192.0.2.{n}") } else { format!("10.0.{n}.1") };
    let one = |from: u8, to: u8| {
        let direction = if from == who { "out" } else { "in" };
        let (local, remote) = (end(who), end(other));
        let selector = match mode {
            "tunnel" => format!("selector = {{ src = \"10.0.{from}.0/24\", dst = \"10.0.{to}.0/24\" }}\n"),
            _ => String::new(),
        };
        let suite = suite.replace('K', &format!("{digit}"));
        format!(
            "[[sa]]\nname = \"{from}-to-{to}\"\nspi = 0x{from}00{digit}\ndirection = \"{direction}\"\n\
             mode = \"{mode}\"\nlocal = \"{local}\"\nremote = \"{remote}\"\nfresh_key = true\n{selector}{suite}\n"
        )
    };
    // Keys differ by direction, as counters need it.
    let (there, back) = (one(1, 2), one(2, 1));
    format!("{there}{}", back.replace("001122", "ff1122"))
}

/// Writes both files of a gateway and starts it; it is ready.
pub fn gateway(world: &World, who: u8, outside: &str, sas: &str) -> u32 {
    gateway_of(world, who, "user = \"nobody\"\n", &[], outside, sas)
}

/// The same, with other words in front of its sections and more routes.
pub fn gateway_of(world: &World, who: u8, top: &str, routes: &[&str], outside: &str, sas: &str) -> u32 {
    let name = ["a", "b"][usize::from(who) - 1];
    write_sas(world, who, sas);
    let route = format!("10.0.{}.0/24", 3 - who);
    let routes: Vec<&str> = [route.as_str()].into_iter().chain(routes.iter().copied()).collect();
    let inside = format!("address = [\"10.0.{who}.1/32\"]\nroutes = {routes:?}\n");
    started(world, name, top, &format!("{inside}[outside]\n{outside}"))
}

/// A gateway with an SA file that is written; `inside`: what is behind its device's name.
pub fn started(world: &World, name: &str, top: &str, inside: &str) -> u32 {
    let config = format!(
        "sas = \"{name}-sas.toml\"\ncontrol = \"{name}.sock\"\n{top}[inside]\ntun = \"ace0\"\n{inside}"
    );
    let path = world.path(&format!("{name}.toml"));
    fs::write(&path, config).expect("it is ours");
    let log = format!("{name}.log");
    let id = world.start(name, crate::common::command().arg("gateway").arg(&path), &log);
    until("the gateway is ready", || {
        let logged = world.read(&log);
        assert!(!logged.contains("ace: "), "{logged}");
        logged.contains("ready sas=")
    });
    id
}

fn write_sas(world: &World, who: u8, sas: &str) {
    world.write_keys(&format!("{}-sas.toml", ["a", "b"][usize::from(who) - 1]), sas);
}

pub fn ask(world: &World, name: &str, question: &str) -> Value {
    let out = crate::common::ace(
        &["gateway", question, "--json", "--control"],
        &[&world.path(&format!("{name}.sock"))],
    );
    assert_eq!(out.status.code(), Some(0), "{}", crate::common::stderr(&out));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// Sends a file over TCP and gives back what arrived.
fn file(world: &World, from: &str, to: &str, at: Ipv4Addr, sent: &[u8]) -> Vec<u8> {
    let listener = world.within(to, || TcpListener::bind((at, 0)).expect("an address of its own"));
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::scope(|scope| {
        let arrived = scope.spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody calls");
            let mut arrived = Vec::new();
            stream.read_to_end(&mut arrived).expect("it arrives");
            arrived
        });
        let mut stream = world.within(from, || TcpStream::connect((at, port)).expect("it listens"));
        stream.write_all(sent).expect("it goes");
        stream.shutdown(Shutdown::Write).expect("it ends");
        arrived.join().expect("it arrives")
    })
}

/// Octets and packets that the kernel of an end took from its gateway.
fn taken_inside(world: &World, of: &str) -> [u64; 2] {
    let text = world.within(of, || fs::read_to_string("/proc/thread-self/net/dev").expect("Linux"));
    let line = text.lines().find_map(|line| line.trim().strip_prefix("ace0:")).expect("its device");
    let mut numbers = line.split_whitespace().map(|number| number.parse().expect("a number"));
    std::array::from_fn(|_| numbers.next().expect("two of them"))
}

pub const UDP: &str = "encapsulation = \"udp\"\nkeepalive = 1\n";

#[test]
fn traffic_crosses_and_nothing_is_seen_in_clear() {
    let Some(world) = World::new() else { return };
    let a = gateway(&world, 1, UDP, &sas(1, "tunnel", '0', GCM));
    let b = gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
    // The wire shows what is not caught.
    let (answered, seen) = world.watch(|| world.ping_in_vain("a", ELSEWHERE, 1));
    assert!(answered == 0 && shown(&seen) > 0, "the capture sees nothing");

    let sent: Vec<u8> = WORD.iter().copied().cycle().take(3 << 20).collect();
    let (pings, seen) = world.watch(|| {
        assert!(file(&world, "a", "b", B, &sent) == sent, "the file is another one");
        // The kernel gets packets of one connection as one: each for itself takes it several times as long.
        let [octets, packets] = taken_inside(&world, "b");
        assert!(octets > 4 * 1400 * packets, "{octets} octets in {packets} pieces");
        assert!(file(&world, "b", "a", A, &sent) == sent, "the file is another one");
        (world.ping("a", B, 5), world.ping("b", A, 5))
    });
    assert_eq!((pings, shown(&seen)), ((5, 5), 0));
    // Frames of many segments are one here, and a slow watcher misses some.
    let octets: usize = seen.iter().map(Vec::len).sum();
    assert!(octets > sent.len(), "{octets} octets cannot be two files");

    // It is nobody now, with no capability.
    let status = fs::read_to_string(format!("/proc/{a}/status")).expect("it runs");
    let line = |key: &str| status.lines().find(|line| line.starts_with(key)).expect(key).to_owned();
    assert_eq!(line("CapEff:").trim_start_matches("CapEff:").trim().trim_matches('0'), "");
    assert!(!line("Uid:").split_whitespace().skip(1).any(|id| id == "0"));

    // What it says of itself.
    let (status, list) = (ask(&world, "a", "status"), ask(&world, "a", "sas"));
    assert_eq!((&status["sas"], &status["peers"][0]["endpoint"]), (&2.into(), &"192.0.2.2:4500".into()));
    let sequence = list[0]["sequence"].as_u64().expect("a number");
    assert!(sequence > 100 && list[0]["counters"]["forwarded"]["packets"] == list[0]["sequence"], "{list}");
    until("keepalives are sent", || {
        ask(&world, "a", "status")["gateway"]["keepalives_sent"].as_u64() > Some(0)
    });

    // A file that is wrong changes nothing; one with another SA leaves the first two alone.
    write_sas(&world, 1, "this is no SA file");
    signal(a, "-HUP");
    until("the file is refused", || world.read("a.log").contains("a-sas.toml:1: "));
    let more = sas(1, "tunnel", '7', GCM).replace("name = \"", "name = \"more-").replace("10.0.", "10.7.");
    write_sas(&world, 1, &(sas(1, "tunnel", '0', GCM) + &more));
    signal(a, "-HUP");
    until("the file is taken", || world.read("a.log").contains("added=2 removed=0 kept=2"));
    assert_eq!(world.ping("a", B, 3), 3);
    let list = ask(&world, "a", "sas");
    assert_eq!(list.as_array().map(Vec::len), Some(4));
    assert!(list[0]["sequence"].as_u64() >= Some(sequence + 3));

    // Nor does one that others may read.
    let file = world.path("a-sas.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("it is ours");
    signal(a, "-HUP");
    until("the file is refused", || world.read("a.log").contains("mode 644); `chmod o=,g-w "));
    assert_eq!(world.ping("a", B, 3), 3);

    // Another key: everything is dropped, nothing is shown.
    write_sas(&world, 1, &sas(1, "tunnel", '5', &GCM.replace("8899", "8888")));
    write_sas(&world, 2, &sas(2, "tunnel", '5', GCM));
    for (gateway, log, logged) in [(a, "a.log", "added=2 removed=4"), (b, "b.log", "added=2 removed=2")] {
        signal(gateway, "-HUP");
        until("the file is taken", || world.read(log).contains(logged));
    }
    let (answered, seen) = world.watch(|| world.ping_in_vain("a", B, 2));
    assert_eq!((answered, shown(&seen)), (0, 0));
    // The two at least: what else the kernel sends through the device under this key is dropped as well.
    let dropped = &ask(&world, "b", "status")["packets"]["dropped"];
    assert!(dropped["icv_mismatch"].as_u64() >= Some(2), "{dropped}");

    // Killed: the device stays, and nothing goes round it.
    assert_eq!(world.end(a, "-KILL"), None);
    let (answered, seen) = world.watch(|| world.ping_in_vain("a", B, 2));
    assert_eq!((answered, shown(&seen)), (0, 0));
    // Started again, with new keys on both sides: it goes on.
    // What is recorded was anybody's to read before, and is no longer.
    let recording = world.path("a.rec");
    fs::write(&recording, "of before").expect("it is ours");
    fs::set_permissions(&recording, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let recorded = format!("{UDP}[record]\nfile = \"a.rec\"\n");
    let a = gateway(&world, 1, &recorded, &sas(1, "tunnel", '3', GCM));
    write_sas(&world, 2, &sas(2, "tunnel", '3', GCM));
    signal(b, "-HUP");
    until("the file is taken", || world.read("b.log").matches("added=2 removed=2 kept=0").count() == 2);
    assert_eq!(world.ping("a", B, 3), 3);
    // And stopped: nothing is shown either.
    assert_eq!(world.end(a, "-TERM"), Some(0));
    assert!(world.read("a.log").contains("stopped protected="));
    assert_eq!(fs::metadata(&recording).expect("it is there").permissions().mode() & 0o777, 0o600);
    let text = fs::read(&recording).expect("it is there");
    let packets = text.windows(9).filter(|part| part == b"{\"packet\"").count();
    // Three pings and their answers, and no word of what was in them.
    assert!(packets >= 6 && !text.windows(WORD.len()).any(|part| part == WORD), "{packets}");
    let (answered, seen) = world.watch(|| world.ping_in_vain("a", B, 2));
    assert_eq!((answered, shown(&seen)), (0, 0));
}

#[test]
fn an_end_that_moves_is_found_again() {
    let Some(world) = World::new() else { return };
    // Transport mode between the addresses inside; where the ends are on the wire is the peer's affair.
    let peer = |n: u8| {
        format!("{UDP}[[peer]]\naddress = \"10.0.{n}.1\"\nendpoint = \"192.0.2.{n}:4500\"\nroaming = true\n")
    };
    gateway(&world, 1, &peer(2), &sas(1, "transport", '0', CBC));
    gateway(&world, 2, &peer(1), &sas(2, "transport", '0', CBC));
    assert_eq!((world.ping("a", B, 3), world.ping("b", A, 3)), (3, 3));
    world.ip("b", "address add 192.0.2.9/24 dev wire").expect("it may");
    world.ip("b", "address delete 192.0.2.2/24 dev wire").expect("it may");
    world.ip("b", "address replace 192.0.2.9/24 dev wire").expect("it may");
    let (answered, seen) = world.watch(|| {
        // Its first packet alone moves nobody.
        world.ping_in_vain("b", A, 1);
        (world.ping("b", A, 3), world.ping("a", B, 3))
    });
    assert_eq!((answered, shown(&seen)), ((3, 3), 0));
    let status = ask(&world, "a", "status");
    assert_eq!(status["peers"][0]["endpoint"], "192.0.2.9:4500");
    assert_eq!(status["gateway"]["endpoint_moves"], 1);
}

#[test]
fn esp_and_ah_cross_as_they_are() {
    for (suite, protocol) in [(CBC, 50), (AH, 51)] {
        let Some(world) = World::new() else { return };
        gateway(&world, 1, "encapsulation = \"none\"", &sas(1, "tunnel", '0', suite));
        gateway(&world, 2, "encapsulation = \"none\"", &sas(2, "tunnel", '0', suite));
        let ((pings, arrived), seen) = world.watch(|| {
            let sent: Vec<u8> = (0..1 << 20).map(|n: u32| (n % 251) as u8).collect();
            ((world.ping("a", B, 3), world.ping("b", A, 3)), file(&world, "a", "b", B, &sent) == sent)
        });
        assert!(pings == (3, 3) && arrived, "protocol {protocol}: {pings:?}, {arrived}");
        let of = |frame: &&Vec<u8>| frame.get(12..14) == Some(&[8, 0]) && frame.get(23) == Some(&protocol);
        assert!(seen.iter().filter(of).count() > 100, "protocol {protocol}");
        // AH shows what it vouches for; ESP does not.
        assert_eq!(shown(&seen) > 0, protocol == 51);
    }
}

/// Pings are one core's and TCP is the other's, by their SPIs; and the kernel divides what comes in the same way.
#[test]
fn several_cores_share_what_crosses() {
    let both = |who| {
        let one = |digit, protocol: &str| {
            let with = format!("selector = {{ protocol = \"{protocol}\", src");
            sas(who, "tunnel", digit, GCM)
                .replace("selector = { src", &with)
                .replace("name = \"", &format!("name = \"{protocol}-"))
        };
        one('0', "icmp") + &one('1', "tcp")
    };
    for outside in [UDP, "encapsulation = \"none\"\n"] {
        let Some(world) = World::new() else { return };
        let outside = format!("{outside}[engine]\ncores = 2\n");
        gateway(&world, 1, &outside, &both(1));
        let b = gateway(&world, 2, &outside, &both(2));
        let sent: Vec<u8> = WORD.iter().copied().cycle().take(3 << 20).collect();
        let (pings, seen) = world.watch(|| {
            assert!(file(&world, "a", "b", B, &sent) == sent, "the file is another one");
            assert!(file(&world, "b", "a", A, &sent) == sent, "the file is another one");
            (world.ping("a", B, 20), world.ping("b", A, 20))
        });
        assert_eq!((pings, shown(&seen)), ((20, 20), 0));
        for name in ["a", "b"] {
            let status = ask(&world, name, "status");
            assert_eq!(status["sas"], 4);
            for core in status["cores"].as_array().expect("two") {
                assert!(core["alive"] == true && core["sas"] == 2, "{status}");
                assert!(core["accepted"].as_u64() >= Some(40), "{status}");
            }
            for cause in ["replayed", "too_old", "icv_mismatch", "unknown_spi", "no_sa"] {
                // Causes that were never counted are not named.
                assert!(status["packets"]["dropped"][cause].is_null(), "{cause}: {status}");
            }
            let sas = ask(&world, name, "sas");
            assert_eq!(sas.as_array().map(Vec::len), Some(4));
        }
        // Taken anew: what was there goes on, and a stop sends what was taken.
        signal(b, "-HUP");
        until("it has been reloaded", || world.read("b.log").contains("added=0 removed=0 kept=4"));
        assert_eq!(world.ping("a", B, 5), 5);
        signal(b, "-TERM");
        until("it has stopped", || world.read("b.log").contains("stopped protected="));
        let (answered, seen) = world.watch(|| world.ping_in_vain("b", A, 3));
        assert_eq!((answered, shown(&seen)), (0, 0));
    }
}

/// SPI, number and IV of each packet that end a sent in ESP. The bridge shows a packet at both of its ports.
fn heads(frames: &[Vec<u8>]) -> Vec<&[u8]> {
    let sent = frames.iter().filter(|frame| {
        frame.get(12..14) == Some(&[8, 0])
            && frame.get(23) == Some(&17)
            && frame.get(26..30) == Some(&[192, 0, 2, 1])
    });
    let packets: std::collections::HashSet<&[u8]> = sent.filter_map(|frame| frame.get(42..)).collect();
    packets.into_iter().filter_map(|packet| packet.get(..16)).collect()
}

#[test]
fn no_nonce_comes_again_behind_edits_removals_stops_and_kills() {
    let Some(world) = World::new() else { return };
    let good = sas(1, "tunnel", '0', GCM);
    let mut a = gateway(&world, 1, UDP, &good);
    gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
    let ((), seen) = world.watch(|| {
        assert_eq!(world.ping("a", B, 20), 20);
        let edited = good.replace("name = \"1-to-2\"", "name = \"to the branch\"");
        let limited =
            good.replace("fresh_key = true\n", "fresh_key = true\nlifetime = { hard_packets = 100000 }\n");
        for (file, logged) in
            [(&*edited, "kept=1 edited=1"), (&limited, "edited=2"), ("", "removed=2"), (&good, "added=2")]
        {
            write_sas(&world, 1, file);
            signal(a, "-HUP");
            until("it has been reloaded", || {
                world.read("a.log").lines().last().is_some_and(|line| line.contains(logged))
            });
            if !file.is_empty() {
                assert_eq!(world.ping("a", B, 20), 20, "{logged}");
            }
        }
        for how in ["-KILL", "-TERM", "-KILL"] {
            // Idle ones pass over little.
            std::thread::sleep(std::time::Duration::from_secs(3));
            world.end(a, how);
            a = gateway(&world, 1, UDP, &good);
            // What was written down ahead is passed over: so many of the peer's packets are not taken.
            world.within("b", || {
                let socket = UdpSocket::bind((B, 0)).expect("an address of its own");
                (0..2000).for_each(|_| drop(socket.send_to(WORD, (A, 9))));
            });
            assert_eq!(world.ping("a", B, 20), 20, "behind {how}");
        }
    });
    let heads = heads(&seen);
    let different: std::collections::HashSet<_> = heads.iter().collect();
    assert!(heads.len() > 100 && different.len() == heads.len(), "{} of {}", different.len(), heads.len());
    assert_eq!(shown(&seen), 0);
}

fn signal(id: u32, signal: &str) {
    let status = std::process::Command::new("kill").args([signal, &id.to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()));
}
