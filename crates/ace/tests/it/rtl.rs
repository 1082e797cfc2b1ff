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
    let answers = "algorithms/idea/kat.csv";
    // Long keys of HMAC are hashed by the slot first.
    let out = ace(&["kat", "hmac-sha1", "algorithms/sha1/hmac_sha1.csv", "--rtl", "sha1", "--json"], &[]);
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

/// A checkout of what `ace new` reads and of what it takes to simulate and prove.
fn copy(folder: &Path) {
    for part in
        ["rtl", "algorithms", "boards", "flow", "crates/ace-engine", "crates/ace-array", "crates/ace-lrat"]
    {
        let to = folder.join(part);
        fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        let done = Command::new("cp").arg("-r").arg(root().join(part)).arg(&to).status();
        assert!(done.is_ok_and(|status| status.success()));
    }
    fs::write(folder.join(".gitignore"), "build\n__pycache__\n").expect("written");
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "--all"]);
    let who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"];
    git(folder, &[&who[..], &["commit", "--quiet", "--message", "as it was"]].concat());
}

fn git(folder: &Path, args: &[&str]) -> String {
    let done = Command::new("git").current_dir(folder).args(args).output().expect("git starts");
    assert!(done.status.success(), "{args:?}: {}", stderr(&done));
    stdout(&done)
}

/// Runs a module of the flow of a checkout.
fn flow(python: &Path, folder: &Path, args: &[&str]) -> std::process::Output {
    let mut command = Command::new(python);
    command.arg("-m").args(args).env("PYTHONPATH", folder.join("flow")).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("ACE_BIN", env!("CARGO_BIN_EXE_ace"));
    let done = command.current_dir(folder).output().expect("python");
    assert!(done.status.success(), "{args:?}: {}{}", stdout(&done), stderr(&done));
    done
}

#[test]
fn a_new_algorithm_is_a_folder_and_can_be_simulated_and_proven() {
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
        (&["cast5"], "already"),
        (&["rot13", "--block", "12"], "8 or 16"),
        (&["rot13", "--keys", "16,60"], "multiples of 8"),
        (&["rot13", "--rounds", "1"], "2 to 64"),
    ] {
        let out = new(wrong);
        assert_eq!(out.status.code(), Some(2), "{wrong:?}");
        assert!(stderr(&out).contains(words), "{wrong:?}: {}", stderr(&out));
    }
    for args in [
        &["rot-13", "--block", "8", "--keys", "32,16", "--rounds", "12"][..],
        // Of keys of two beats the proof once did not know how they come in.
        &["rot-26", "--block", "16", "--keys", "16"],
    ] {
        let out = new(args);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    }
    let changed = git(folder.path(), &["status", "--porcelain"]);
    assert_eq!(changed, "?? algorithms/rot-13/\n?? algorithms/rot-26/\n", "a folder, and nothing else");
    let room = folder.path().join("algorithms/rot-13");
    let read = |path: &str| fs::read_to_string(room.join(path)).expect("a file");
    assert!(read("rtl/rot_13_slot.sv").contains("64'h100010000"));
    for part in
        ["algorithm.toml", "cpu.rs", "faults.toml", "README.md", "rtl/rot_13_pkg.sv", "rtl/rot_13_core.sv"]
    {
        let text = read(part);
        assert!(!text.contains("@ID") && !text.contains("@NAME") && !text.contains("S@"), "{part}: {text}");
    }
    let rooms = ace_algorithms::load(&folder.path().join("algorithms")).expect("both can be read");
    let codes: Vec<_> =
        rooms.iter().filter(|room| room.name.starts_with("rot-")).map(|room| room.code()).collect();
    assert!(codes[0] != codes[1] && codes.iter().all(Option::is_some), "{codes:?}");
    assert_eq!(new(&["rot-13"]).status.code(), Some(2), "nothing is overwritten");

    let Some(python) = python() else { return };
    // Verilator and slang have nothing to say, and the model answers.
    flow(&python, folder.path(), &["ace_flow", "lint", "rot-13", "rot-26"]);
    let out = flow(&python, folder.path(), &["ace_flow", "simulate", "rot-13"]);
    let made: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let can: Vec<ace_board::capability::Capability> =
        serde_json::from_value(made["can"].clone()).expect("what it can do");
    assert_eq!((can[0].algorithm.as_str(), &can[0].key_bytes[..]), ("rot-13", &[16, 32][..]));
    // The netlist is the RTL, and each fault is seen.
    flow(&python, folder.path(), &["ace_flow", "build", "--only-netlists", "rot-26"]);
    let out = flow(&python, folder.path(), &["ace_flow", "equiv", "--controls", "rot-26"]);
    let output = stdout(&out);
    assert!(output.contains("rot-26: proven") && output.contains("3 faults refuted"), "{output}");
}
