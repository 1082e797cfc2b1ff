// SPDX-License-Identifier: Apache-2.0
//! An independent witness: tshark decrypts what `ace run` wrote, with the demo's keys, finds every ICV good and
//! sees the original TCP segments. Runs when tshark is installed; with CI=true its absence is a failure.

use std::path::Path;
use std::process::Command;

use crate::common::{TRAFFIC, ace, built, installed, root, stderr, stdout};

/// tshark's preferences with which it reads what an SA file protects.
fn preferences(sas: &Path) -> Vec<String> {
    let table = ace(&["sas", "wireshark"], &[sas]);
    assert!(table.status.success(), "{}", stderr(&table));
    let checks = ["esp.enable_encryption_decode:TRUE", "esp.enable_authentication_check:TRUE"];
    let rows: Vec<String> = stdout(&table).lines().map(|row| format!("uat:esp_sa:{row}")).collect();
    checks.map(str::to_owned).into_iter().chain(rows).collect()
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
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let esp = folder.path().join("esp.pcap");
    // Without the built configurations the CPU engine writes the same packets.
    let engine = if built() { "board" } else { "cpu" };
    let run = ace(
        &["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--unsigned", "--engine", engine, "-o"],
        &[&esp],
    );
    assert!(run.status.success(), "{}", stderr(&run));

    let options = preferences(&root().join("tests/demo/protect.toml"));
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

/// Steps 2 to 4 of docs/tutorial.md as they are printed, on the demo's capture: tshark prints of ESP what it prints of
/// the capture, and the capture comes back.
#[test]
fn the_tutorials_lines_work() {
    if !installed("tshark") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tutorial = std::fs::read_to_string(root().join("docs/tutorial.md")).expect("the tutorial");
    let (_, steps) = tutorial.split_once("## 2.").expect("step 2");
    let (steps, _) = steps.split_once("## 5.").expect("step 5");
    // Every second piece between fences is a block: what it is, and its lines.
    let blocks = steps.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let (sas, lines): (Vec<_>, Vec<_>) = blocks.partition(|(what, _)| what.starts_with("toml"));
    let lines: Vec<&str> =
        lines.into_iter().filter(|(what, _)| *what == "sh").map(|(_, lines)| lines).collect();
    assert!(sas.len() == 1 && lines.len() >= 3, "blocks of steps 2 to 4");
    let file = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("written");
    file("mine.toml", sas[0].1.as_bytes());
    file("mine.pcap", &std::fs::read(root().join(TRAFFIC)).expect("the demo's capture"));
    let tools = Path::new(env!("CARGO_BIN_EXE_ace")).parent().expect("a folder");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let shell = |lines: &str| {
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", lines]).current_dir(&folder).env("PATH", &path);
        let output = command.output().expect("bash starts");
        assert!(output.status.success(), "{lines}\n{}{}", stdout(&output), stderr(&output));
        stdout(&output)
    };
    let printed = shell(&lines.concat());
    // But for the length of the frame, the seventh word.
    let words = |text: &str| -> Vec<Vec<String>> {
        let packets = text.lines().filter(|line| line.contains(" → "));
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        packets.map(words).map(|mut words| (words.remove(6), words).1).collect()
    };
    let clear = words(&shell("tshark -r mine.pcap"));
    assert!(clear.len() > 100);
    assert_eq!(words(&printed), clear, "tshark reads ESP as it reads the capture");
    let esp = shell("tshark -r esp.pcap");
    assert!(esp.contains("ESP (SPI=0x00001001)"), "without keys it reads nothing: {esp}");
}
