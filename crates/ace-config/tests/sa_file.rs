// SPDX-License-Identifier: Apache-2.0
//! SA files: what is understood, and what is said about the rest.

use crate::common::key;
use ace_config::SaFile;
use ace_ipsec::{Direction, Policy, SaMode};
use proptest::prelude::*;

/// Every key, one per line; line 1 is empty so that line numbers are easy to count.
const GOOD: &str = r#"
default_policy = "discard"
allow_legacy = false
[[sa]]
name = "a-to-b"
spi = 0x1001
direction = "out"
mode = "tunnel"
local = "192.0.2.1"
remote = "192.0.2.2"
selector = { src = "10.0.0.1/32", dst = "10.0.0.2/32", protocol = "tcp", src_port = 80, dst_port = "1024-65535" }
cipher = "aes-128-cbc"
key = "0123456789abcdef0123456789abcdef"
auth = "hmac-sha1-96"
auth_key = "0123456789abcdef0123456789abcdef01234567"
esn = false
replay_window = 64
first_sequence = 1
lifetime = { soft_bytes = 1, hard_bytes = 2, soft_packets = 3, hard_packets = 4 }
"#;

fn parse(text: &str) -> Result<SaFile, Vec<String>> {
    SaFile::parse("SAS.toml", text).map_err(|errors| errors.0)
}

/// The file with one line replaced.
fn with(line: &str, replacement: &str) -> String {
    assert!(GOOD.contains(line), "{line}");
    GOOD.replace(line, replacement)
}

/// The only error that replacing a line gives.
fn error(line: &str, replacement: &str) -> String {
    let errors = parse(&with(line, replacement)).expect_err(replacement);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn everything_is_read() {
    let file = parse(GOOD).unwrap();
    assert_eq!(file.default_policy(), Policy::Discard);
    assert!(file.warnings().is_empty());
    let [sa] = file.sas() else { panic!() };
    assert_eq!((sa.name.as_str(), sa.spi), ("a-to-b", 0x1001));
    assert_eq!((sa.direction, sa.mode), (Direction::Out, SaMode::Tunnel));
    assert_eq!(
        sa.selector.to_string(),
        "10.0.0.1/32 -> 10.0.0.2/32, protocol 6, from port 80-80, to port 1024-65535"
    );
    assert_eq!((sa.cipher.name, sa.auth.name), ("aes-128-cbc", "hmac-sha1-96"));
    assert_eq!((sa.esn, sa.replay_window, sa.first_sequence), (false, 64, 1));
    assert_eq!((sa.lifetime.soft_bytes, sa.lifetime.hard_packets), (Some(1), Some(4)));
    assert!(!format!("{file:?}").contains("123, 69"), "keys are not printed");
}

#[test]
fn what_may_be_left_out() {
    let text = GOOD
        .lines()
        .filter(|line| {
            !["default_policy", "allow_legacy", "selector", "esn", "replay", "first", "lifetime"]
                .iter()
                .any(|key| line.starts_with(key))
        })
        .collect::<Vec<_>>()
        .join("\n");
    let file = parse(&text).unwrap();
    let [sa] = file.sas() else { panic!() };
    assert_eq!(file.default_policy(), Policy::Discard);
    assert_eq!((sa.esn, sa.replay_window, sa.first_sequence), (false, 64, 1));
    assert_eq!(sa.selector.to_string(), "any -> any");
    for (direction, expected) in
        [("out", "192.0.2.1/32 -> 192.0.2.2/32"), ("in", "192.0.2.2/32 -> 192.0.2.1/32")]
    {
        let transport = text.replace("tunnel", "transport").replace("\"out\"", &format!("\"{direction}\""));
        assert_eq!(parse(&transport).unwrap().sas()[0].selector.to_string(), expected);
    }
}

#[test]
fn what_is_missing_is_named() {
    for required in
        ["name", "spi", "direction", "mode", "local", "remote", "cipher", "key", "auth", "auth_key"]
    {
        let line = GOOD.lines().find(|line| line.starts_with(&format!("{required} ="))).unwrap();
        let errors = parse(&with(line, "")).expect_err(required);
        let expected = format!("`{required}` is missing; allowed: ");
        assert!(
            errors.iter().any(|error| error.starts_with("SAS.toml:4: sa ") && error.contains(&expected)),
            "{errors:?}"
        );
    }
}

#[test]
fn errors_name_line_value_and_what_is_allowed() {
    // Line, what replaces it, the error's line, and parts of the error.
    let cases: &[(&str, &str, usize, &[&str])] = &[
        ("\"discard\"", "\"drop\"", 2, &["`default_policy`: `\"drop\"` is unknown", "discard, bypass"]),
        ("= false\n[[sa]]", "= 1\n[[sa]]", 3, &["`allow_legacy`: `1` is not a truth value", "true, false"]),
        ("spi = 0x1001", "spi = 255", 6, &["sa `a-to-b`: `spi`: `255` is out of range", "256 to 4294967295"]),
        ("spi = 0x1001", "spi = 0", 6, &["`0` is out of range"]),
        ("spi = 0x1001", "spi = 0x1_0000_0000", 6, &["`0x1_0000_0000` is out of range"]),
        ("spi = 0x1001", "spi = -4096", 6, &["`-4096` is out of range"]),
        ("spi = 0x1001", "spi = \"0x1001\"", 6, &["is not a whole number"]),
        ("spi = 0x1001", "spi = 1.5", 6, &["`1.5` is not a whole number"]),
        ("\"out\"", "\"both\"", 7, &["`direction`: `\"both\"` is unknown; allowed: out, in"]),
        ("\"tunnel\"", "\"beet\"", 8, &["`mode`: `\"beet\"` is unknown; allowed: tunnel, transport"]),
        ("local = \"192.0.2.1\"", "local = \"192.0.2.300\"", 9, &["`\"192.0.2.300\"` is not an address"]),
        ("local = \"192.0.2.1\"", "local = \"0.0.0.0\"", 9, &["is not the address of one host"]),
        ("local = \"192.0.2.1\"", "local = \"224.0.0.1\"", 9, &["is not the address of one host"]),
        ("remote = \"192.0.2.2\"", "remote = \"2001:db8::1\"", 10, &["different families", "192.0.2.1"]),
        (
            "10.0.0.1/32",
            "10.0.0.1/33",
            11,
            &["sa `a-to-b`: selector: `src`: `\"10.0.0.1/33\"` is not a prefix"],
        ),
        ("10.0.0.1/32", "10.0.0.1/24", 11, &["bits behind its prefix length", "10.0.0.0/24"]),
        ("10.0.0.2/32", "2001:db8::/64", 11, &["`dst`", "different families"]),
        ("\"tcp\"", "\"tpc\"", 11, &["`protocol`: `\"tpc\"` is unknown", "tcp, udp"]),
        ("\"tcp\"", "256", 11, &["`protocol`: `256` is out of range", "0 to 255"]),
        ("\"tcp\"", "\"icmp\"", 11, &["has no ports", "tcp, udp"]),
        ("src_port = 80", "src_port = 65536", 11, &["`src_port`: `65536` is out of range", "0 to 65535"]),
        ("\"1024-65535\"", "\"2000-1000\"", 11, &["`dst_port`: `\"2000-1000\"` is not a port or range"]),
        ("src_port = 80", "src_prot = 80", 11, &["unknown key `src_prot`; did you mean `src_port`?"]),
        (
            "\"aes-128-cbc\"",
            "\"aes-128-gmc\"",
            12,
            &[
                "`\"aes-128-gmc\"` is unknown; did you mean `aes-128-gmac`? allowed: aes-128-cbc, aes-192-cbc",
                "null",
            ],
        ),
        (
            "\"aes-128-cbc\"",
            "\"aes-192-cbc\"",
            13,
            &[
                "`key`: 32 hex digits (16 bytes) are the wrong length",
                "48 hex digits (24 bytes) for aes-192-cbc",
            ],
        ),
        (
            "\"aes-128-cbc\"",
            "\"aes-128-ctr\"",
            13,
            &["40 hex digits (20 bytes: 16 of key, then 4 of nonce) for aes-128-ctr"],
        ),
        ("\"aes-128-cbc\"", "\"null\"", 13, &["no key for null"]),
        (
            "\"0123456789abcdef0123456789abcdef\"",
            "\"0123456789abcdef0123456789abcde\"",
            13,
            &["31 hex digits (15½ bytes)"],
        ),
        (
            "\"0123456789abcdef0123456789abcdef\"",
            "\"0123456789abcdef0123456789abcdeg\"",
            13,
            &["character 32 is not a hex digit"],
        ),
        ("\"0123456789abcdef0123456789abcdef\"", "12345", 13, &["`key` is not a string"]),
        (
            "\"hmac-sha1-96\"",
            "\"crc32\"",
            14,
            &["is unknown; allowed: hmac-sha1-96, hmac-sha256-128", "aes-xcbc-96", "none"],
        ),
        (
            "cdef01234567\"",
            "cdef012345\"",
            15,
            &["`auth_key`: 38 hex digits (19 bytes)", "40 hex digits (20 bytes) for hmac-sha1-96"],
        ),
        ("esn = false", "esn = \"no\"", 16, &["`esn`: `\"no\"` is not a truth value"]),
        ("replay_window = 64", "replay_window = 31", 17, &["`31` is too small", "32 to 4096, or 0"]),
        ("replay_window = 64", "replay_window = 4097", 17, &["`4097` is out of range", "0 to 4096"]),
        ("first_sequence = 1", "first_sequence = 0x1_0000_0000", 18, &["is out of range", "1 to 4294967295"]),
        ("first_sequence = 1", "first_sequence = 0", 18, &["is out of range"]),
        (
            "soft_bytes = 1",
            "soft_bytes = 3",
            19,
            &["lifetime: `soft_bytes`: `3` is more than `hard_bytes` 2"],
        ),
        ("soft_bytes = 1", "soft_bites = 1", 19, &["unknown key `soft_bites`; did you mean `soft_bytes`?"]),
        ("hard_packets = 4", "hard_packets = 0", 19, &["`hard_packets`: `0` is out of range"]),
        ("esn = false", "esm = false", 16, &["unknown key `esm`; did you mean `esn`?"]),
        ("esn = false", "esn = false\ncolour = \"red\"", 17, &["unknown key `colour`; allowed: name, spi,"]),
        (
            "esn = false",
            "esn = false\nencapsulation = \"tcp\"",
            17,
            &["`encapsulation` is none of an SA's keys", "in UDP and in TCP by themselves", "[outside]"],
        ),
        (
            "allow_legacy = false",
            "allow-legacy = false",
            3,
            &["unknown key `allow-legacy`; did you mean `allow_legacy`?"],
        ),
        ("esn = false", "esn = false\nesn = true", 17, &["duplicate key"]),
        ("esn = false", "esn = \"", 16, &["SAS.toml:16:"]),
        ("[[sa]]", "[sa]", 4, &["`sa` is not a list of tables"]),
    ];
    for (line, replacement, number, parts) in cases {
        let error = error(line, replacement);
        assert!(error.starts_with(&format!("SAS.toml:{number}: ")), "{replacement}: {error}");
        for part in *parts {
            assert!(error.contains(part), "{replacement}: `{part}` is not in: {error}");
        }
    }
}

#[test]
fn legacy_needs_leave() {
    for (cipher, auth, reason) in [
        ("des-cbc", "hmac-sha1-96", "ENCR_DES"),
        ("cast128-cbc", "hmac-sha1-96", "ENCR_CAST"),
        ("idea-cbc", "hmac-sha1-96", "ENCR_IDEA"),
        ("camellia-192-cbc", "hmac-sha1-96", "ENCR_CAMELLIA"),
        ("serpent-256-cbc", "hmac-sha1-96", "no RFC defines"),
        ("aes-128-cbc", "hmac-md5-96", "AUTH_HMAC_MD5_96"),
        ("aes-128-cbc", "none", "RFC 8221"),
        ("aes-128-ctr", "none", "RFC 3686"),
        ("null", "none", "RFC 4303"),
    ] {
        let sa = crate::common::SaText::new("out").suites(cipher, auth).toml();
        let errors = parse(&sa).expect_err(cipher);
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].contains(reason) && errors[0].contains("allow_legacy = true"), "{errors:?}");
        parse(&format!("allow_legacy = true\n{sa}")).unwrap();
    }
    for cipher in ["3des-cbc", "aes-256-ctr", "null"] {
        parse(&crate::common::SaText::new("out").suites(cipher, "hmac-sha1-96").toml()).unwrap();
    }
}

#[test]
fn weak_keys() {
    let sa = |cipher: &str, legacy: bool, new_key: &str| {
        let sa = crate::common::SaText::new("out").suites(cipher, "hmac-sha1-96");
        let text = sa.toml().replace(&key(sa.cipher.keymat_len(), 1), new_key);
        parse(&format!("allow_legacy = {legacy}\n{text}"))
    };
    // K1 = K2 but for parity: single DES.
    let degenerate = "0022446688aaccee0123456789abcdee0123456789abcdef";
    let errors = sa("3des-cbc", false, degenerate).unwrap_err();
    assert!(errors[0].contains("single DES"), "{errors:?}");
    assert!(sa("3des-cbc", true, degenerate).unwrap().warnings()[0].contains("single DES"));
    assert!(sa("3des-cbc", false, &key(24, 9)).unwrap().warnings().is_empty());
    for weak in ["0101010101010101", "fefefefefefefefe", "e0e0e0e0f1f1f1f1", "1f1f1f1f0e0e0e0e"] {
        assert!(sa("des-cbc", true, weak).unwrap().warnings()[0].contains("weak"), "{weak}");
    }
    assert!(sa("des-cbc", true, &key(8, 1)).unwrap().warnings().is_empty());
    let weak = "00000000050000000000000123456000";
    assert!(sa("idea-cbc", true, weak).unwrap().warnings()[0].contains("weak IDEA"));
    for digit in (0..32).filter(|digit| weak.as_bytes()[*digit] == b'0') {
        let mut other = weak.to_owned();
        other.replace_range(digit..digit + 1, "8");
        assert!(sa("idea-cbc", true, &other).unwrap().warnings().is_empty(), "{other}");
    }
}

#[test]
fn numbers_that_prove_nothing() {
    let none = |more: &str| {
        let sa = crate::common::SaText::new("in").suites("aes-128-cbc", "none").more(more).toml();
        parse(&format!("allow_legacy = true\n{sa}"))
    };
    assert!(none("esn = true").unwrap_err()[0].contains("`esn`"));
    let file = none("replay_window = 64").unwrap();
    assert_eq!(file.sas()[0].replay_window, 0);
    assert!(file.warnings()[0].contains("`replay_window` has no effect"));
    assert!(none("").unwrap().warnings().is_empty());
    let esn = crate::common::SaText::new("in").more("esn = true\nreplay_window = 0").toml();
    assert!(parse(&esn).unwrap_err()[0].contains("nothing to infer"));
}

#[test]
fn what_two_sas_may_not_share() {
    let one = crate::common::SaText::new("in");
    let two = crate::common::SaText { name: "second", ..one.clone() };
    let errors = parse(&(one.toml() + &two.toml())).unwrap_err();
    assert!(
        errors[0].contains("`spi`: `0x1001` and `local` 192.0.2.2 are those of `from-a` in line 1 too"),
        "{errors:?}"
    );
    let same_name = crate::common::SaText { spi: 0x1002, ..one.clone() };
    assert!(parse(&(one.toml() + &same_name.toml())).unwrap_err()[0].contains("name of its own"));
    let elsewhere = two.clone().ends("192.0.2.3", "192.0.2.1");
    parse(&(one.toml() + &elsewhere.toml())).unwrap();
    let other_way = crate::common::SaText { direction: "out", ..two };
    parse(&(one.toml() + &other_way.toml())).unwrap();

    let out = crate::common::SaText::new("out").suites("aes-128-ctr", "hmac-sha1-96");
    let again = crate::common::SaText { name: "again", spi: 0x2000, ..out.clone() };
    let file = parse(&(out.toml() + &again.toml())).unwrap();
    assert!(
        file.warnings().iter().any(|w| w.contains("must not share a counter-mode key")),
        "{:?}",
        file.warnings()
    );
    assert!(file.warnings().iter().any(|w| w.contains("never used")));
    assert!(parse("").unwrap().warnings()[0].contains("no [[sa]]"));
}

/// A counter key has one sender: not two, and not both ends.
#[test]
fn a_counter_key_in_both_directions() {
    let of = |name, direction: &'static str, spi, more: &str| {
        let sa = crate::common::SaText { name, spi, ..crate::common::SaText::new(direction) };
        sa.ends("192.0.2.1", "192.0.2.2").suites("aes-128-gcm-16", "none").more(more).toml()
    };
    let file = parse(&(of("out", "out", 0x1001, "") + &of("in", "in", 0x1002, ""))).unwrap();
    let [warning] = file.warnings() else { panic!("{:?}", file.warnings()) };
    assert!(warning.contains("`key` is that of `out` too: both directions must not share"), "{warning}");
    let fresh = "fresh_key = true";
    let errors = parse(&(of("out", "out", 0x1001, fresh) + &of("in", "in", 0x1002, fresh))).unwrap_err();
    assert!(errors[0].contains("both directions") && errors[0].contains("a key of its own"), "{errors:?}");
    // The two ends of one SA are no two senders; with CBC there is no counter.
    let far_end = crate::common::SaText::new("in").suites("aes-128-gcm-16", "none").toml();
    assert!(parse(&(of("out", "out", 0x1001, fresh) + &far_end)).unwrap().warnings().is_empty());
    let cbc = crate::common::SaText::new("out").toml() + &crate::common::SaText::new("in").toml();
    assert!(parse(&cbc).unwrap().warnings().is_empty());
}

#[test]
fn combined_modes_and_ah() {
    let of = |sa: crate::common::SaText| parse(&sa.toml());
    let gcm = of(crate::common::SaText::new("out").suites("aes-256-gcm-16", "none")).unwrap();
    assert_eq!(gcm.sas()[0].key.len(), 36);
    let twice = of(crate::common::SaText::new("out").suites("aes-256-gcm-16", "hmac-sha1-96")).unwrap_err();
    assert!(twice[0].contains("one too many"), "{twice:?}");
    let short =
        with("\"aes-128-cbc\"\nkey = \"0123456789abcdef0123456789abcdef\"", "\"AES_128_GCM\"\nkey = \"00\"");
    let errors = parse(&short).unwrap_err();
    assert!(
        errors[0].contains("40 hex digits (20 bytes: 16 of key, then 4 of nonce) for aes-128-gcm-16"),
        "{errors:?}"
    );
    let implicit = crate::common::SaText::new("out").suites("chacha20-poly1305-iiv", "none");
    assert!(of(implicit.clone()).unwrap_err()[0].contains("fresh_key = true"));
    of(implicit.more("fresh_key = true")).unwrap();
    of(crate::common::SaText::new("in").suites("chacha20-poly1305-iiv", "none")).unwrap();

    of(crate::common::SaText::new("out").ah("hmac-sha512-256")).unwrap();
    let nothing = of(crate::common::SaText::new("out").ah("none")).unwrap_err();
    assert!(nothing[0].contains("without a purpose"), "{nothing:?}");
    let sealed = crate::common::SaText { protocol: "ah", ..crate::common::SaText::new("out") };
    assert!(of(sealed).unwrap_err()[0].contains("encrypts, and AH does not"));
    let seconds = with("soft_bytes = 1", "soft_seconds = 3, hard_seconds = 2");
    assert!(parse(&seconds).unwrap_err()[0].contains("is more than `hard_seconds` 2"));
}

/// Every SA is compared with all others, and every warning tells a line: once that took the third power of their
/// number, 15.7 s for a thousand.
#[test]
fn many_sas_take_time_in_proportion() {
    let mut text = String::new();
    for n in 0..3000u32 {
        let sa = crate::common::SaText { spi: 0x1000 + n, ..crate::common::SaText::new("out") };
        let sa = sa.suites("aes-128-ctr", "hmac-sha1-96").toml();
        text.push_str(&sa.replace("name = \"to-b\"", &format!("name = \"{n}\"")));
    }
    let start = std::time::Instant::now();
    let file = parse(&text).unwrap();
    assert_eq!(file.sas().len(), 3000);
    assert_eq!(file.warnings().len(), 2 * 2999, "the key and the selector of an earlier one, each once");
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn transport_is_between_its_own_hosts() {
    let errors = parse(&with("\"tunnel\"", "\"transport\"")).unwrap_err();
    for (error, (key, host)) in errors.iter().zip([("src", "192.0.2.1/32"), ("dst", "192.0.2.2/32")]) {
        assert!(error.starts_with("SAS.toml:11: sa `a-to-b`: selector: "), "{error}");
        assert!(error.contains(key) && error.ends_with(&format!("\"{host}\"")), "{error}");
    }
    assert_eq!(errors.len(), 2);
}

#[test]
fn every_error_at_once_in_order() {
    let text = GOOD.replace("0x1001", "1").replace("\"out\"", "\"up\"").replace("aes-128-cbc", "rot13");
    let errors = parse(&text).unwrap_err();
    let lines: Vec<_> = errors.iter().map(|error| error.split(':').nth(1).unwrap()).collect();
    assert_eq!(lines, ["6", "7", "12"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// No text makes the parser panic, and no error quotes a key.
    #[test]
    fn damaged_files(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..4, "[ -~\n]{0,3}"), 1..6),
    ) {
        let mut text = GOOD.to_owned();
        for (place, kind, piece) in edits {
            let at = place.index(text.len());
            match kind {
                0 => text.insert_str(at, &piece),
                1 => { text.remove(at); }
                2 => text.truncate(at.max(1)),
                _ => text.replace_range(at..at + 1, &piece),
            }
            if text.is_empty() { break; }
        }
        if let Err(errors) = parse(&text) {
            prop_assert!(!errors.is_empty());
            for error in errors {
                prop_assert!(error.starts_with("SAS.toml:"));
                prop_assert!(!error.contains("456789abcd"), "{}", error);
            }
        }
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }
}
