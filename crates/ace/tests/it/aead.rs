// SPDX-License-Identifier: Apache-2.0
//! The demo's traffic under aes-128-gcm-16 on a board whose slots hold the array: every packet is the CPU engine's, both ways,
//! and what is longer than a slot's lane is done by the CPU engine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{ace, root, stderr};
use serde_json::Value;

const SETS: [&str; 2] = ["aes128_gcm_encrypt", "aes128_gcm_decrypt"];

/// Whether the context sets are built.
fn built() -> bool {
    let manifest = |name: &&str| root().join("build/array/sets").join(name).join("manifest.json").exists();
    let Some(missing) = SETS.iter().find(|name| !manifest(name)) else { return true };
    assert!(
        std::env::var_os("ACE_REQUIRE_BUILD").is_none(),
        "not built: {missing}; `ace array build` makes it"
    );
    eprintln!("{missing} is not built; nothing was checked");
    false
}

/// The demo's SAs of a way, with another suite: of each key the first 16 bytes, and a salt.
fn sas(way: &str, folder: &Path) -> PathBuf {
    let text = fs::read_to_string(root().join(format!("tests/demo/{way}.toml"))).unwrap();
    let line = |line: &str| match line.split_once(" = ") {
        Some(("cipher", _)) => "cipher = \"aes-128-gcm-16\"\n".to_owned(),
        Some(("key", key)) => format!("key = {}00010203\"\n", &key[..33]),
        Some(("auth" | "auth_key", _)) => String::new(),
        _ => format!("{line}\n"),
    };
    let path = folder.join(format!("{way}.toml"));
    fs::write(&path, text.lines().map(line).collect::<String>()).unwrap();
    path
}

/// The packets that a run writes, its exit code and its summary.
fn run(input: &Path, sas: &Path, engine: &[&str], folder: &Path) -> (Vec<u8>, Option<i32>, Value) {
    let output = folder.join("out.pcap");
    let args = [&["run", "--iv-seed", "7", "--json", "--unsigned"], engine].concat();
    let out = ace(&args, &["--sas".as_ref(), sas, "-o".as_ref(), &output, input]);
    let summary = serde_json::from_slice(&out.stdout);
    let summary = summary.unwrap_or_else(|error| panic!("{error}: {}", stderr(&out)));
    (fs::read(output).unwrap(), out.status.code(), summary)
}

const CPU: [&str; 2] = ["--engine", "cpu"];
const BOARD: [&str; 2] = ["--slots", "array"];
const AUTO: [&str; 4] = ["--engine", "auto", "--slots", "array"];

#[test]
fn every_packet_is_the_cpu_engines() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut input = root().join("tests/demo/traffic.pcap");
    for way in ["protect", "unprotect"] {
        let sas = sas(way, folder.path());
        let (cpu, code, _) = run(&input, &sas, &CPU, folder.path());
        assert_eq!(code, Some(0), "{way}");
        for engine in [&BOARD[..], &AUTO] {
            let (found, code, summary) = run(&input, &sas, engine, folder.path());
            assert!(found == cpu, "{way}, {engine:?}: the packets differ");
            assert_eq!(code, Some(0), "{summary}");
            // A packet is one operation of the board.
            let totals = &summary["board"]["totals"];
            assert_eq!((&totals["completed"], &totals["failed"]), (&summary["written"], &0.into()), "{way}");
        }
        input = folder.path().join("protected.pcap");
        fs::write(&input, cpu).unwrap();
    }
}

/// A capture of UDP packets from A to B, each as long as it is said.
fn capture(lengths: &[u16], path: &Path) {
    let mut bytes = [0xa1b2_c3d4_u32, 2 | 4 << 16, 0, 0, 65535, 101].map(u32::to_le_bytes).concat();
    for (second, length) in (1u32..).zip(lengths) {
        let len = u32::from(*length);
        bytes.extend([second, 0, len, len].map(u32::to_le_bytes).concat());
        let start = bytes.len();
        bytes.extend([0x45, 0]);
        bytes.extend(length.to_be_bytes());
        bytes.extend([0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let words = bytes[start..].chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let sum = words.sum::<u32>();
        let sum = !((sum & 0xFFFF) + (sum >> 16)) as u16;
        bytes[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend(
            [[3, 232, 7, 208], [(length - 20).to_be_bytes(), [0, 0]].concat().try_into().unwrap()].concat(),
        );
        bytes.resize(start + usize::from(*length), second as u8);
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_no_lane_holds_is_the_cpu_engines_or_is_said() {
    if !built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (sas, input) = (sas("protect", folder.path()), folder.path().join("in.pcap"));
    // Beside a block of AAD 2,016 bytes fit, and with the trailer of ESP a packet of 2,014.
    let lengths = [100, 2012, 2014, 2015, 1400, 3000, 28, 9000];
    capture(&lengths, &input);
    let (cpu, code, _) = run(&input, &sas, &CPU, folder.path());
    assert_eq!(code, Some(0));
    let (auto, code, summary) = run(&input, &sas, &AUTO, folder.path());
    assert!(auto == cpu && code == Some(0), "{summary}");
    assert_eq!((&summary["written"], &summary["board"]["totals"]["completed"]), (&8.into(), &5.into()));
    let (_, code, summary) = run(&input, &sas, &BOARD, folder.path());
    assert_eq!((code, &summary["written"]), (Some(1), &5.into()), "{summary}");
    let errors = summary["engine_errors"].as_object().expect("why");
    let (why, count) = errors.iter().next().expect("one");
    assert!(why.contains("2032 bytes together") && *count == 3, "{errors:?}");
}
