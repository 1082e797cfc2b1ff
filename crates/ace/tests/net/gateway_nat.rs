// SPDX-License-Identifier: Apache-2.0
//! Behind a translator that gives a gateway another port in the middle: the other end follows, and whoever negotiates for it
//! is told (MAPPING).

use std::fs;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use crate::gateway::{UDP, ask, started};
use crate::netns::{World, shown, until};
use crate::xfrm::{Ends, library};

const B: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 1);

/// Listens to XFRMNLGRP_MAPPING and prints for each message both places, old and new.
const LISTENS: &str = "import socket, sys\n\
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 6)\n\
s.bind((0, 1 << 7))\n\
print('listens', flush=True)\n\
while True:\n\
\x20   m = s.recv(65536)\n\
\x20   if m[4:6] != b'\\x26\\0': continue\n\
\x20   b = m[16:]\n\
\x20   at = lambda a, p: socket.inet_ntoa(b[a:a+4]) + ':' + str(int.from_bytes(b[p:p+2], 'big'))\n\
\x20   print(hex(int.from_bytes(b[16:20], 'big')), at(28, 60), at(44, 62), flush=True)\n";

/// `a` behind `n`, which has 192.0.2.9 on the wire.
fn behind_a_translator(world: &World) {
    let name = world.space("n");
    let does = |of: &str, words: &str| world.ip(of, words).expect("root may");
    does("m", &format!("link add to-n type veth peer name out netns {name}"));
    does("m", "link set to-n master br0 up");
    does("n", "link set out up");
    does("n", "address add 192.0.2.9/24 dev out");
    does("a", &format!("link add nat type veth peer name in netns {name}"));
    for (of, device, ours) in [("a", "nat", 1), ("n", "in", 2)] {
        does(of, &format!("link set {device} up"));
        does(of, &format!("address add 10.9.0.{ours}/24 dev {device}"));
    }
    does("a", "route add 192.0.2.2/32 via 10.9.0.2");
    world.set("n", "net/ipv4/ip_forward", "1");
}

/// Gives what comes from behind it ports from here on, and forgets all that it has translated so far.
fn translate(world: &World, port: u16) {
    let rules = format!(
        "flush ruleset\ntable ip nat {{\n chain post {{\n type nat hook postrouting priority 100;\n \
         oifname out udp dport 4500 masquerade to :{port}-{}\n }}\n}}\n",
        port + 9
    );
    let path = world.path("rules");
    fs::write(&path, rules).expect("it is ours");
    let out = world.run("n", Command::new("nft").arg("-f").arg(&path));
    assert!(out.status.success(), "{}", crate::common::stderr(&out));
    // With its address the kernel forgets what was masqueraded by a device.
    for words in ["link set out down", "link set out up"] {
        world.ip("n", words).expect("root may");
    }
}

#[test]
fn a_port_that_changes_on_the_way_is_followed_and_told() {
    let Some(world) = World::new().filter(|_| crate::common::installed("nft")) else { return };
    behind_a_translator(&world);
    translate(&world, 10_000);
    let key = |from: u8| format!("{from}1").repeat(20);
    let one = |spi: u32, direction: &str, from: u8| {
        format!(
            "[[sa]]\nname = \"{direction}\"\nspi = {spi}\ndirection = \"{direction}\"\nmode = \"tunnel\"\nlocal = \"10.9.0.1\"\n\
             remote = \"192.0.2.2\"\nselector = {{ src = \"10.0.{from}.0/24\", dst = \"10.0.{}.0/24\" }}\n\
             cipher = \"aes-128-gcm-16\"\nkey = \"{}\"\n",
            3 - from,
            key(from)
        )
    };
    world.write_keys("a-sas.toml", &format!("{}{}", one(0x1001, "out", 1), one(0x2001, "in", 2)));
    let inside = |who: u8| {
        format!("address = [\"10.0.{who}.1/32\"]\nroutes = [\"10.0.{}.0/24\"]\n[outside]\n{UDP}", 3 - who)
    };
    let a = started(&world, "a", "", &inside(1));
    world.write_keys("b-sas.toml", "");
    let b = started(&world, "b", "", &format!("{}[xfrm]\nsocket = \"b.xfrm\"\n", inside(2)));
    let ends = Ends { world, library: library(), gateways: [a, b] };
    let world = &ends.world;
    for (from, way) in [(1, "in"), (2, "out")] {
        let pair = if from == 1 { "src 192.0.2.9 dst 192.0.2.2" } else { "src 192.0.2.2 dst 192.0.2.9" };
        let sa = format!("{pair} proto esp spi 0x{from}001 reqid 1 mode tunnel");
        let encap = "encap espinudp 4500 4500 0.0.0.0";
        ends.does("b", &format!("xfrm state add {sa} aead rfc4106(gcm(aes)) 0x{} 128 {encap}", key(from)));
        let selector = format!("src 10.0.{from}.0/24 dst 10.0.{}.0/24 dir {way}", 3 - from);
        ends.does("b", &format!("xfrm policy add {selector} tmpl {pair} proto esp reqid 1 mode tunnel"));
    }
    let heard = world.path("heard");
    let mut listener = Command::new("python3");
    listener.args(["-c", LISTENS]).env("LD_PRELOAD", &ends.library).env("ACE_XFRM", world.path("b.xfrm"));
    listener.stdout(fs::File::create(&heard).expect("a file")).stderr(Stdio::inherit());
    let mut listener = listener.spawn().expect("python3 starts");
    let told = || fs::read_to_string(&heard).expect("text").lines().map(str::to_owned).collect::<Vec<_>>();
    until("it listens", || told().len() == 1);
    let endpoint =
        || ask(world, "b", "status")["peers"][0]["endpoint"].as_str().unwrap_or_default().to_owned();
    assert_eq!(endpoint(), "192.0.2.9:4500", "as the SA says it");
    let ((), seen) = world.watch(|| {
        let mut old = "192.0.2.9:4500".to_owned();
        for (number, port) in [10_000, 20_000, 30_000].into_iter().enumerate() {
            translate(world, port);
            // One packet from elsewhere moves nobody: its answer goes where the peer was.
            assert_eq!((world.ping_in_vain("a", B, 1), told().len()), (0, 1 + number));
            assert_eq!(endpoint(), old);
            // The second one in a row does.
            assert_eq!(world.ping("a", B, 1), 1, "{port}");
            until("it is told", || told().len() == 2 + number);
            let new = endpoint();
            let taken: u16 = new.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
            assert!((port..port + 10).contains(&taken), "{new}");
            assert_eq!(told()[1 + number], format!("0x1001 {old} {new}"));
            assert_eq!(world.ping("a", B, 2), 2);
            old = new;
        }
    });
    assert_eq!(shown(&seen), 0);
    listener.kill().expect("it runs");
    listener.wait().expect("it ends");
}
