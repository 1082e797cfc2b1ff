// SPDX-License-Identifier: Apache-2.0
//! `ace library prove`: what it takes for proven, and what it does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{root, stderr, stdout};
use ace_ecp5::ConfigPort;
use ace_library::codec::Dictionary;
use ace_library::{Library, SecretKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What the configuration is called here.
const NAME: &str = "des";
/// A copy of it.
const OTHER: &str = "des-other";

/// The flow's Python, if it is installed.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("ACE_PYTHON").map(PathBuf::from);
    Some(named.unwrap_or_else(|| root().join(".venv/bin/python"))).filter(|python| python.is_file())
}

/// The smallest configuration of which the flow has made the netlist: its folder, name and top.
fn smallest() -> Option<(PathBuf, String, String)> {
    let folders = fs::read_dir(root().join("build/configurations")).ok()?.flatten();
    let found = folders.filter_map(|folder| {
        let manifest = fs::read(folder.path().join("manifest.json")).ok()?;
        let manifest: Value = serde_json::from_slice(&manifest).ok()?;
        let text = |key: &str| manifest[key].as_str().map(str::to_owned);
        let made = manifest["files"]["netlist_json"].is_object() && manifest["variant_of"].is_null();
        Some((
            manifest["area"]["lut4"].as_u64().filter(|_| made)?,
            (folder.path(), text("name")?, text("top")?),
        ))
    });
    found.min_by_key(|(size, _)| *size).map(|(_, found)| found)
}

/// A library with one configuration as it was built.
struct Place {
    top: String,
    folder: tempfile::TempDir,
    python: PathBuf,
}

impl Place {
    /// `None`, with a message, if the configuration is not built.
    fn new() -> Option<Self> {
        let (Some((built, name, top)), Some(python)) = (smallest(), python()) else {
            assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "no netlist is built; run `make test`");
            eprintln!("no netlist is built, or there is no .venv; nothing was checked");
            return None;
        };
        let place = Self { top, folder: tempfile::tempdir().unwrap(), python };
        fs::create_dir_all(place.folder()).unwrap();
        for (from, to) in [("netlist.json", "netlist.json"), (&format!("{name}.bit"), &format!("{NAME}.bit"))]
        {
            fs::copy(built.join(from), place.folder().join(to)).unwrap();
        }
        let out = place.run(&["library", "keygen", place.at("key").to_str().unwrap()]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        Some(place)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn folder(&self) -> PathBuf {
        self.at("built").join(NAME)
    }

    /// The library of what lies there now, with a record or none.
    fn library(&self, record: Option<&Value>) {
        let bits = fs::read(self.folder().join(format!("{NAME}.bit"))).unwrap();
        let mut port = ConfigPort::for_any_device();
        port.push(&bits).unwrap();
        let memory = port.finish().unwrap();
        fs::write(self.folder().join("model.so"), b"none").unwrap();
        let file = |name: &str| {
            let bytes = fs::read(self.folder().join(name)).unwrap();
            json!({ "path": name, "bytes": bytes.len(), "sha256": hex::encode(Sha256::digest(&bytes)) })
        };
        let manifest = json!({
            "schema": 1, "name": NAME, "summary": "", "can": [], "device": memory.device().name,
            "fmax_mhz": 100.0, "area": { "lut4": 1 }, "memory_sha256": hex::encode(memory.digest()),
            "top": self.top, "netlist_sha256": file("netlist.json")["sha256"],
            "files": {
                "bitstream": file(&format!("{NAME}.bit")),
                "model": file("model.so"),
            },
        });
        fs::write(self.folder().join("manifest.json"), manifest.to_string()).unwrap();
        let proof = self.folder().join("proof.json");
        match record {
            Some(record) => fs::write(proof, record.to_string()).unwrap(),
            None => drop(fs::remove_file(proof)),
        }
        self.build();
    }

    fn manifest(&self) -> Value {
        serde_json::from_slice(&fs::read(self.folder().join("manifest.json")).unwrap()).unwrap()
    }

    /// The same once more, under another name.
    fn second(&self) {
        let other = self.at("built").join(OTHER);
        fs::create_dir_all(&other).unwrap();
        for file in ["model.so", "netlist.json", &format!("{NAME}.bit")] {
            fs::copy(self.folder().join(file), other.join(file)).unwrap();
        }
        let mut manifest = self.manifest();
        manifest["name"] = json!(OTHER);
        fs::write(other.join("manifest.json"), manifest.to_string()).unwrap();
        self.build();
    }

    /// Signs whatever lies there, proven or not.
    fn build(&self) {
        let key = SecretKey::parse(&fs::read_to_string(self.at("key")).unwrap()).unwrap();
        let mut parts = Vec::new();
        for name in [NAME, OTHER] {
            let folder = self.at("built").join(name);
            let Ok(bits) = fs::read(folder.join(format!("{NAME}.bit"))) else { continue };
            let mut port = ConfigPort::for_any_device();
            port.push(&bits).unwrap();
            let manifest = fs::read(folder.join("manifest.json")).unwrap();
            let proof = fs::read(folder.join("proof.json")).unwrap_or_default();
            parts.push((name, port.finish().unwrap().clone(), manifest, proof));
        }
        let mut library = Library::new(Dictionary::train(parts.iter().map(|(_, memory, ..)| memory)));
        for (name, memory, manifest, proof) in &parts {
            library.add(name, memory, manifest, proof, &[]).unwrap();
        }
        fs::write(self.at("a.lib"), library.to_bytes(Some(&key))).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = crate::common::command();
        command.current_dir(root()).env("ACE_PYTHON", &self.python);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }

    fn prove(&self) -> Command {
        let mut command = self.command();
        command.args(["library", "prove", NAME, "--json", "--configurations"]).arg(self.at("built"));
        command.arg("--library").arg(self.at("a.lib")).arg("--key").arg(self.at("key.pub"));
        command
    }

    /// The exit code and what is said of the configuration.
    fn proven(&self) -> (Option<i32>, Value) {
        let out = self.prove().output().unwrap();
        let report: Value = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|_| panic!("{} {}", stdout(&out), stderr(&out)));
        (out.status.code(), report["configurations"][0].clone())
    }
}

/// Turns over every entry of the table of a LUT with four different inputs: a single one may never be asked for.
fn tamper(netlist: &Path, top: &str) {
    let mut design: Value = serde_json::from_slice(&fs::read(netlist).unwrap()).unwrap();
    let cells = design["modules"][top]["cells"].as_object_mut().unwrap();
    let lut = cells.values_mut().find(|cell| {
        let nets: Vec<&Value> = ["A", "B", "C", "D"].map(|pin| &cell["connections"][pin][0]).to_vec();
        cell["type"] == "LUT4" && (0..4).all(|i| nets[i].is_number() && !nets[..i].contains(&nets[i]))
    });
    let table = &mut lut.expect("a LUT")["parameters"]["INIT"];
    let turned = table.as_str().unwrap().chars().map(|bit| if bit == '1' { '0' } else { '1' });
    *table = json!(turned.collect::<String>());
    fs::write(netlist, design.to_string()).unwrap();
}

#[test]
fn bits_of_a_library_are_proven_and_a_changed_bit_is_not() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    let (code, report) = place.proven();
    assert_eq!(
        (code, &report["proven"], &report["stored"]),
        (Some(0), &json!(true), &json!("none")),
        "{report}"
    );
    let record = &report["record"];
    assert!(record["points"].as_u64() > record["registers"].as_u64().map(|n| 3 * n), "{record}");
    assert_eq!(record["control"]["result"], "refuted");
    assert!(record["control"]["points_refuted"].as_u64() > Some(0), "{record}");
    assert_ne!(record["control"]["memory_sha256"], record["memory_sha256"]);

    // With this record in the library, and with one that says otherwise.
    place.library(Some(record));
    let (code, report) = place.proven();
    assert_eq!((code, &report["stored"]), (Some(0), &json!("same")), "{report}");
    let mut other = record.clone();
    other["points"] = json!(1);
    place.library(Some(&other));
    let (code, report) = place.proven();
    assert_eq!((code, &report["stored"]), (Some(1), &json!("other")), "{report}");
    assert!(report["problem"].as_str().is_some_and(|why| why.contains("points 1, not")), "{report}");
}

#[test]
fn another_circuit_is_not_proven() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    tamper(&place.folder().join("netlist.json"), &place.top);
    // The manifest knows which netlist it was.
    let (code, report) = place.proven();
    assert_eq!((code, &report["proven"]), (Some(1), &json!(false)), "{report}");
    assert!(report["problem"].as_str().is_some_and(|why| why.contains("not the netlist of its manifest")));
    // A manifest that names none is not passed over.
    let mut manifest = place.manifest();
    manifest.as_object_mut().unwrap().remove("netlist_sha256");
    fs::write(place.folder().join("manifest.json"), manifest.to_string()).unwrap();
    place.build();
    let (code, report) = place.proven();
    assert_eq!((code, &report["proven"]), (Some(1), &json!(false)), "{report}");
    assert!(report["problem"].as_str().is_some_and(|why| why.contains("of which netlist it is")), "{report}");
    // If the manifest has been made for it, the proof has to tell.
    place.library(None);
    let (code, report) = place.proven();
    assert_eq!((code, &report["proven"]), (Some(1), &json!(false)), "{report}");
    let why = report["problem"].as_str().unwrap();
    assert!(why.contains("differ") || why.contains("not the same netlist"), "{why}");
}

#[test]
fn what_is_missing_is_named() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    let out = place.prove().env("ACE_PYTHON", "/nonexistent/python").output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("/nonexistent/python") && stderr(&out).contains("make tools"));
    fs::remove_file(place.folder().join("netlist.json")).unwrap();
    let out = place.prove().output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains(NAME) && stderr(&out).contains("no netlist in"), "{}", stderr(&out));
}

/// A stand-in for the flow's Python, which has all modules; this is what it does in place of a proof.
fn stand_in(place: &mut Place, script: &str) {
    let python = place.at("python");
    fs::write(
        &python,
        format!("#!/bin/sh\n[ \"$1\" = -c ] && exit 0\ncd {}\n{script}\n", place.at("").display()),
    )
    .unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    place.python = python;
}

/// Waits for a file with something in it.
fn appears(path: &Path) -> String {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    panic!("no {}", path.display());
}

#[test]
fn an_interruption_ends_it_soon() {
    let Some(mut place) = Place::new() else { return };
    place.library(None);
    stand_in(&mut place, "echo $$ > pid; exec sleep 600");
    let child = place.prove().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let proof = appears(&place.at("pid"));
    let start = Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", stderr(&out));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(!Path::new("/proc").join(proof).exists(), "the proof still runs");
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&report["interrupted"], &report["configurations"]), (&json!(true), &json!([])));
}

#[test]
fn a_proof_that_takes_too_long_is_an_error() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    let out = place.prove().env("ACE_PROOF_SECONDS", "0.01").output().unwrap();
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    let row = &report["configurations"][0];
    let why = row["problem"].as_str().unwrap_or_default();
    assert!(why.starts_with("no proof within 0.01 s: ") && why.contains("netlist"), "{report}");
    assert_eq!((&row["name"], &row["proven"]), (&json!(NAME), &json!(false)));
    assert!(stderr(&out).contains(&format!("ace: 1/1 {NAME}: no proof within")), "{}", stderr(&out));
}

#[test]
fn several_are_proven_at_the_same_time() {
    let Some(mut place) = Place::new() else { return };
    place.library(None);
    place.second();
    // Each waits for the other one.
    let script = "touch run.$$; for i in 1 2 3 4 5 6 7 8 9 10; do set -- run.*; \
        [ $# = 2 ] && echo 'error: they met' >&2 && exit 1; sleep $PAUSE; done; echo 'error: alone' >&2; rm run.$$; exit 1";
    stand_in(&mut place, script);
    for (jobs, pause, expected) in [("2", "2", "they met"), ("1", "0.02", "alone")] {
        for file in fs::read_dir(place.folder.path()).unwrap().flatten() {
            if file.file_name().to_string_lossy().starts_with("run.") {
                fs::remove_file(file.path()).unwrap();
            }
        }
        let mut command = place.command();
        command
            .args(["library", "prove", "--json", "--jobs", jobs, "--configurations"])
            .arg(place.at("built"));
        command.arg("--library").arg(place.at("a.lib")).arg("--key").arg(place.at("key.pub"));
        let out = command.env("PAUSE", pause).output().unwrap();
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        let rows: Vec<_> = report["configurations"].as_array().unwrap().iter().collect();
        let names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert_eq!(names, [NAME, OTHER]);
        assert!(rows.iter().all(|row| row["problem"] == expected), "{jobs}: {report}");
        let told = stderr(&out);
        assert!(told.contains("ace: 1/2 des") && told.contains("ace: 2/2 des"), "{told}");
    }
}
