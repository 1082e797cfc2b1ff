// SPDX-License-Identifier: Apache-2.0
//! `ace library prove`: what it takes for proven, and what it does not.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use ace_ecp5::ConfigPort;
use common::{root, stderr, stdout};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The smallest configuration.
const NAME: &str = "des";

/// The flow's Python, if it is installed.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("ACE_PYTHON").map(PathBuf::from);
    Some(named.unwrap_or_else(|| root().join(".venv/bin/python"))).filter(|python| python.is_file())
}

/// A library with one configuration as it was built.
struct Place {
    folder: tempfile::TempDir,
    python: PathBuf,
}

impl Place {
    /// `None`, with a message, if the configuration is not built.
    fn new() -> Option<Self> {
        let built = root().join("build/configurations").join(NAME);
        let (true, Some(python)) = (built.join("netlist.json").is_file(), python()) else {
            assert!(std::env::var_os("ACE_REQUIRE_BUILD").is_none(), "{NAME} is not built; run `make test`");
            eprintln!("{NAME} is not built, or there is no .venv; nothing was checked");
            return None;
        };
        let place = Self { folder: tempfile::tempdir().unwrap(), python };
        fs::create_dir_all(place.folder()).unwrap();
        for file in ["netlist.json", &format!("{NAME}.bit")] {
            fs::copy(built.join(file), place.folder().join(file)).unwrap();
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
            "top": "des_slot",
            "files": {
                "bitstream": file(&format!("{NAME}.bit")),
                "model": file("model.so"),
                "netlist_json": file("netlist.json"),
            },
        });
        fs::write(self.folder().join("manifest.json"), manifest.to_string()).unwrap();
        let proof = self.folder().join("proof.json");
        match record {
            Some(record) => fs::write(proof, record.to_string()).unwrap(),
            None => drop(fs::remove_file(proof)),
        }
        let _ = fs::remove_file(self.at("a.lib"));
        let [built, library, key] = [self.at("built"), self.at("a.lib"), self.at("key")];
        let [built, library, key] = [&built, &library, &key].map(|path| path.to_str().unwrap());
        let out =
            self.run(&["library", "build", "--configurations", built, "--library", library, "--secret", key]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ace"));
        command.current_dir(root()).env("ACE_PYTHON", &self.python);
        for name in ["ACE_LIBRARY", "ACE_LIBRARY_KEY", "ACE_LIBRARY_SECRET", "ACE_BUILD"] {
            command.env_remove(name);
        }
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
        let said: Value = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|_| panic!("{} {}", stdout(&out), stderr(&out)));
        (out.status.code(), said["configurations"][0].clone())
    }
}

/// Changes one entry of the table of a LUT with four different inputs.
fn tamper(netlist: &Path) {
    let mut design: Value = serde_json::from_slice(&fs::read(netlist).unwrap()).unwrap();
    let cells = design["modules"]["des_slot"]["cells"].as_object_mut().unwrap();
    let lut = cells.values_mut().find(|cell| {
        let nets: Vec<&Value> = ["A", "B", "C", "D"].map(|pin| &cell["connections"][pin][0]).to_vec();
        cell["type"] == "LUT4" && (0..4).all(|i| nets[i].is_number() && !nets[..i].contains(&nets[i]))
    });
    let table = &mut lut.expect("a LUT")["parameters"]["INIT"];
    let text = table.as_str().unwrap();
    *table = json!(format!("{}{}", if text.starts_with('1') { '0' } else { '1' }, &text[1..]));
    fs::write(netlist, design.to_string()).unwrap();
}

#[test]
fn bits_of_a_library_are_proven_and_a_changed_bit_is_not() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    let (code, said) = place.proven();
    assert_eq!((code, &said["proven"], &said["stored"]), (Some(0), &json!(true), &json!("none")), "{said}");
    let record = &said["record"];
    assert!(record["points"].as_u64() > record["registers"].as_u64().map(|n| 3 * n), "{record}");
    assert_eq!(record["control"]["result"], "refuted");
    assert!(record["control"]["points_refuted"].as_u64() > Some(0), "{record}");
    assert_ne!(record["control"]["memory_sha256"], record["memory_sha256"]);

    // With this record in the library, and with one that says otherwise.
    place.library(Some(record));
    let (code, said) = place.proven();
    assert_eq!((code, &said["stored"]), (Some(0), &json!("same")), "{said}");
    let mut other = record.clone();
    other["points"] = json!(1);
    place.library(Some(&other));
    let (code, said) = place.proven();
    assert_eq!((code, &said["stored"]), (Some(1), &json!("other")), "{said}");
    assert!(said["problem"].as_str().is_some_and(|why| why.contains("points 1, not")), "{said}");
}

#[test]
fn another_circuit_is_not_proven() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    tamper(&place.folder().join("netlist.json"));
    // The manifest knows which netlist it was.
    let (code, said) = place.proven();
    assert_eq!((code, &said["proven"]), (Some(1), &json!(false)), "{said}");
    assert!(said["problem"].as_str().is_some_and(|why| why.contains("not the netlist of its manifest")));
    // If the manifest has been made for it, the proof has to tell.
    place.library(None);
    let (code, said) = place.proven();
    assert_eq!((code, &said["proven"]), (Some(1), &json!(false)), "{said}");
    let why = said["problem"].as_str().unwrap();
    assert!(why.contains("differ") || why.contains("not the same netlist"), "{why}");
}

#[test]
fn what_is_missing_is_named() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    let out = place.prove().env("ACE_PYTHON", "/nonexistent/python").output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("/nonexistent/python") && stderr(&out).contains("make models"));
    fs::remove_file(place.folder().join("netlist.json")).unwrap();
    let out = place.prove().output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains(NAME) && stderr(&out).contains("make models"), "{}", stderr(&out));
}

#[test]
fn an_interruption_ends_it_soon() {
    let Some(place) = Place::new() else { return };
    place.library(None);
    let child = place.prove().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let start = Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", stderr(&out));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let said: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&said["interrupted"], &said["configurations"]), (&json!(true), &json!([])));
}
