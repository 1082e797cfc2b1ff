// SPDX-License-Identifier: Apache-2.0
//! Slots of both kinds on the command line: what comes out is what the CPU engine makes of it, nothing is built for it but
//! models, and reports say what each slot is and what it has held.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::common::{TRAFFIC, command, root, stderr, stdout};

const MODEL: [&str; 2] = ["slot.so", "slot.model.json"];

/// The first packets of the demo, as simulations take their time.
fn few(folder: &Path) -> PathBuf {
    let all = fs::read(root().join(TRAFFIC)).unwrap();
    let end = (0..24).fold(24, |at, _| {
        let len = u32::from_le_bytes(all[at + 8..at + 12].try_into().unwrap());
        at + 16 + len as usize
    });
    let file = folder.join("few.pcap");
    fs::write(&file, &all[..end]).unwrap();
    file
}

/// A run of the demo's SAs in a build folder of its own.
fn run(build: &Path, input: &Path, output: &Path, more: &[&str]) -> Output {
    let mut command = command();
    command.current_dir(root()).env("ACE_BUILD", build).env("ACE_LIBRARY_ALLOW_OLDER", "1");
    command.args(["run", "--sas", "tests/demo/protect.toml", "--iv-seed", "7"]).args(more);
    command.arg("-o").arg(output).arg(input).output().expect("ace starts")
}

/// A build folder with the model of the array's slot and nothing else, but for the configurations that are built; none if
/// that model is not.
fn build(folder: &Path) -> Option<PathBuf> {
    let built = root().join("build");
    let to = folder.join("build");
    fs::create_dir_all(to.join("array")).unwrap();
    for file in MODEL {
        let Ok(bytes) = fs::read(built.join("array").join(file)) else {
            let required = std::env::var_os("ACE_REQUIRE_BUILD").is_some();
            assert!(!required, "not built: build/array/{file}; `ace array build` makes it");
            eprintln!("build/array/{file} is not built; nothing was checked");
            return None;
        };
        fs::write(to.join("array").join(file), bytes).unwrap();
    }
    let configurations = built.join("configurations");
    if let Ok(configurations) = configurations.canonicalize() {
        std::os::unix::fs::symlink(configurations, to.join("configurations")).unwrap();
    }
    Some(to)
}

#[test]
fn sets_come_from_the_library_and_what_comes_out_is_what_the_cpu_makes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(build) = build(folder.path()) else { return };
    let (input, output) = (few(folder.path()), folder.path().join("out.pcap"));
    let out = run(&build, &input, &output, &["--engine", "cpu"]);
    assert!(out.status.success(), "{}", stderr(&out));
    let wanted = fs::read(&output).unwrap();
    let mut reports = Vec::new();
    for slots in ["array=1", "fabric=1,array=1", "fabric=1,array=1"] {
        let out = run(&build, &input, &output, &["--slots", slots, "--json"]);
        assert!(out.status.success(), "{slots}: {}", stderr(&out));
        assert!(fs::read(&output).unwrap() == wanted, "{slots}: other packets");
        let summary: Value = serde_json::from_slice(&out.stdout).unwrap();
        reports.push(summary["board"].clone());
    }
    let kinds = |at: usize| -> Vec<String> {
        let slots = reports[at]["slots"].as_array().unwrap().iter();
        slots.map(|slot| slot["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (kinds(0), kinds(1)),
        (vec!["array".to_owned(); 2], ["fabric", "array", "array"].map(str::to_owned).into())
    );
    assert_eq!(reports[1], reports[2], "modelled times are always the same");
    for report in &reports {
        let loaded = report["configurations"].as_array().unwrap().iter();
        let mut loaded = loaded.filter(|one| one["loads"].as_u64() > Some(0));
        assert!(loaded.all(|one| one["from_library"] == true), "{report}");
        let slots = report["slots"].as_array().unwrap().iter();
        assert!(slots.map(|slot| slot["loaded"].as_array().unwrap().len()).sum::<usize>() > 0);
    }
}

#[test]
fn what_is_missing_or_contradicts_itself_is_said_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.pcap");
    let input = root().join(TRAFFIC);
    for slots in ["array", "fabric=1,array=1"] {
        let out = run(folder.path(), &input, &output, &["--slots", slots]);
        let why = stderr(&out);
        assert_eq!(out.status.code(), Some(2), "{}{why}", stdout(&out));
        let model = folder.path().join("array/slot.so");
        assert!(
            why.contains("no model of the array's slot") && why.contains(model.to_str().unwrap()),
            "{why}"
        );
        assert!(why.contains("`ace array build` in a checkout of ACE makes it"), "{why}");
    }
    let file = folder.path().join("board.toml");
    let board = |text: &str| {
        fs::write(&file, text).unwrap();
        let out = run(folder.path(), &input, &output, &["--board", file.to_str().unwrap()]);
        assert_eq!(out.status.code(), Some(2), "{text}");
        stderr(&out)
    };
    let at = |line: usize| format!("{}:{line}: ", file.display());
    let why = board("array_slots = 1\n[slot]\nkind = \"array\"\n");
    assert!(why.contains(&at(3)) && why.contains("leave `slot.kind` out"), "{why}");
    let why = board("slots = 0\narray_slots = 1\n");
    assert!(why.contains(&at(1)) && why.contains("`kind = \"array\"` under [slot]"), "{why}");
    let why = board("[slot]\nkind = \"gpu\"\n");
    assert!(why.contains(&at(2)) && why.contains("`fabric` or `array`"), "{why}");
}
