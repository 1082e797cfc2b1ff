// SPDX-License-Identifier: Apache-2.0
//! An independent witness: tshark decrypts what `ace run` wrote, with the demo's keys, finds every ICV good and
//! sees the original TCP segments. Runs when tshark is installed; with CI=true its absence is a failure.

mod common;

use std::path::Path;
use std::process::Command;

use common::{TRAFFIC, ace, built, root, stderr};

/// A preference that tells tshark one SA, from a row of the SA file.
fn security_association(sa: &toml::Table) -> String {
    let text = |key: &str| sa[key].as_str().expect("the demo's SA files are strings").to_owned();
    let cipher = match text("cipher").as_str() {
        "aes-128-cbc" => "AES-CBC [RFC3602]",
        "3des-cbc" => "TripleDES-CBC [RFC2451]",
        other => panic!("the demo does not use {other}"),
    };
    let auth = match text("auth").as_str() {
        "hmac-md5-96" => "HMAC-MD5-96 [RFC2403]",
        "hmac-sha1-96" => "HMAC-SHA-1-96 [RFC2404]",
        other => panic!("the demo does not use {other}"),
    };
    let spi = sa["spi"].as_integer().expect("an SPI is a number");
    format!(
        "uat:esp_sa:\"IPv4\",\"{}\",\"{}\",\"{spi:#010x}\",\"{cipher}\",\"0x{}\",\"{auth}\",\"0x{}\"",
        text("local"),
        text("remote"),
        text("key"),
        text("auth_key")
    )
}

/// Runs tshark and returns the fields of every packet, tab-separated.
fn fields(capture: &Path, options: &[String], names: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-r"]).arg(capture).args(["-T", "fields", "-o", "tcp.desegment_tcp_streams:FALSE"]);
    for option in options {
        command.args(["-o", option]);
    }
    for name in names {
        command.args(["-e", name]);
    }
    let output = command.output().expect("tshark starts");
    assert!(output.status.success(), "tshark: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

#[test]
fn tshark_decrypts_the_demo_and_finds_every_icv_good() {
    if Command::new("tshark").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "CI must install tshark");
        eprintln!("tshark is not installed: nothing was checked");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let esp = folder.path().join("esp.pcap");
    // Without the built configurations the CPU engine writes the same packets.
    let engine = if built() { "board" } else { "cpu" };
    let run =
        ace(&["run", TRAFFIC, "--sas", "demo/protect.toml", "--unsigned", "--engine", engine, "-o"], &[&esp]);
    assert!(run.status.success(), "{}", stderr(&run));

    let sas: toml::Table = std::fs::read_to_string(root().join("demo/protect.toml"))
        .expect("the SA file")
        .parse()
        .expect("the SA file is TOML");
    let mut options: Vec<String> =
        ["esp.enable_encryption_decode:TRUE", "esp.enable_authentication_check:TRUE"]
            .map(str::to_owned)
            .to_vec();
    options.extend(
        sas["sa"]
            .as_array()
            .expect("SAs")
            .iter()
            .map(|sa| security_association(sa.as_table().expect("an SA is a table"))),
    );

    let segment = ["tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.payload"];
    let clear = fields(&root().join(TRAFFIC), &[], &segment);
    let mut names = vec!["esp.icv_good", "esp.icv_bad"];
    names.extend(segment);
    let decrypted = fields(&esp, &options, &names);
    assert!(clear.len() > 100, "the demo's capture holds a few hundred packets");
    assert_eq!(decrypted.len(), clear.len());
    for (number, (decrypted, clear)) in decrypted.iter().zip(&clear).enumerate() {
        let number = number + 1;
        assert_eq!(decrypted[0], "1", "packet {number}: tshark does not call the ICV good");
        assert_ne!(decrypted[1], "1", "packet {number}: tshark calls the ICV bad");
        assert_eq!(decrypted[2..], clear[..], "packet {number}: another segment than the original");
    }

    // The witness can say no: with a wrong key it finds no segment, with a wrong authentication key a bad ICV.
    let wrong: Vec<String> = options.iter().map(|o| o.replace("\"0x", "\"0x0f")).collect();
    let refused = fields(&esp, &wrong, &names);
    assert!(refused.iter().all(|packet| packet[0] != "1"), "tshark accepts ICVs under wrong keys");
}
