// SPDX-License-Identifier: Apache-2.0
//! Every word that `ip xfrm` prints.

use super::super::words::{self, Fate, WORDS};
use super::*;

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
fn interfaces_and_marks_come_along() {
    let state = one(0x1001, "transport", "\toutput-mark 0x1ff/0xff\n\tif_id 0x7\n");
    let back = state.replace("192.0.2.1 dst 192.0.2.2", "192.0.2.2 dst 192.0.2.1").replace("1001", "1002");
    let (sas, left_out) = taken(&format!("{state}{back}"));
    let found: Vec<_> = sas.iter().map(|sa| (sa.spi, sa.if_id, sa.output_mark)).collect();
    assert_eq!(found, [(0x1001, 7, 0xff), (0x1002, 7, 0)]);
    assert!(matches!(&left_out[..], [why] if why.contains("`output-mark 0xff`")), "{left_out:?}");
    // A policy of the same interface leads to it, and one of another does not.
    for (line, count) in [("\n\tif_id 0x7", 1), ("\n\tif_id 0x8", 0), ("", 0)] {
        let rule = policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", line, "level required share any");
        assert_eq!(taken(&format!("{state}{rule}")).0.len(), count, "{line}");
    }
    for odd in ["if_id 0x100000000", "if_id seven", "output-mark 5/x"] {
        assert!(taken(&one(0x1001, "tunnel", &format!("\t{odd}\n"))).0.is_empty(), "{odd}");
    }
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
            ("line", "pcpu-num") => with("pcpu-num 1"),
            ("line", "if_id") => with("if_id 0x7"),
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
    let documented = include_str!("../../../../../docs/sa-file.md");
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
