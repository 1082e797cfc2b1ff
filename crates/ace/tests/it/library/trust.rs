// SPDX-License-Identifier: Apache-2.0
//! Whose libraries are taken, in which version, and what goes into one.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Place;
use crate::common::{command, stderr, stdout};

fn says(out: &Output, code: i32, text: &str) {
    assert_eq!(out.status.code(), Some(code), "{} {}", stdout(out), stderr(out));
    assert!(stderr(out).contains(text), "{text}: {}", stderr(out));
}

impl Place {
    fn sign(&self, key: &str, trusted: &str) -> Output {
        let paths = [self.library(), self.at(key), self.at(trusted)];
        self.run(&["library", "sign"], &["--library", "--secret", "--key"], &paths)
    }

    fn with(&self, what: &str, keys: &str, more: &[&str]) -> Output {
        let arguments = [&["library", what], more].concat();
        self.run(&arguments, &["--library", "--key"], &[self.library(), self.at(keys)])
    }

    /// A file of the public keys of these.
    fn keys(&self, name: &str, threshold: usize, keys: &[&str]) {
        let key = |key: &&str| fs::read_to_string(self.at(&format!("{key}.pub"))).unwrap();
        let lines: String = keys.iter().map(key).collect();
        fs::write(self.at(name), format!("threshold {threshold}\n{lines}")).unwrap();
    }
}

#[test]
fn key_and_library_replaced_together_are_refused() {
    let place = Place::new();
    // A checkout with a library of somebody else, and that key beside it.
    let folder = place.at("checkout/library");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(place.library(), folder.join("ace.lib")).unwrap();
    for name in ["ace.lib.pub", "trusted.keys"] {
        fs::copy(place.at("key.pub"), folder.join(name)).unwrap();
    }
    let here = |arguments: &[&str]| {
        let mut command = command();
        command.current_dir(place.at("checkout")).env("XDG_STATE_HOME", place.at("state"));
        command.args(arguments).output().unwrap()
    };
    for (what, code) in [("verify", 1), ("list", 2), ("stats", 2), ("domains", 2), ("prove", 2)] {
        let out = here(&["library", what]);
        says(&out, code, "not by the key that is trusted");
        assert!(stderr(&out).contains(&place.fingerprint("key")), "{}", stderr(&out));
    }
    says(&here(&["library", "extract", "--out", "out"]), 2, "not by the key that is trusted");
    assert!(!place.at("checkout/out").exists());
    // So does the board, before a packet is read.
    let root = crate::common::root().canonicalize().unwrap();
    let (capture, sas) = (root.join("tests/demo/traffic.pcap"), root.join("tests/demo/protect.toml"));
    let run = ["run", capture.to_str().unwrap(), "--sas", sas.to_str().unwrap(), "-o", "out.pcap"];
    says(&here(&run), 2, "not by the key that is trusted");
    assert!(!place.at("checkout/out.pcap").exists());
    // Whoever trusts that key says so.
    let key = place.at("key.pub");
    let out = here(&["library", "verify", "--key", key.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    says(&here(&[&run[..], &["--key", place.at("other.pub").to_str().unwrap()]].concat()), 2, "signed by");
}

#[test]
fn an_old_version_is_refused_until_it_is_asked_for() {
    let place = Place::new();
    let old = fs::read(place.library()).unwrap();
    assert_eq!(place.write("build", &[]).status.code(), Some(0));
    assert_eq!(place.json(&["list"])["version"], 2);
    fs::write(place.library(), &old).unwrap();
    says(&place.read(&["verify"]), 1, "version 2 of the same key was here before");
    for what in ["list", "stats", "domains", "prove"] {
        says(&place.read(&[what]), 2, "--allow-older");
    }
    says(&place.write("add", &["aes"]), 2, "--allow-older");
    says(&place.write("remove", &["aes"]), 2, "--allow-older");
    says(&place.sign("other", "key.pub"), 2, "--allow-older");
    assert!(fs::read(place.library()).unwrap() == old);
    assert_eq!(place.read(&["verify", "--allow-older"]).status.code(), Some(0));
    assert_eq!(place.read(&["verify"]).status.code(), Some(1));
    // In a file that is made anew there is a new version, whatever lay there.
    fs::remove_file(place.library()).unwrap();
    assert_eq!(place.write("build", &[]).status.code(), Some(0));
    assert_eq!(place.json(&["list"])["version"], 3);

    // Somebody else has seen nothing yet, and one who can keep nothing is told.
    let state = |state: &Path| {
        let mut command = command();
        command.env("XDG_STATE_HOME", state).args(["library", "list", "--library"]).arg(place.library());
        command.arg("--key").arg(place.at("key.pub")).output().unwrap()
    };
    fs::write(place.library(), &old).unwrap();
    assert_eq!(state(&place.at("elsewhere")).status.code(), Some(0));
    let blocked = place.at("blocked");
    fs::write(&blocked, b"").unwrap();
    let out = state(&blocked);
    assert!(stderr(&out).contains("blocked/ace/library-versions"), "{}", stderr(&out));
    let mut command = command();
    command.env_remove("XDG_STATE_HOME").env_remove("HOME").args(["library", "list", "--library"]);
    let out = command.arg(place.library()).arg("--key").arg(place.at("key.pub")).output().unwrap();
    says(&out, 0, "warning: the version of the library cannot be kept");
}

#[test]
fn two_of_three_sign() {
    let place = Place::new();
    let third = place.at("third");
    let out = command().args(["library", "keygen"]).arg(&third).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    place.keys("all", 2, &["key", "other", "third"]);
    says(&place.with("verify", "all", &[]), 1, "2 of ");
    // The same one once more does not help; another one does.
    assert_eq!(place.sign("key", "all").status.code(), Some(0));
    says(&place.with("list", "all", &[]), 2, "signed by");
    let before = place.json(&["list"])["version"].clone();
    let out = place.sign("third", "all");
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let out = place.with("verify", "all", &["--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let stated: Value = serde_json::from_slice(&out.stdout).unwrap();
    let mut by: Vec<&str> =
        stated["signed_by"].as_array().unwrap().iter().map(|by| by.as_str().unwrap()).collect();
    by.sort_unstable();
    let mut wanted = [place.fingerprint("key"), place.fingerprint("third")];
    wanted.sort_unstable();
    assert_eq!((by, &stated["version"]), (wanted.iter().map(String::as_str).collect(), &before));
    // Each of them alone is enough for who trusts it alone.
    assert_eq!(place.with("list", "third.pub", &[]).status.code(), Some(0));
    says(&place.with("list", "other.pub", &[]), 2, "not by the key that is trusted");
    // A change is signed by one again, and what is not asked for by whom is there so far is not signed.
    assert_eq!(place.write("remove", &["des"]).status.code(), Some(0));
    says(&place.with("list", "all", &[]), 2, "alone");
    says(&place.sign("third", "other.pub"), 2, "not by the key that is trusted");
    fs::write(place.at("none"), "threshold 1\n").unwrap();
    says(&place.with("list", "none", &[]), 2, "no public key");
}

#[test]
fn only_what_is_proven_goes_in() {
    let place = Place::new();
    let library = fs::read(place.library()).unwrap();
    for (pointer, value, why) in [
        ("/result", json!("refuted"), "says `refuted`"),
        ("/format", json!(1), "format 1, not 3"),
        ("/memory_sha256", json!("0".repeat(64)), "of other bits"),
        ("/netlist_sha256", json!("0".repeat(64)), "another netlist"),
        ("/points", json!(0), "compares nothing"),
        ("/control/result", json!("proven"), "not refuted"),
        ("/control/points_refuted", json!(0), "not refuted"),
        ("/control", Value::Null, "is none"),
    ] {
        place.record("aes", |record| *record.pointer_mut(pointer).unwrap() = value);
        for what in ["add", "build"] {
            says(&place.write(what, &["aes"]), 2, why);
        }
    }
    fs::remove_file(place.at("built/aes/proof.json")).unwrap();
    says(&place.write("add", &["aes"]), 2, "no record");
    // A record of the bits, and a manifest that does not say of what they are, or where its clock is from.
    for key in ["netlist_sha256", "timing"] {
        place.configuration("aes", 0);
        let path = place.at("built/aes/manifest.json");
        let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        manifest.as_object_mut().unwrap().remove(key);
        fs::write(&path, manifest.to_string()).unwrap();
        says(&place.write("add", &["aes"]), 2, key);
    }
    // The report of timing that lies beside it is another one, or says another clock.
    place.configuration("aes", 0);
    let folder = place.at("built/aes");
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    for (clock, digest, why) in [(100.0, false, "is not what its manifest says"), (99.0, true, "says 99.0")] {
        let report = json!({ "fmax_mhz": clock }).to_string();
        fs::write(folder.join("route-3.json"), &report).unwrap();
        let mut manifest = manifest.clone();
        manifest["timing"]["seed"] = json!(3);
        if digest {
            manifest["timing"]["report_sha256"] = json!(hex::encode(Sha256::digest(&report)));
        }
        fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
        says(&place.write("add", &["aes"]), 2, why);
    }
    fs::remove_file(folder.join("route-3.json")).unwrap();
    assert!(fs::read(place.library()).unwrap() == library, "nothing was changed");
    place.configuration("aes", 0);
    assert_eq!(place.write("add", &["aes"]).status.code(), Some(0));
}

#[test]
fn what_ties_a_netlist_to_its_rtl_is_checked_and_shown() {
    let place = Place::new();
    let tie = |netlist: &str, recipe: &str, open: u64| {
        json!({
            "format": 2, "method": "equivalence", "netlist_sha256": netlist.repeat(32), "recipe": recipe.repeat(32),
            "elaborated_sha256": "66".repeat(32), "points": 9, "by_structure": 4, "by_certificate": 5, "open": open,
            "faults_refuted": 1,
        })
    };
    let before = place.json(&["verify"])["proven_to_rtl"].clone();
    assert_eq!(before, 0, "records without it are of simulation");
    for (stated, why) in [
        (tie("33", "5a", 0), "another netlist"),
        (tie("22", "a5", 0), "another RTL"),
        (tie("22", "00", 0), "no SHA-256"),
        (tie("22", "5a", 500), "500 open"),
    ] {
        place.record("aes", |record| record["tied_to_rtl_by"] = stated);
        says(&place.write("add", &["aes"]), 2, why);
    }
    assert_eq!(place.json(&["show", "aes"])["tied_to_rtl_by"], "simulation");
    place.record("aes", |record| record["tied_to_rtl_by"] = tie("22", "5a", 0));
    assert_eq!(place.write("add", &["aes"]).status.code(), Some(0));
    assert_eq!(place.json(&["show", "aes"])["tied_to_rtl_by"], "equivalence");
    assert_eq!(place.json(&["verify"])["proven_to_rtl"], 1);
    let list = stdout(&place.read(&["list"]));
    assert!(list.contains("1 of") && list.contains("equivalence"), "{list}");
}

/// What is signed and not proven all the same is found by who verifies.
#[test]
fn verify_reads_the_records() {
    let place = Place::new();
    let secret = fs::read_to_string(place.at("key")).unwrap();
    let secret = ace_library::SecretKey::parse(&secret).unwrap();
    let opened = ace_library::file::read(&place.library(), &ace_library::Trust::ANYBODY).unwrap();
    let mut library = opened.library;
    let memory = library.memory("des").unwrap();
    let (manifest, proof) = {
        let image = library.get("des").unwrap();
        (image.manifest().unwrap(), image.proof().unwrap())
    };
    let edited = |pointer: &str, value: Value| {
        let mut record: Value = serde_json::from_slice(&proof).unwrap();
        *record.pointer_mut(pointer).unwrap() = value;
        record.to_string().into_bytes()
    };
    for (manifest, proof, why) in [
        (manifest.clone(), Vec::new(), "no record"),
        (manifest.clone(), edited("/result", json!("refuted")), "says `refuted`"),
        (manifest.clone(), edited("/memory_sha256", json!("0".repeat(64))), "of other bits"),
        (b"{}".to_vec(), proof.clone(), "cannot be used"),
    ] {
        library.add("des", &memory, &manifest, &proof, &[]).unwrap();
        library.version += 1;
        fs::write(place.library(), library.to_bytes(Some(&secret))).unwrap();
        let out = place.read(&["verify"]);
        says(&out, 1, why);
        assert!(stderr(&out).contains("ace: des: "), "{}", stderr(&out));
    }
}

/// On a fresh machine nothing was seen yet: what counts there is compiled in, and raised with every library.
#[test]
fn the_oldest_version_that_is_taken_is_that_of_the_repository() {
    let listed = crate::common::ace(&["library", "list", "--json"], &[]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let keys = ace_library::KeySet::built_in().expect("keys");
    assert_eq!(listed["version"], keys.oldest(), "scripts/oldest.sh raises it in trusted.keys");
}

/// Whoever checks a signature by eye finds the fingerprint on a page, with who has the key.
#[test]
fn the_guide_names_the_key_that_is_compiled_in_and_who_has_it() {
    let page = include_str!("../../../../../docs/library.md");
    for key in ace_library::KeySet::built_in().expect("keys").keys() {
        let line = page.lines().find(|line| line.contains(&key.fingerprint()));
        let line = line.unwrap_or_else(|| panic!("docs/library.md does not name {}", key.fingerprint()));
        assert!(line.contains("maintainers hold its secret"), "{line}");
    }
}

#[test]
fn bits_lead_to_their_entry_in_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let ace = |args: &[&str]| crate::common::ace(args, &[]);
    let out = ace(&["library", "extract", "sm4", "--out", &at("")]);
    assert!(out.status.success(), "{}", stderr(&out));
    let out = ace(&["library", "extract", "--sets", "sm4_encrypt", "--out", &at("")]);
    assert!(out.status.success(), "{}", stderr(&out));
    let out = ace(&["image", "load", "colorlight-i9", "--print", "--out", &at("i9.bit")]);
    assert!(out.status.success(), "{}", stderr(&out));
    let key = ace_library::KeySet::built_in().unwrap().keys()[0].fingerprint();
    for (file, kind) in [
        ("sm4/sm4.bit", "this is the configuration sm4 "),
        ("i9.bit", "this is the image of a board colorlight-i9"),
        ("sm4_encrypt/sm4_encrypt.set", "this is the context set sm4_encrypt "),
    ] {
        let out = ace(&["inspect", &at(file)]);
        let text = stdout(&out);
        assert!(out.status.success() && text.contains(kind), "{text}{}", stderr(&out));
        assert!(text.contains("ace.lib, version ") && text.contains(&format!("signed by {key}")), "{text}");
        let set = file.ends_with(".set");
        assert_eq!(text.contains("the bits are their netlist, and that is its RTL"), !set, "{text}");
        let json: Value = serde_json::from_slice(&ace(&["inspect", "--json", &at(file)]).stdout).unwrap();
        assert_eq!(json["library"]["signed_by"], json!([key]), "{json}");
    }
    // One bit of it, and it is nothing that anybody has signed.
    let other = ace(&["inspect", "crates/ace-ecp5/tests/data/none.bit"]);
    assert_eq!(other.status.code(), Some(2));
    let mut set = fs::read(at("sm4_encrypt/sm4_encrypt.set")).unwrap();
    let last = set.len() / 2;
    set[last] ^= 1;
    fs::write(at("other.set"), set).unwrap();
    let out = ace(&["inspect", &at("other.set")]);
    assert!(stdout(&out).contains("holds nothing of these bits"), "{}", stdout(&out));
    // Where a library is named it has to be there; where none is, that is a remark.
    let out = ace(&["inspect", &at("sm4/sm4.bit"), "--library", &at("none.lib")]);
    says(&out, 2, "none.lib");
    let out = command().current_dir(folder.path()).args(["inspect", "sm4/sm4.bit"]).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
}
