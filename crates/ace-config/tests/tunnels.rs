// SPDX-License-Identifier: Apache-2.0
//! Keys of SA files about headers of tunnels, padding, and messages of ICMP.

use ace_config::{SaFile, write};
use ace_ipsec::model::Headers;
use ace_ipsec::{Direction, SaSpec};

fn text(direction: &str, mode: &str, lines: &str) -> String {
    format!(
        "[[sa]]\nname = \"a\"\nspi = 0x1001\ndirection = \"{direction}\"\nmode = \"{mode}\"\nlocal = \"192.0.2.1\"\n\
         remote = \"192.0.2.2\"\ncipher = \"aes-128-gcm-16\"\nkey = \"{}\"\n{lines}\n",
        "ab".repeat(20)
    )
}

fn one(direction: &str, lines: &str) -> SaSpec {
    let text = text(direction, "tunnel", lines);
    SaFile::parse("SAs", &text).unwrap_or_else(|errors| panic!("{errors}")).sas()[0].clone()
}

fn error(direction: &str, mode: &str, lines: &str) -> String {
    let errors = SaFile::parse("SAs", &text(direction, mode, lines)).expect_err(lines).0;
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn what_is_said_is_read_and_written_as_it_was() {
    let out = Headers::of(Direction::Out);
    let rows = [
        ("out", "", out),
        ("out", "ecn = false", Headers { ecn: false, ..out }),
        ("out", "copy_dscp = false", Headers { dscp: false, ..out }),
        ("out", "copy_df = false", Headers { dont_fragment: false, ..out }),
        ("out", "tfc_padding = 1400", Headers { tfc_padding: 1400, ..out }),
        ("in", "", Headers::of(Direction::In)),
        (
            "in",
            "copy_dscp = true\necn = false",
            Headers { dscp: true, ecn: false, ..Headers::of(Direction::In) },
        ),
    ];
    for (direction, lines, wanted) in rows {
        let sa = one(direction, lines);
        assert_eq!(sa.headers, wanted, "{lines}");
        let written = write(ace_ipsec::Policy::Discard, &[sa]).unwrap();
        assert_eq!(SaFile::parse("SAs", &written).unwrap().sas()[0].headers, wanted, "{}", written.as_str());
    }
    // The other end agrees on congestion marks, and copies as it likes.
    let file = SaFile::parse("SAs", &text("out", "tunnel", "ecn = false\ntfc_padding = 9")).unwrap();
    let mirrored = SaFile::parse("SAs", &file.mirrored().unwrap()).unwrap();
    assert_eq!(mirrored.sas()[0].headers, Headers { ecn: false, ..Headers::of(Direction::In) });
}

#[test]
fn messages_of_icmp_are_read_and_written() {
    let sa = one("out", "selector = { protocol = \"icmp\", icmp_type = 8, icmp_code = \"0-4\" }");
    assert_eq!(sa.selector.to_string(), "any -> any, protocol 1, type 8-8, code 0-4");
    let written = write(ace_ipsec::Policy::Discard, std::slice::from_ref(&sa)).unwrap();
    assert_eq!(SaFile::parse("SAs", &written).unwrap().sas()[0].selector, sa.selector);
}

#[test]
fn what_makes_no_sense_is_said() {
    let rows = [
        ("out", "transport", "ecn = true", "a tunnel's"),
        ("out", "transport", "tfc_padding = 9", "for tunnels of ESP"),
        ("in", "tunnel", "tfc_padding = 9", "for tunnels of ESP"),
        ("out", "tunnel", "tfc_padding = 65001", "out of range"),
        ("in", "tunnel", "copy_df = false", "packets that leave"),
        ("out", "tunnel", "selector = { icmp_type = 8 }", "tells messages of ICMP apart"),
        ("out", "tunnel", "selector = { protocol = \"udp\", icmp_code = 8 }", "tells messages of ICMP apart"),
        ("out", "tunnel", "selector = { protocol = \"icmp\", icmp_type = 256 }", "no type or code"),
        ("out", "tunnel", "selector = { protocol = \"icmp\", src_port = 8 }", "has no ports"),
    ];
    for (direction, mode, lines, what) in rows {
        let error = error(direction, mode, lines);
        assert!(error.contains(what) && error.contains("allowed: "), "{error}");
    }
}

#[test]
fn interfaces_and_marks_are_read_and_written() {
    let sa = one("out", "if_id = 7\noutput_mark = 0xffffffff");
    assert_eq!((sa.if_id, sa.output_mark), (7, u32::MAX));
    let written = write(ace_ipsec::Policy::Discard, std::slice::from_ref(&sa)).unwrap();
    let file = SaFile::parse("SAs", &written).unwrap();
    assert_eq!((file.sas()[0].if_id, file.sas()[0].output_mark), (7, u32::MAX));
    // Tenants are told apart at the other end too; marks are its own.
    let mirrored = SaFile::parse("SAs", &file.mirrored().unwrap()).unwrap();
    assert_eq!((mirrored.sas()[0].if_id, mirrored.sas()[0].output_mark), (7, 0));
    for (direction, lines) in
        [("out", "if_id = -1"), ("out", "output_mark = 0x100000000"), ("in", "output_mark = 5")]
    {
        let why = SaFile::parse("SAs", &text(direction, "tunnel", lines)).unwrap_err().to_string();
        assert!(why.contains("allowed: 0"), "{why}");
    }
}
