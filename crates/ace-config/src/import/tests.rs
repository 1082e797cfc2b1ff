// SPDX-License-Identifier: Apache-2.0
//! What `ip`, strongSwan and Wireshark print, taken in. The samples are as iproute2's `ip/ipxfrm.c` formats them.

use super::words::{self, Fate, WORDS};
use super::*;
use crate::SaFile;

const PRINTED: &str = "src 192.0.2.1 dst 192.0.2.2
\tproto esp spi 0xc0ffee01(3237998081) reqid 1(0x00000001) mode tunnel
\treplay-window 0 seq 0x00000000 flag af-unspec esn (0x10100000)
\tauth-trunc hmac(sha256) 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f (256 bits) 128
\tenc cbc(aes) 0x000102030405060708090a0b0c0d0e0f (128 bits)
\tanti-replay esn context:
\t seq-hi 0x0, seq 0x0, oseq-hi 0x2, oseq 0x5
\t replay_window 32, bitmap-length 1
\t 00000000 
\tsel src 0.0.0.0/0 dst 0.0.0.0/0 uid 0
\tlifetime config:
\t  limit: soft (INF)(bytes), hard 1000(bytes)
\t  limit: soft 90(packets), hard 100(packets)
\t  expire add: soft 3300(sec), hard 3600(sec)
\t  expire use: soft 0(sec), hard 0(sec)
\tlifetime current:
\t  400(bytes), 5(packets)
\t  add 2026-11-27 01:00:00 use 2026-11-27 01:00:01
\tstats:
\t  replay-window 0 replay 0 failed 0
src 192.0.2.2 dst 192.0.2.1
\tproto esp spi 0xc0ffee02(3237998082) reqid 1(0x00000001) mode transport
\treplay-window 64 seq 0x00000000 flag  (0x00000000)
\taead rfc4106(gcm(aes)) 0x000102030405060708090a0b0c0d0e0f10111213 (160 bits) 128
\tanti-replay context: seq 0x7, oseq 0x0, bitmap 0x0000007f
\tsel src 0.0.0.0/0 dst 0.0.0.0/0 uid 0
src 192.0.2.9 dst 192.0.2.1
\tproto comp spi 0x00000001(1) reqid 0(0x00000000) mode transport
";

/// An SA from 192.0.2.1 to 192.0.2.2 with lines behind its own.
fn one(spi: u32, mode: &str, lines: &str) -> String {
    format!(
        "src 192.0.2.1 dst 192.0.2.2\n\tproto esp spi {spi:#010x}({spi}) reqid 7(0x00000007) mode {mode}\n\
         \treplay-window 32 seq 0x00000000 flag  (0x00000000)\n\
         \taead rfc4106(gcm(aes)) 0x000102030405060708090a0b0c0d0e0f{spi:08x} (160 bits) 128\n{lines}"
    )
}

fn policy(dir: &str, selector: &str, line: &str, tmpl: &str) -> String {
    format!(
        "{selector} uid 0\n\tdir {dir} action allow index 8 priority 100 share any flag  (0x00000000){line}\n\
         \tlifetime config:\n\t  limit: soft (INF)(bytes), hard (INF)(bytes)\n\
         \ttmpl src 192.0.2.1 dst 192.0.2.2\n\t\tproto esp spi 0x00000000(0) reqid 7(0x00000007) mode transport\n\
         \t\t{tmpl}\n\t\tenc-mask ffffffff auth-mask ffffffff comp-mask ffffffff\n"
    )
}

fn ours() -> [IpAddr; 1] {
    ["192.0.2.1".parse().expect("an address")]
}

fn take(text: &str, beside: &Beside<'_>) -> (Vec<SaSpec>, Vec<String>) {
    let imported = import(Source { name: "state", text }, beside).expect("SAs");
    let sas = imported
        .file
        .map_or(Vec::new(), |file| SaFile::parse("a", &file).expect("an SA file").sas().to_vec());
    (sas, imported.left_out)
}

fn taken(text: &str) -> (Vec<SaSpec>, Vec<String>) {
    take(text, &Beside { local: &ours(), ..Beside::default() })
}

#[test]
fn states_of_the_kernel_become_sas() {
    let (sas, left_out) = taken(PRINTED);
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(
        left_out[0].starts_with("state:28: 192.0.2.9 to 192.0.2.1, SPI 0x00000001: `comp`"),
        "{left_out:?}"
    );
    let [out, back] = &sas[..] else { panic!("{} SAs", sas.len()) };
    assert_eq!((out.spi, out.direction, out.mode), (0xc0ff_ee01, Direction::Out, SaMode::Tunnel));
    assert_eq!((out.cipher.name, out.auth.name, out.esn), ("aes-128-cbc", "hmac-sha256-128", true));
    assert_eq!((out.first_sequence, out.replay_window), (0x2_0000_0006, 32));
    let l = &out.lifetime;
    assert_eq!((l.soft_bytes, l.hard_bytes), (None, Some(600)));
    assert_eq!((l.soft_packets, l.hard_packets), (Some(85), Some(95)));
    assert_eq!((l.soft_seconds, l.hard_seconds, l.hard_use_seconds), (Some(3300), Some(3600), None));
    assert_eq!((back.direction, back.cipher.name, back.key.len()), (Direction::In, "aes-128-gcm-16", 20));
    assert_eq!((back.mode, back.replay_window, back.esn), (SaMode::Transport, 64, false));
    assert_eq!(back.first_sequence, 8);
    // Older captures: the numbers of the high half from its start, and whole lifetimes.
    let ours = ours();
    let (sas, _) = take(PRINTED, &Beside { local: &ours, from_start: true, ..Beside::default() });
    assert_eq!((sas[0].first_sequence, sas[1].first_sequence), (0x2_0000_0001, 1));
    assert_eq!(sas[0].lifetime.hard_bytes, Some(1000));
    // One line for each, as `ip -o` has it.
    let oneline = PRINTED.replace("\n\t", "\\\t");
    assert_eq!(taken(&oneline).0.len(), 2);
    let nobody = import(Source { name: "state", text: PRINTED }, &Beside::default()).expect("states");
    assert!(nobody.file.is_none() && nobody.left_out.len() == 3);
    let import = |text: &str| import(Source { name: "state", text }, &Beside::default());
    assert!(matches!(import("nothing"), Err(ImportError::NoSas)));
    assert!(matches!(import("list-sa event {}"), Err(ImportError::NoKeys)));
    assert!(matches!(
        import(&policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", "", "")),
        Err(ImportError::PoliciesAlone)
    ));
    assert!(matches!(import("0123456789abcdef,0123456789abcdef,00,00,\"x\""), Err(ImportError::Ike)));
}

#[test]
fn windows_wider_than_the_old_field_are_taken_with_and_without_esn() {
    let context = |window: u32, high: u32| {
        format!(
            "\tanti-replay esn context:\n\t seq-hi {high:#x}, seq 0x10, oseq-hi {high:#x}, oseq 0x10\n\
             \t replay_window {window}, bitmap-length 1\n\t 0000ffff \n"
        )
    };
    let (sas, left_out) = taken(&one(0x1001, "tunnel", &context(128, 0)));
    assert!(left_out.is_empty(), "{left_out:?}");
    assert_eq!((sas[0].esn, sas[0].replay_window, sas[0].first_sequence), (false, 128, 0x11));
    let esn = one(0x1001, "tunnel", &context(1024, 3)).replace("flag  (0x00000000)", "flag esn (0x10000000)");
    let inbound = esn.replace("src 192.0.2.1 dst 192.0.2.2", "src 192.0.2.2 dst 192.0.2.1");
    let (sas, _) = taken(&inbound);
    assert_eq!((sas[0].esn, sas[0].replay_window, sas[0].first_sequence), (true, 1024, 0x3_0000_0011));
    for (odd, why) in [(context(8192, 0), "8192"), (context(64, 1), "`esn`")] {
        let (sas, left_out) = taken(&one(0x1001, "tunnel", &odd));
        assert!(sas.is_empty() && left_out[0].contains(why), "{left_out:?}");
    }
}

#[test]
fn an_sa_protects_what_the_kernel_selects_and_nothing_else() {
    // L2TP: in transport mode, with ports.
    let l2tp = "\tsel src 192.0.2.1/32 dst 192.0.2.2/32 proto udp sport 1701 dport 1701 uid 0\n";
    let (sas, left_out) = taken(&one(0x1001, "transport", l2tp));
    assert!(left_out.is_empty(), "{left_out:?}");
    let selector = &sas[0].selector;
    assert_eq!(selector.protocol, Some(17));
    assert_eq!(
        (&selector.source_ports, &selector.destination_ports),
        (&Some(1701..=1701), &Some(1701..=1701))
    );
    // In tunnel mode one of two nets may be any.
    let half = "\tsel src 0.0.0.0/0 dst 10.2.0.0/16 proto ipv6-icmp uid 0\n";
    let (sas, _) = taken(&one(0x1001, "tunnel", half));
    assert_eq!(sas[0].selector.destination, "10.2.0.0/16".parse().ok());
    assert_eq!(sas[0].selector.protocol, Some(58));
    // Behind policies, in the same file or in another, whatever the state says itself.
    let state = one(0x1001, "transport", "");
    let rule = policy(
        "out",
        "src 192.0.2.1/32 dst 192.0.2.2/32 proto udp sport 1701 dport 1701",
        "",
        "level required share any",
    );
    let both = format!("{state}{rule}");
    let ours = ours();
    let apart = Beside { policies: Some(Source { name: "policy", text: &rule }), ..Beside::default() };
    for (sas, left_out) in [taken(&both), take(&both, &Beside::default()), take(&state, &apart)] {
        assert!(left_out.is_empty(), "{left_out:?}");
        assert_eq!(sas[0].selector.protocol, Some(17));
        assert_eq!(
            (sas[0].direction, &sas[0].selector.destination_ports),
            (Direction::Out, &Some(1701..=1701))
        );
    }
    // A policy that has no place loses its SA, not only itself; the policy of another SA does not.
    for (rule, why) in [
        (policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", "", "level use share any"), "`use`"),
        (policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", "\n\tif_id 0x5", ""), "`if_id`"),
        (policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0 dev eth0", "", ""), "`dev`"),
        (policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", "", "").replace("reqid 7", "reqid 8"), "no policy"),
        (
            policy("out", "src 192.0.2.1/32 dst 192.0.2.2/32 proto udp dport 1", "", "")
                + &policy("out", "src 192.0.2.1/32 dst 192.0.2.2/32 proto udp dport 2", "", ""),
            "several",
        ),
        (policy("out", "src 10.0.0.0/8 dst 10.0.0.0/8", "", ""), "transport"),
    ] {
        let beside = Beside {
            local: &ours,
            policies: Some(Source { name: "policy", text: &rule }),
            ..Beside::default()
        };
        let (sas, left_out) = take(&state, &beside);
        assert!(sas.is_empty() && left_out[0].contains(why), "{why}: {left_out:?}");
        assert!(left_out[0].starts_with("state:1: "), "{left_out:?}");
    }
    // What lets packets pass, or belongs to a socket.
    let pass = "src 0.0.0.0/0 dst 0.0.0.0/0 proto tcp dport 22\n\tdir out priority 1 ptype main\n";
    let socket = "src 0.0.0.0/0 dst 0.0.0.0/0\n\tsocket in priority 0 ptype main\n";
    let (sas, left_out) = taken(&format!("{both}{pass}{socket}"));
    assert_eq!((sas.len(), left_out.len()), (1, 1), "{left_out:?}");
    assert!(left_out[0].contains("policy: it lets packets pass"), "{left_out:?}");
}

#[test]
fn one_odd_sa_loses_no_other() {
    let odd = [
        one(0x50, "tunnel", ""),
        one(0x2001, "beet", ""),
        one(0x2002, "tunnel", "\tmark 0x1/0xffffffff \n"),
        one(0x2003, "tunnel", "\tfrobnicate 1\n"),
        one(0x2004, "tunnel", "\tsel src 10.0.0.0/8 dst 10.0.0.0/8 proto gre key 5 uid 0\n"),
        one(0x2005, "tunnel", "").replace("rfc4106(gcm(aes))", "rot13"),
        one(0x2006, "tunnel", "").replace("0x0001", "0x00zz"),
        one(0x2007, "tunnel", "").replace(" 128\n", " (ERROR truncated)\n"),
        one(0x1001, "tunnel", ""),
        one(0x2008, "tunnel", "").replace("dst 192.0.2.2", "dst 2001:db8::1"),
        one(
            0x2009,
            "tunnel",
            "\tlifetime config:\n\t  limit: soft 1(bytes), hard 2(bytes)\n\
             \tlifetime current:\n\t  2(bytes), 1(packets)\n",
        ),
        "src 192.0.2.1\n\tproto esp spi 0x0000200a reqid 0 mode tunnel\n".to_owned(),
        "Deleted ".to_owned() + &one(0x200b, "tunnel", ""),
    ];
    let (first, last) = (one(0x1001, "tunnel", ""), one(0x1002, "tunnel", ""));
    for odd in &odd {
        let (sas, left_out) = taken(&format!("{first}{odd}{last}"));
        assert_eq!(sas.iter().map(|sa| sa.spi).collect::<Vec<_>>(), [0x1001, 0x1002], "{odd}{left_out:?}");
        assert!(
            !left_out.is_empty() && left_out.iter().all(|why| why.starts_with("state:")),
            "{odd}{left_out:?}"
        );
        for why in &left_out {
            assert!(!why.contains("0001020304"), "a key: {why}");
        }
    }
    let (sas, left_out) = taken(&format!("{first}{}{last}", odd.concat()));
    assert_eq!(sas.len(), 2);
    assert!(left_out.len() >= odd.len(), "{left_out:?}");
    // Whatever it is that was cut off.
    for cut in (0..PRINTED.len()).filter(|cut| PRINTED.is_char_boundary(*cut)) {
        let ours = ours();
        let beside = Beside { local: &ours, ..Beside::default() };
        let _ = import(Source { name: "state", text: &PRINTED[..cut] }, &beside);
        let _ = import(Source { name: "state", text: &PRINTED[cut..] }, &beside);
    }
}

/// Words of iproute2's ip/ipxfrm.c (commit ee2a4a86), as its format strings and tables have them, in the order of the
/// file. Those of a line are told apart from values by what stands before them there.
const OF_IPROUTE2: &str = "esp ah comp route2 hao ipsec-any enc auth comp aead auth-trunc any session user unique main sub \
    src dst proto spi reqid mode transport tunnel ro in_trigger beet replay-window replay failed soft hard add use src dst \
    proto sport dport type code key (dport) dev uid tmpl level required use share enc-mask auth-mask comp-mask \
    output-mark mark encap type espinudp-nonike espinudp espintcp sport dport addr coa lastused seq oseq bitmap \
    seq-hi seq oseq-hi oseq replay_window bitmap-length dev dir in out mode if_id tfcpad dir in out pcpu-num security \
    replay-window seq flag noecn decap-dscp nopmtudisc wildrecv icmp af-unspec align4 esn extra_flag dont-encap-dscp \
    oseq-may-wrap socket dir in out fwd action allow block index priority ptype share flag localok icmp";

#[test]
fn headers_padding_and_types_of_icmp_come_along() {
    let with = |flags: &str, dir: &str| {
        let text = one(
            0x1001,
            "tunnel",
            &format!(
                "\tdir {dir}\n\ttfcpad 1400\n\tsel src 10.0.1.0/24 dst 10.0.2.0/24 proto icmp type 8 code 0 uid 0\n"
            ),
        );
        let text = text.replace("flag ", &format!("flag {flags} "));
        let (mut sas, left_out) = taken(&text);
        assert_eq!((sas.len(), left_out), (1, Vec::<String>::new()), "{text}");
        sas.remove(0)
    };
    let sa = with("noecn nopmtudisc", "out");
    assert_eq!((sa.headers.ecn, sa.headers.dscp, sa.headers.dont_fragment), (false, true, false));
    assert_eq!(sa.headers.tfc_padding, 1400);
    assert_eq!(
        (sa.selector.source_ports.clone(), sa.selector.destination_ports.clone()),
        (Some(8..=8), Some(0..=0))
    );
    let sa = with("decap-dscp", "in");
    assert_eq!((sa.headers.ecn, sa.headers.dscp, sa.headers.tfc_padding), (true, true, 0));
    sa.check().expect("an SA file may have it");
}

#[test]
fn every_word_of_iproute2_is_in_the_table_and_is_dealt_with_as_it_says() {
    for word in OF_IPROUTE2.split_whitespace() {
        // `encap` begins a line whose words have the name of the line.
        assert!(word == "encap" || WORDS.iter().any(|known| known.word == word), "{word}");
    }
    for word in WORDS {
        let well = one(0x1001, "tunnel", "");
        let written = word.word;
        let with = |line: &str| one(0x1001, "tunnel", &format!("\t{line}\n"));
        let rule = |word: &str| {
            one(0x1001, "transport", "")
                + &policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", "", "").replace("action allow", word)
        };
        let template = |to: &str| {
            let rule = policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", "", to);
            one(0x1001, "transport", "") + &rule
        };
        let sample = match (word.line, written) {
            ("front", front) => format!("{front} {well}"),
            ("head", _) => well,
            ("proto", _) => well,
            ("proto of an SA", "ah") => with("auth-trunc hmac(sha1) 0x0123 96")
                .replace("proto esp", "proto ah")
                .replace("aead rfc4106(gcm(aes)) ", "lastused ")
                .replace("0x0123", &format!("0x{}", "01".repeat(20))),
            ("proto of an SA", of) => well.replace("proto esp", &format!("proto {of}")),
            ("mode", mode) => one(0x1001, mode, ""),
            ("replay-window", "extra_flag") => well.replace("(0x00000000)", "extra_flag  (0x00000000)"),
            ("replay-window", _) => well,
            ("flag", flag) => well.replace("flag ", &format!("flag {flag} ")),
            ("extra_flag", flag) => well.replace("(0x00000000)", &format!("extra_flag {flag} (0x00000000)")),
            ("line", "auth" | "auth-trunc" | "enc") => {
                with(&format!("auth hmac(sha1) 0x{}", "01".repeat(20)))
                    .replace("aead rfc4106(gcm(aes)) ", "enc cbc(aes) ")
                    .replace("0f00001001 (160 bits) 128", "0f")
            }
            ("line", "aead") => well,
            ("line", "tmpl") => template("level required"),
            ("line", "dir") => with("dir out"),
            ("line", "tfcpad") => with("tfcpad 1400"),
            ("line", line) => with(&format!("{line} 0x1/0xffffffff")),
            ("dir", "fwd") => {
                one(0x1001, "transport", "").replace("192.0.2.1 dst 192.0.2.2", "192.0.2.2 dst 192.0.2.1")
                    + &policy("fwd", "src 0.0.0.0/0 dst 0.0.0.0/0", "", "")
                        .replace("192.0.2.1 dst 192.0.2.2", "192.0.2.2 dst 192.0.2.1")
            }
            ("dir", dir) => with(&format!("dir {dir}")),
            ("encap", _) => with("encap type espinudp sport 4500 dport 4500 addr 0.0.0.0"),
            ("type", of) => with(&format!("encap type {of} sport 4500 dport 4500 addr 0.0.0.0")),
            ("context", _) => with(
                "anti-replay esn context:\n\t seq-hi 0x0, seq 0x0, oseq-hi 0x0, oseq 0x5\n\t \
                 replay_window 64, bitmap-length 2\n\t 00000000 00000000 \n\tanti-replay context: seq 0x0, oseq 0x5, \
                 bitmap 0x00000000",
            ),
            ("offload", _) => with("crypto offload parameters: dev eth0 dir out mode packet"),
            ("sel", "src" | "dst" | "proto" | "sport" | "dport" | "uid") => {
                with("sel src 10.0.0.0/8 dst 10.0.0.0/8 proto udp sport 5 dport 6 uid 0")
            }
            ("sel", "type" | "code") => {
                with("sel src 10.0.0.0/8 dst 10.0.0.0/8 proto icmp type 8 code 0 uid 0")
            }
            ("sel", of) => with(&format!("sel src 10.0.0.0/8 dst 10.0.0.0/8 proto 135 {of} 1 uid 0")),
            ("lifetime" | "stats", _) => with(
                "lifetime config:\n\t  limit: soft 5(bytes), hard 6(bytes)\n\t\
                lifetime current:\n\t  1(bytes), 1(packets)\n\t  add 2026-11-27 01:00:00 use -\n\tstats:\n\t  \
                replay-window 0 replay 0 failed 0",
            ),
            ("policy", "socket") => well.clone() + "src 0.0.0.0/0 dst 0.0.0.0/0\n\tsocket in priority 0\n",
            ("policy", "ptype" | "flag" | "share") => rule("ptype main"),
            ("policy", _) => rule("action allow"),
            ("flag of a policy", flag) => {
                rule("").replace("flag  (0x00000000)\n\tlifetime", &format!("flag {flag} (0x1)\n\tlifetime"))
            }
            ("action" | "ptype", of) => rule(&format!("{} {of}", word.line)),
            ("share", of) => rule("").replace("share any", &format!("share {of}")),
            ("level", _) => template("level required share any"),
            ("level value", of) => template(&format!("level {of}")),
            other => panic!("no sample of {other:?}"),
        };
        let (sas, left_out) = taken(&sample);
        let named =
            left_out.iter().any(|why| why.contains(&format!("`{written}`")) && why.contains(word.why));
        let what = (word.line, written, &left_out);
        match word.fate {
            _ if word.line == "encap" => assert!(sas.len() == 1 && left_out.len() == 1, "{what:?}"),
            Fate::Done | Fate::Aside => assert!(sas.len() == 1 && left_out.is_empty(), "{what:?}\n{sample}"),
            Fate::LeftOut => assert!(sas.len() == 1 && named, "{what:?}\n{sample}"),
            Fate::Refused => assert!(sas.is_empty() && named, "{what:?}\n{sample}"),
        }
    }
    let documented = include_str!("../../../../docs/sa-file.md");
    assert!(
        documented.contains(&words::page()),
        "docs/sa-file.md has another table; it is:\n{}",
        words::page()
    );
}

#[test]
fn strongswan_says_what_the_kernel_does_not() {
    let raw = "list-sa event {gw {local-host=192.0.2.1 remote-host=192.0.2.2 child-sas {net-1 {name=net \
               spi-in=0badcafe spi-out=c0ffee01 local-ts=[10.1.0.0/16[tcp]] remote-ts=[10.2.0.0/16[tcp/80]]}}}}";
    let children = swanctl::children(raw);
    let (sas, left_out) = take(PRINTED, &Beside { children: &children, ..Beside::default() });
    let [out] = &sas[..] else { panic!("{} SAs", sas.len()) };
    assert_eq!((out.name.as_str(), out.direction), ("net-out-c0ffee01", Direction::Out));
    assert_eq!(out.selector.destination, "10.2.0.0/16".parse().ok());
    let words = ["no CHILD_SA with this SPI", "`comp`", "nothing in state has SPI 0badcafe"];
    assert_eq!(left_out.len(), words.len(), "{left_out:?}");
    for (stated, words) in left_out.iter().zip(words) {
        assert!(stated.contains(words), "{stated}");
    }
}

#[test]
fn tables_of_wireshark_and_of_save_keys() {
    // As strongSwan 5.9's save_keys_listener.c prints: AEADs by one name, their ICV in the next column, keys with `0x`
    // alone where there is none.
    let gcm = "000102030405060708090a0b0c0d0e0f10111213";
    let saved = format!(
        "\"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0xc0000001\",\"AES-GCM [RFC4106]\",\"0x{gcm}\",\"ANY 128 bit authentication [no checking]\",\"0x\"\n\
         \"IPv4\",\"192.0.2.2\",\"192.0.2.1\",\"0xc0000002\",\"AES-GCM [RFC4106]\",\"0x{gcm}\",\"ANY 96 bit authentication [no checking]\",\"0x\"\n\
         \"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0xc0000003\",\"AES-CBC [RFC3602]\",\"0x{}\",\"HMAC-SHA-256-128 [RFC4868]\",\"0x{}\"\n\
         # a remark\n\
         \"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0xc0000004\",\"AES-CBC [RFC3602]\",\"0x{}\",\"ANY 256 bit authentication [no checking]\",\"0x00\"\n\
         \"IPv4\",\"192.0.2.*\",\"192.0.2.2\",\"0xc0000005\",\"NULL\",\"\",\"NULL\",\"\"\n\
         \"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"*\",\"NULL\",\"\",\"NULL\",\"\"\n\
         \"IPv4\",\"192.0.2.1\"\n",
        "01".repeat(16),
        "02".repeat(32),
        "03".repeat(16)
    );
    let (sas, left_out) = taken(&saved);
    let mut named: Vec<_> =
        sas.iter().map(|sa| (sa.spi, sa.direction, sa.cipher.name, sa.auth.name)).collect();
    // The newest of strongSwan's is the last.
    named.reverse();
    assert_eq!(
        named,
        [
            (0xc000_0001, Direction::Out, "aes-128-gcm-16", "none"),
            (0xc000_0002, Direction::In, "aes-128-gcm-12", "none"),
            (0xc000_0003, Direction::Out, "aes-128-cbc", "hmac-sha256-128"),
        ]
    );
    let lines: Vec<_> = left_out.iter().map(|why| why.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(lines, ["state:5", "state:6", "state:7", "state:8"], "{left_out:?}");
    assert!(left_out.iter().all(|why| !why.contains("0303")), "{left_out:?}");
    // What is written here is read here.
    let ours = ours();
    let (sas, _) = take(PRINTED, &Beside { local: &ours, ..Beside::default() });
    let table = crate::wireshark::table(&sas[..1], None);
    let (again, left_out) = taken(&table.text);
    assert!(left_out.is_empty(), "{left_out:?}");
    assert_eq!((again[0].esn, again[0].first_sequence >> 32, &again[0].key), (true, 2, &sas[0].key));
    for suite in ace_ipsec::model::CIPHERS.iter().filter(|suite| suite.names.wireshark.is_some()) {
        let auth = if suite.combined() { ("NULL", 0) } else { ("HMAC-SHA-256-128 [RFC4868]", 32) };
        let line = format!(
            "\"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0xc0000001\",\"{}\",\"0x{}\",\"{}\",\"0x{}\"\n",
            suite.names.wireshark.unwrap_or_default(),
            "1f2e3d4c5b6a79880f1e2d3c4b5a69788796a5b4c3d2e1f000112233445566778899aabb"
                .get(..2 * suite.keymat_len())
                .expect("a key"),
            auth.0,
            "02".repeat(auth.1)
        );
        let (sas, left_out) = taken(&line);
        match suite.iv {
            // A key that another run had, and an IV that begins anew.
            ace_ipsec::model::IvKind::Implicit => assert!(left_out[0].contains("fresh_key"), "{left_out:?}"),
            _ => assert_eq!(sas.first().map(|sa| sa.cipher.name), Some(suite.name), "{left_out:?}"),
        }
    }
    for cut in 0..saved.len() {
        let _ = import(Source { name: "esp_sa", text: &saved[..cut] }, &Beside::default());
    }
}
