// SPDX-License-Identifier: Apache-2.0
//! What `ip`, strongSwan and Wireshark print, taken in. The samples are as iproute2's `ip/ipxfrm.c` formats them.

mod walk;

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
        (policy("out", "src 0.0.0.0/0 dst 0.0.0.0/0", "\n\tif_id 0x5", ""), "no policy"),
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
