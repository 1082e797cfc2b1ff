// SPDX-License-Identifier: Apache-2.0
//! For whoever writes a core: known answers on the RTL alone, waveforms, and what `ace new` begins with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{ace, command, root, stderr, stdout};

/// The flow's Python, where it is installed.
fn python() -> Option<PathBuf> {
    let own = root().join(".venv/bin/python");
    let python = std::env::var_os("ACE_PYTHON").map_or(own, PathBuf::from);
    if python.is_file() {
        return Some(python);
    }
    assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "no {}; make tools", python.display());
    eprintln!("no {}: nothing was checked", python.display());
    None
}

#[test]
fn known_answers_run_on_the_rtl_alone_and_leave_waveforms() {
    if python().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let answers = "crates/ace-engine/kat/idea.csv";
    // Long keys of HMAC are hashed by the slot first.
    let out =
        ace(&["kat", "hmac-sha1", "crates/ace-engine/kat/hmac_sha1.csv", "--rtl", "sha1", "--json"], &[]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!((&json["engine"], &json["skipped"]), (&"rtl".into(), &serde_json::json!([])));

    let vcd = folder.path().join("idea.vcd");
    let out = ace(&["kat", "idea", answers, "--wave"], &[&vcd]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains(" passed, 0 failed"), "{}", stdout(&out));
    let text = fs::read_to_string(&vcd).expect("waveforms");
    assert!(text.contains("$enddefinitions") && text.contains("s_axis_tdata") && text.contains("u_core"));
    let out = ace(&["kat", "idea", answers, "--wave"], &[&folder.path().join("idea.png")]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains(".fst or .vcd"), "{}", stderr(&out));

    let fst = folder.path().join("idea.fst");
    let out = ace(&["kat", "idea", answers, "--wave"], &[&fst]);
    if !["/usr/include/lz4.h", "/usr/include/zlib.h"].iter().all(|header| Path::new(header).is_file()) {
        assert!(stderr(&out).contains("liblz4-dev"), "what is missing has a name: {}", stderr(&out));
        return;
    }
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    // The first block is the header, which is 329 bytes long with its length.
    let bytes = fs::read(&fst).expect("waveforms");
    assert_eq!(bytes[..9], [&[0][..], &329_u64.to_be_bytes()].concat(), "not an FST");
    assert!(bytes.len() > 10_000);
    let left: Vec<_> = fs::read_dir(root().join("build/rtl")).expect("a folder").flatten().collect();
    let left = left.iter().filter(|e| e.file_name().to_string_lossy().starts_with(".idea")).count();
    assert_eq!(left, 0, "waveforms stay in build/rtl");

    let out = ace(&["kat", "idea", answers, "--rtl", "ideal"], &[]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("no configuration 'ideal'"), "{}", stderr(&out));
}

/// A copy of what `ace new` changes and what it takes to simulate it.
fn copy(folder: &Path) {
    for part in ["rtl", "flow", "crates/ace-engine"] {
        let to = folder.join(part);
        fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        let done = Command::new("cp").arg("-r").arg(root().join(part)).arg(&to).status();
        assert!(done.is_ok_and(|status| status.success()));
    }
}

#[test]
fn a_new_algorithm_can_be_simulated_and_computes_nothing_yet() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(folder.path());
    let new = |args: &[&str]| {
        let mut command = command();
        command.current_dir(folder.path().join("rtl")).args(["new", "algorithm"]).args(args);
        command.output().expect("ace starts")
    };
    for (wrong, words) in [
        (&["Rot13"][..], "small letters"),
        (&["aes"], "already"),
        (&["rot13", "--block", "12"], "8 or 16"),
        (&["rot13", "--keys", "16,60"], "multiples of 8"),
        (&["rot13", "--rounds", "1"], "2 to 64"),
    ] {
        let out = new(wrong);
        assert_eq!(out.status.code(), Some(2), "{wrong:?}");
        assert!(stderr(&out).contains(words), "{wrong:?}: {}", stderr(&out));
    }
    let out = new(&["rot-13", "--block", "8", "--keys", "32,16", "--rounds", "12"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let read = |path: &str| fs::read_to_string(folder.path().join(path)).expect("a file");
    let table = read("crates/ace-engine/src/algorithm.rs");
    assert!(table.contains("pub static ROT_13") && table.contains("&ROT_13,"), "{table}");
    assert!(read("flow/configurations.toml").contains("name = \"rot-13\""));
    assert!(read("rtl/top/rot_13_slot.sv").contains("64'h100010000"));
    for part in ["pkg", "core"] {
        let text = read(&format!("rtl/cipher/rot_13/rot_13_{part}.sv"));
        assert!(!text.contains("@ID") && !text.contains("@NAME") && !text.contains("CYCLES@"), "{text}");
    }
    assert_eq!(new(&["rot-13"]).status.code(), Some(2), "nothing is overwritten");

    let Some(python) = python() else { return };
    let python = |module: &str| {
        let mut command = Command::new(&python);
        command.args(["-m", module, "rot-13"]).env("PYTHONPATH", folder.path().join("flow"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(folder.path()).output().expect("python")
    };
    // Verilator and slang have nothing to say, and the model answers.
    let out = python("ace_flow.lint");
    assert!(out.status.success(), "{}{}", stdout(&out), stderr(&out));
    let out = python("ace_flow.simulate");
    assert!(out.status.success(), "{}", stderr(&out));
    let made: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let can: Vec<ace_board::manifest::Capability> =
        serde_json::from_value(made["can"].clone()).expect("what it can do");
    assert_eq!((can[0].algorithm.as_str(), &can[0].key_bytes[..]), ("rot-13", &[16, 32][..]));
}
