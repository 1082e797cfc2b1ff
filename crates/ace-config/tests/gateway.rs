// SPDX-License-Identifier: Apache-2.0
//! Gateway configurations: what is in them, and every error with its place and its remedy.

use ace_config::gateway::{Encapsulation, GatewayConfig};
use proptest::prelude::*;

const GOOD: &str = r#"sas = "sas.toml"
user = "nobody"

[inside]
tun = "ace1"
address = ["10.0.1.1/24", "2001:db8::1/64"]
routes = ["10.0.2.0/24"]
mtu = 1380

[outside]
encapsulation = "udp"
listen = "192.0.2.1:4500"

[[peer]]
address = "192.0.2.2"
endpoint = "198.51.100.7:1024"
"#;

#[test]
fn a_configuration_is_what_it_says() {
    let config = GatewayConfig::parse("/etc/ace/a.toml", GOOD).unwrap();
    assert_eq!(config.sas.as_deref(), Some("/etc/ace/sas.toml".as_ref()));
    assert_eq!(config.xfrm, None);
    let text = format!("{}\n[xfrm]\nallow_legacy = true\n", GOOD.replacen("sas = \"sas.toml\"", "", 1));
    let by_xfrm = GatewayConfig::parse("/etc/ace/a.toml", &text).unwrap();
    let xfrm = by_xfrm.xfrm.unwrap();
    assert_eq!(
        (by_xfrm.sas, xfrm.socket.to_str(), xfrm.allow_legacy),
        (None, Some("/run/ace/xfrm.sock"), true)
    );
    assert_eq!((config.record, config.engine.cores), (None, None));
    let two = GatewayConfig::parse("a.toml", &format!("{GOOD}[engine]\ncores = 2\n")).unwrap();
    assert_eq!(two.engine.cores, Some(2));
    let text = format!("{GOOD}[record]\nfile = \"live.rec\"\n");
    let record = GatewayConfig::parse("/etc/ace/a.toml", &text).unwrap().record.unwrap();
    assert_eq!((record.file.to_str(), record.packets), (Some("/etc/ace/live.rec"), 200_000));
    let text = format!(
        "{GOOD}[standby]\nlisten = \"192.168.7.1:4600\"\npeer = \"192.168.7.2:4600\"\nkey = \"pair.key\"\n"
    );
    let standby = GatewayConfig::parse("/etc/ace/a.toml", &text).unwrap().standby.unwrap();
    assert_eq!(
        (standby.key.to_str(), standby.stop_alone, standby.wait),
        (Some("/etc/ace/pair.key"), true, 5)
    );
    assert_eq!(config.standby, None);
    assert_eq!(config.control.to_str(), Some("/run/ace/gateway.sock"));
    assert_eq!(
        (config.inside.tun.as_str(), config.inside.mtu, config.inside.addresses.len()),
        ("ace1", 1380, 2)
    );
    assert_eq!(config.outside.encapsulation, Encapsulation::Udp);
    assert_eq!((config.outside.keepalive, config.peers[0].roaming), (20, false));
    // An endpoint that is named is meant, unless it is said otherwise.
    let endpoint = "endpoint = \"198.51.100.7:1024\"\n";
    for (with, roams) in [
        (format!("{endpoint}roaming = true\n"), true),
        (format!("{endpoint}roaming = false\n"), false),
        (String::new(), true),
        ("roaming = false\n".to_owned(), false),
    ] {
        let text = GOOD.replace(endpoint, &with);
        assert!(text != GOOD, "the row names its endpoint");
        assert_eq!(GatewayConfig::parse("a.toml", &text).unwrap().peers[0].roaming, roams, "{with}");
    }
    assert_eq!(config.peers[0].endpoint.to_string(), "198.51.100.7:1024");
}

#[test]
fn errors_name_line_and_remedy() {
    let cases = [
        (
            "tun = \"ace1\"",
            "tun = \"a/b\"",
            "a.toml:5: inside: `tun`: `\"a/b\"` is not a name; allowed: the name",
        ),
        ("mtu = 1380", "mtu = 100", "a.toml:8: inside: `mtu`: `100` is out of range; allowed: 576 to 9000"),
        ("mtu = 1380", "mtuu = 1380", "a.toml:8: inside: unknown key `mtuu`; did you mean `mtu`?"),
        ("[\"10.0.2.0/24\"]", "[\"10.0.2.1/24\"]", "a.toml:7: inside: `routes`: "),
        (
            "\"udp\"",
            "\"tcp\"",
            "a.toml:11: outside: `encapsulation`: `\"tcp\"` is ESP in TCP (RFC 9329), which no gateway here does; allowed: udp, none",
        ),
        ("\"udp\"", "\"dtls\"", "a.toml:11: outside: `encapsulation`: `\"dtls\"` is unknown"),
        ("\"udp\"", "\"none\"", "a.toml:12: outside: `listen` is for encapsulation = \"udp\" alone"),
        ("198.51.100.7:1024", "198.51.100.7", "a.toml:16: peer: `endpoint`: "),
        (
            "endpoint = \"198.51.100.7:1024\"",
            "check = \"10.0.2\"",
            "peer: `check`: `\"10.0.2\"` is not an address; allowed: an address inside that answers pings",
        ),
        (
            "endpoint = \"198.51.100.7:1024\"",
            "check = \"2001:db8::1\"",
            "peer: `check`: `\"2001:db8::1\"` is our own; allowed: an address inside",
        ),
        (
            "endpoint = \"198.51.100.7:1024\"",
            "check_interval = 5",
            "peer: `check` is missing; allowed: an address",
        ),
        (
            "endpoint = \"198.51.100.7:1024\"",
            "check = \"10.0.2.1\"\ncheck_interval = 0",
            "peer: `check_interval`: `0` is out of range; allowed: 1 to 3600",
        ),
        (
            "endpoint = \"198.51.100.7:1024\"",
            "check = \"10.0.2.1\"\n[engine]\ncores = 2",
            "`check` of [[peer]] is for one core; leave out `cores` of [engine]",
        ),
        ("sas = \"sas.toml\"", "", "a.toml:1: `sas` is missing; allowed: the name of an SA file"),
        (
            "sas = \"sas.toml\"",
            "sas = \"\"",
            "a.toml:1: `sas`: `\"\"` is empty; allowed: the name of an SA file",
        ),
        ("[outside]", "[outsid]", "unknown key `outsid`; did you mean `outside`?"),
        ("user = \"nobody\"", "user = ", "a.toml:2: "),
        (
            "[outside]",
            "[standby]\nlisten = \"192.168.7.1:4600\"\nkey = \"k\"\n[outside]",
            "a.toml:10: standby: `peer` is missing; allowed: an address and a port",
        ),
        (
            "[outside]",
            "[standby]\nlisten = \"192.168.7.1:4600\"\npeer = \"192.168.7.2:4600\"\n[outside]",
            "a.toml:10: standby: `key` is missing; allowed: the name of a file with 64 hexadecimal digits",
        ),
        (
            "[outside]",
            "[standby]\nlisten = \"192.168.7.1:4600\"\npeer = \"192.168.7.2:0\"\nkey = \"k\"\n[outside]",
            "a.toml:12: standby: `peer`: `\"192.168.7.2:0\"` is no place",
        ),
        (
            "[outside]",
            "[standby]\nlisten = \"192.168.7.1:4600\"\npeer = \"192.168.7.2:1\"\nkey = \"k\"\nalone = \"no\"\nwait = 1\n[outside]",
            "a.toml:15: standby: `wait`: `1` is out of range; allowed: 2 to 600",
        ),
        (
            "[outside]",
            "[standby]\nlisten = \"192.168.7.1:4600\"\npeer = \"192.168.7.2:1\"\nkey = \"k\"\nalone = \"no\"\n[outside]",
            "a.toml:14: standby: `alone`: `\"no\"` is unknown",
        ),
        (
            "[outside]",
            "[standby]\nlisten = \"192.168.7.1:4600\"\npeer = \"192.168.7.2:1\"\nkey = \"k\"\n[xfrm]\n[outside]",
            "a.toml:10: [standby] is for SAs of an SA file",
        ),
        (
            "[outside]",
            "[record]\n[outside]",
            "a.toml:10: record: `file` is missing; allowed: the name of a file",
        ),
        (
            "[outside]",
            "[record]\nfile = \"x\"\npackets = 0\n[outside]",
            "a.toml:12: record: `packets`: `0` is out of range",
        ),
        (
            "[outside]",
            "[outside]\nmark = 255",
            "a.toml:11: outside: `mark`: `255` is out of range; allowed: 256 to 2147483647",
        ),
        (
            "[outside]",
            "[engine]\ncores = 0\n[outside]",
            "a.toml:11: engine: `cores`: `0` is out of range; allowed: 1 to 256",
        ),
        (
            "[outside]",
            "[engine]\nkind = \"auto\"\ncores = 2\n[outside]",
            "a.toml:12: engine: `cores` is for kind = \"cpu\" alone",
        ),
        (
            "[outside]",
            "[engine]\ncores = 2\n[xfrm]\n[outside]",
            "a.toml:12: [xfrm] is for one core; leave out `cores` of [engine]",
        ),
        (
            "[outside]",
            "[engine]\ncores = 2\n[record]\nfile = \"x\"\n[outside]",
            "a.toml:12: [record] is for one core",
        ),
    ];
    for (from, to, wanted) in cases {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        let errors = GatewayConfig::parse("a.toml", &text).unwrap_err().to_string();
        assert!(errors.contains(wanted), "{from} -> {to}:\n{errors}\nis not\n{wanted}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}", cut in 0..GOOD.len()) {
        let _ = GatewayConfig::parse("any.toml", &text);
        let mut mixed = GOOD[..cut].to_owned();
        mixed.push_str(&text);
        let _ = GatewayConfig::parse("any.toml", &mixed);
    }
}

#[test]
fn tenants_have_devices_of_their_own() {
    use ace_config::gateway::Table;
    let text = "sas = \"s\"\n[inside]\nmtu = 1300\nclamp_mss = true\nroutes = [\"10.0.2.0/24\"]\n[outside]\nencapsulation = \"udp\"\nmark = 300\n";
    let with = |more: &str| GatewayConfig::parse("a.toml", &format!("{text}{more}"));
    let config = with(
        "[[interface]]\nname = \"ace7\"\nif_id = 7\nroutes = [\"10.0.2.0/24\"]\ntable = 1007\n\
         [[interface]]\nname = \"ace8\"\nif_id = 0xffffffff\nroutes = [\"10.0.2.0/24\"]\nnetns = \"eight\"\nmtu = 1200\nclamp_mss = false\n\
         [[interface]]\nname = \"ace9\"\nif_id = 9\naddress = [\"10.0.1.1/24\"]\n\
         [[peer]]\naddress = \"192.0.2.2\"\ncheck = \"10.0.2.1\"\ncheck_if_id = 9\n",
    )
    .unwrap();
    let seen = config.devices().map(|device| {
        let inside = device.inside;
        (device.if_id, inside.tun.as_str(), device.table, inside.mtu, inside.clamp_mss, device.is_apart())
    });
    assert_eq!(
        seen.collect::<Vec<_>>(),
        [
            (0, "ace0", Table::Marked(300), 1300, true, false),
            (7, "ace7", Table::Own(1007), 1300, true, true),
            (u32::MAX, "ace8", Table::Main, 1200, false, true),
            (9, "ace9", Table::Marked(300), 1300, true, false),
        ]
    );
    assert_eq!(config.interfaces[1].netns.as_deref(), Some(std::path::Path::new("/run/netns/eight")));
    assert_eq!(config.peers[0].check.map(|check| check.if_id), Some(9));
    let one = "[[interface]]\nname = \"ace7\"\nif_id = 7\n";
    for (more, words) in [
        ("[[interface]]\nname = \"ace7\"\n", "`if_id` is missing"),
        ("[[interface]]\nname = \"ace7\"\nif_id = 0\n", "out of range"),
        ("[[interface]]\nif_id = 7\n", "`name` is missing"),
        ("[[interface]]\nname = \"ace0\"\nif_id = 7\n", "is another device's"),
        (&format!("{one}[[interface]]\nname = \"ace8\"\nif_id = 7\n"), "is another [[interface]]'s"),
        (&format!("{one}{one}"), "is another device's"),
        (&format!("{one}routes = [\"10.0.2.0/24\"]\n"), "leads into another device"),
        (&format!("{one}table = 255\n"), "out of range"),
        (&format!("{one}netns = \"\"\n"), "is empty"),
        (&format!("{one}interfaces = [\"lan0\"]\n"), "unknown key"),
        ("interface = 7\n", "unknown key"),
        ("[interface]\nif_id = 7\n", "is not a list of tables"),
        (
            "[[peer]]\naddress = \"192.0.2.2\"\ncheck = \"10.0.2.1\"\ncheck_if_id = 9\n",
            "is no [[interface]]'s",
        ),
        ("[[peer]]\naddress = \"192.0.2.2\"\ncheck_if_id = 9\n", "`check` is missing"),
    ] {
        let why = with(more).expect_err(more).to_string();
        assert!(why.contains(words), "{more}{why}");
    }
}
