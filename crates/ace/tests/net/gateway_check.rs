// SPDX-License-Identifier: Apache-2.0
//! Whether another end answers, and a way on which long packets are swallowed without a word (RFC 2923): it is found out with
//! pings how long they may be, and TCP gets through.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use serde_json::Value;

use crate::common::installed;
use crate::gateway::{A, B, GCM, UDP, ask, gateway_of, sas};
use crate::netns::{World, until};

fn checked(who: u8, outside: &str) -> String {
    let other = 3 - who;
    format!(
        "{outside}[[peer]]\naddress = \"192.0.2.{other}\"\ncheck = \"10.0.{other}.1\"\ncheck_interval = 1\n"
    )
}

/// Drops what is longer than that between the ends, and all ICMP.
fn swallow(world: &World, longest: usize) {
    let rules = format!(
        "table bridge hop {{\nchain way {{\ntype filter hook forward priority 0\nether type ip ip length > {longest} drop\n\
         ether type ip ip protocol icmp drop\n}}\n}}"
    );
    // Datagrams go one by one, or a frame of many is what is looked at.
    for of in ["a", "b"] {
        world.ip(of, "link set wire gso_max_segs 1").expect("root may");
    }
    let file = world.path("hop.nft");
    std::fs::write(&file, format!("table bridge hop\ndelete table bridge hop\n{rules}\n"))
        .expect("it is ours");
    let output = world.run("m", Command::new("nft").arg("-f").arg(&file));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn check(world: &World, of: &str) -> Value {
    ask(world, of, "status")["peers"][0]["check"].clone()
}

/// Sends a megabyte over TCP; whether all of it came in time.
fn tcp(world: &World) -> bool {
    let listener = world.within("b", || TcpListener::bind((B, 0)).expect("an address of its own"));
    let port = listener.local_addr().expect("it is bound").port();
    let sent = vec![7; 1 << 20];
    std::thread::scope(|scope| {
        let arrived = scope.spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody calls");
            stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).expect("a time");
            let mut arrived = Vec::new();
            stream.read_to_end(&mut arrived).map(|_| arrived.len()).unwrap_or(0)
        });
        let mut stream = world.within("a", || TcpStream::connect((B, port)).expect("it listens"));
        stream.set_write_timeout(Some(std::time::Duration::from_secs(30))).expect("a time");
        let wrote = stream.write_all(&sent).is_ok();
        drop(stream);
        wrote && arrived.join().expect("it ends") == sent.len()
    })
}

#[test]
fn a_way_that_swallows_long_packets_is_found_out() {
    for outside in [UDP, "encapsulation = \"none\"\n"] {
        let Some(world) = World::new().filter(|_| installed("nft")) else { return };
        // From the start: nobody has ever heard of the way.
        swallow(&world, 1280);
        gateway_of(&world, 1, "", &[], &checked(1, outside), &sas(1, "tunnel", '0', GCM));
        gateway_of(&world, 2, "", &[], &checked(2, outside), &sas(2, "tunnel", '0', GCM));
        let longest = |of: &str| check(&world, of)["longest"].as_u64().unwrap_or(0);
        // 1,280 less what is put around a packet, padding included.
        for of in ["a", "b"] {
            until("it is found out", || (1205..=1244).contains(&longest(of)));
            assert_eq!(check(&world, of)["up"], true);
            assert!(ask(&world, of, "status")["gateway"]["path_mtu_swallowed"].as_u64() > Some(0));
        }
        assert!(tcp(&world), "{outside}");
        // It becomes shorter while both run.
        swallow(&world, 900);
        for of in ["a", "b"] {
            until("it is found out", || (825..=864).contains(&longest(of)));
        }
        assert!(tcp(&world), "{outside}");
        assert!(world.read("a.log").contains("long packets to peer 192.0.2.2 are swallowed on their way"));
    }
}

#[test]
fn an_end_that_does_not_answer_is_told_of_and_so_is_one_that_does_again() {
    let Some(world) = World::new() else { return };
    gateway_of(&world, 1, "", &[], &checked(1, UDP), &sas(1, "tunnel", '0', GCM));
    until("it does not answer", || check(&world, "a")["up"] == false);
    let b = gateway_of(&world, 2, "", &[], UDP, &sas(2, "tunnel", '0', GCM));
    until("it answers", || check(&world, "a")["up"] == true);
    assert!(check(&world, "a")["round_trip"].as_f64().is_some_and(|seconds| seconds < 60.0));
    until("the longest goes through", || check(&world, "a")["longest"] == 1400);
    // The kernel inside hears nothing of answers that are not its own, and pings of others go on.
    assert_eq!(world.ping("a", B, 3), 3);
    assert_eq!(world.ping("b", A, 3), 3);
    world.end(b, "-KILL");
    until("it does not answer", || check(&world, "a")["up"] == false);
    let log = world.read("a.log");
    for words in ["peer 192.0.2.2 does not answer at 10.0.2.1", "peer 192.0.2.2 answers at 10.0.2.1"] {
        assert!(log.contains(words), "{log}");
    }
}
