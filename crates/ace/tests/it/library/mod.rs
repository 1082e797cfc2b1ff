// SPDX-License-Identifier: Apache-2.0
//! `ace library` as a user meets it: the life of a library, and what is refused.

mod disk;
mod files;
mod sets;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{ace, command, stderr, stdout};
use ace_ecp5::device::LFE5U_45F;
use ace_ecp5::memory::EBR_BYTES;
use ace_ecp5::{ConfigMemory, Emit};
use ace_library::PublicKey;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A folder with two configurations, keys, and a library.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for (number, name) in ["aes", "des"].into_iter().enumerate() {
            place.configuration(name, number as u8);
        }
        for key in ["key", "other"] {
            let out = ace(&["library", "keygen"], &[&place.at(key)]);
            assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        }
        let out = place.write("build", &[]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn library(&self) -> PathBuf {
        self.at("a.lib")
    }

    /// What the flow would have built.
    fn configuration(&self, name: &str, seed: u8) {
        self.built(name, seed, None);
    }

    /// The same with 16 frames of another one changed.
    fn variant(&self, name: &str, (of, seed): (&str, u8)) {
        self.built(name, seed, Some(of));
    }

    fn built(&self, name: &str, seed: u8, of: Option<&str>) {
        let folder = self.at("built").join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut memory = ConfigMemory::new(&LFE5U_45F);
        // What variants change is not dense.
        for number in (0..1000usize).chain(1016..3000) {
            let frame: Vec<u8> = (0..106)
                .map(|i| if i == 0 { 0 } else { (i * (number + 1) / 7) as u8 & (number as u8 ^ seed) })
                .collect();
            assert!(memory.set_frame(number, &frame));
        }
        for number in of.iter().flat_map(|_| 1000..1016) {
            let frame: Vec<u8> = (0..106).map(|i| if i == 50 { 0x18 } else { 0 }).collect();
            assert!(memory.set_frame(number, &frame));
        }
        assert!(memory.set_ebr(4, &vec![seed; EBR_BYTES]));
        let bits = Emit { compress: true, ..Emit::default() }.whole(&memory);
        let file = |name: &str, bytes: &[u8]| {
            fs::write(folder.join(name), bytes).unwrap();
            serde_json::json!({ "path": name, "bytes": bytes.len(), "sha256": hex::encode(Sha256::digest(bytes)) })
        };
        let manifest = serde_json::json!({
            "schema": 1, "name": name, "summary": format!("a test called {name}"), "can": [],
            "device": "LFE5U-45F", "fmax_mhz": 100.0, "area": { "lut4": 4385 },
            "files": { "bitstream": file(&format!("{name}.bit"), &bits), "model": file("model.so", b"none") },
            "memory_sha256": hex::encode(memory.digest()), "variant_of": of, "unpinned_fmax_mhz": 102.0,
            "kept": { "u_lut": seed }, "netlist_sha256": "22".repeat(32), "recipe": "5a".repeat(32),
            "elaborated_sha256": "66".repeat(32), "generated_sha256": "77".repeat(32),
            "timing": { "report_sha256": "44".repeat(32), "design_sha256": "55".repeat(32) },
        });
        fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
        self.record(name, |_| {});
    }

    /// What the flow would say of a proof of these bits, edited.
    fn record(&self, name: &str, edit: impl FnOnce(&mut Value)) {
        let folder = self.at("built").join(name);
        let manifest = fs::read(folder.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_slice(&manifest).unwrap();
        let mut record = serde_json::json!({
            "format": ace_board::record::FORMAT, "result": "proven", "points": 9, "by_structure": 9, "memory_sha256": manifest["memory_sha256"],
            "netlist_sha256": manifest["netlist_sha256"],
            "control": { "result": "refuted", "points_refuted": 1, "memory_sha256": "33".repeat(32) },
        });
        edit(&mut record);
        fs::write(folder.join("proof.json"), record.to_string()).unwrap();
    }

    fn write(&self, what: &str, names: &[&str]) -> Output {
        let built: &[&str] = if what == "remove" { &[] } else { &["--configurations"] };
        let mut paths = vec![self.library(), self.at("key")];
        paths.extend(built.iter().map(|_| self.at("built")));
        let flags = [&["--library", "--secret"], built].concat();
        self.run(&[&["library", what], names].concat(), &flags, &paths)
    }

    fn read(&self, arguments: &[&str]) -> Output {
        let paths = [self.library(), self.at("key.pub")];
        self.run(&[&["library"], arguments].concat(), &["--library", "--key"], &paths)
    }

    fn run(&self, arguments: &[&str], flags: &[&str], paths: &[PathBuf]) -> Output {
        let mut command = command();
        command.env("XDG_STATE_HOME", self.at("state")).args(arguments);
        for (flag, path) in flags.iter().zip(paths) {
            command.arg(flag).arg(path);
        }
        command.output().unwrap()
    }

    fn fingerprint(&self, key: &str) -> String {
        let text = fs::read_to_string(self.at(&format!("{key}.pub"))).unwrap();
        PublicKey::parse(&text).unwrap().fingerprint()
    }

    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let out = self.read(&[arguments, &["--json"]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        serde_json::from_slice(&out.stdout).unwrap()
    }
}

#[test]
fn the_life_of_a_library() {
    let place = Place::new();
    let list = place.json(&["list"]);
    assert_eq!((&list["version"], &list["configurations"][1]["name"]), (&1.into(), &"des".into()));
    let before = place.json(&["show", "aes"]);
    assert_eq!(before["manifest"]["summary"], "a test called aes");

    place.configuration("md5", 9);
    place.record("md5", |record| record["by"] = "nobody".into());
    assert_eq!(place.write("add", &["md5"]).status.code(), Some(0));
    let md5 = place.json(&["show", "md5"]);
    assert_eq!((&md5["proof"]["by"], &md5["has_proof"]), (&"nobody".into(), &true.into()));
    assert_eq!(before["has_proof"], true);
    assert_eq!(place.write("remove", &["des"]).status.code(), Some(0));
    let out = place.read(&["verify", "--require", "3", "--device", "LFE5U-45F"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let by = place.fingerprint("key");
    let expected = format!(
        "version 3, signed by {by}, 2 configurations, all as signed and proven, 0 of them to the RTL"
    );
    assert!(stdout(&out).contains(&expected), "{}", stdout(&out));
    let after = place.json(&["show", "aes"]);
    assert_eq!(after["stored_frame_bytes"], before["stored_frame_bytes"]);
    let stats = place.json(&["stats"]);
    assert_eq!(stats["configurations"][0]["frame_bytes"], 1_003_820);
    assert_eq!(stats["bytes"], fs::metadata(place.library()).unwrap().len());
    assert!(
        stdout(&place.read(&["stats", "--measure", "0.01", "--format", "md"]))
            .contains("| aes | – | simulation | 10.0 |")
    );
    let list = stdout(&place.read(&["list"]));
    assert!(list.contains("a test called md5") && list.contains(&format!("signed by {by}")), "{list}");

    // Building again makes the next version.
    assert_eq!(place.write("build", &["aes"]).status.code(), Some(0));
    assert_eq!(place.json(&["list"])["version"], 4);
}

#[test]
fn variants_are_stored_over_their_skeleton() {
    let place = Place::new();
    let alone = fs::metadata(place.library()).unwrap().len();
    // Its name comes before that of its skeleton, which is the one that is stored whole all the same.
    place.variant("a-variant", ("aes", 0));
    place.variant("z-variant", ("des", 1));
    assert_eq!(place.write("build", &[]).status.code(), Some(0));
    let show = |name: &str| place.json(&["show", name]);
    assert_eq!(show("a-variant")["base"], "aes");
    assert_eq!(show("aes")["variants"], serde_json::json!(["a-variant"]));
    let text = stdout(&place.read(&["show", "aes"]));
    for line in [["variants", "a-variant"], ["base", "–"], ["partial_frames", "16"], ["has_proof", "true"]]
    {
        assert!(text.lines().any(|l| l.split_whitespace().eq(line)), "{line:?}: {text}");
    }
    assert_eq!(show("a-variant")["frames_stored"], 16);
    // Those that are not blank.
    assert_eq!(show("aes")["frames_stored"], 2961);
    assert!(show("aes")["base"].is_null());
    assert!(show("a-variant")["stored_frame_bytes"].as_u64() < Some(500), "{}", show("a-variant"));
    assert!(fs::metadata(place.library()).unwrap().len() < alone + 3000);
    assert_eq!(place.read(&["verify"]).status.code(), Some(0));
    let domains = place.json(&["domains"]);
    // Each is made of the other by the same few frames.
    let names: Vec<_> = domains["members"].as_array().unwrap().iter().map(|m| m["name"].clone()).collect();
    assert_eq!(names, ["aes", "a-variant", "des", "z-variant"]);
    for (at, skeleton, other, changed) in [(0, None, "a-variant", 0), (1, Some("aes"), "aes", 16)] {
        let member = &domains["members"][at];
        assert_eq!(member["skeleton"].as_str(), skeleton);
        assert_eq!((&member["frames_changed"], &member["frames"]), (&changed.into(), &16.into()));
        assert_eq!(member["partial_over"], serde_json::json!([other]));
        assert_eq!(member["whole_over"], serde_json::json!([]));
        assert!(member["stored_bytes"].as_u64().is_some_and(|bytes| (1..1536).contains(&bytes)), "{member}");
        let port = member["partial"]["port_bytes"].as_u64().unwrap();
        assert!((16 * 109..16 * 109 + 100).contains(&port), "{port}");
        let ms = |load: &str, port: &str| member[load][port].as_f64().unwrap();
        assert!(ms("partial", "spi_ms") < 1.0 && ms("whole", "spi_ms") > 10.0, "{member}");
        assert!(ms("partial", "parallel_ms") < 0.2 && ms("whole", "parallel_ms") > 2.0, "{member}");
        // Of 102 MHz the skeleton has 100 because of its pins.
        let cost = member["fmax_cost_percent"].as_f64().unwrap();
        assert!((1.9..2.0).contains(&cost), "{cost}");
    }
    let table = stdout(&place.read(&["domains", "--format", "md"]));
    assert!(table.contains("| a-variant | aes | 16 |") && table.contains("| aes | – | 0 |"), "{table}");
    assert!(
        stdout(&place.read(&["stats", "--measure", "0.01", "--format", "md"]))
            .contains("| a-variant | aes | simulation | 10.0 |")
    );

    let out = place.write("remove", &["aes"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("a-variant is stored as what changes of aes"), "{}", stderr(&out));
    // Together they go in any order, and twice is once.
    assert_eq!(place.write("remove", &["aes", "a-variant", "aes"]).status.code(), Some(0));
    // Added once more, over what is there.
    assert_eq!(place.write("remove", &["z-variant"]).status.code(), Some(0));
    assert_eq!(place.write("add", &["z-variant"]).status.code(), Some(0));
    assert_eq!(show("z-variant")["base"], "des");
    assert_eq!(place.read(&["verify"]).status.code(), Some(0));
}

/// Whoever asks for configurations of one device takes a library that has images of boards with other parts as well.
#[test]
fn images_of_boards_are_no_configurations_for_another_device() {
    let list = |device: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut ace = Command::new(env!("CARGO_BIN_EXE_ace"));
        ace.current_dir(root).args(["library", "list", "--allow-older", "--device", device]).output().unwrap()
    };
    let taken = list("LFE5U-45F");
    assert!(taken.status.success(), "{}", stderr(&taken));
    let refused = stderr(&list("LFE5U-25F"));
    assert!(refused.contains("3des is made for LFE5U-45F, not for LFE5U-25F"), "{refused}");
}

#[test]
fn refusals_say_why_and_what_to_do() {
    let place = Place::new();
    let says = |out: Output, code: i32, text: &str| {
        assert_eq!(out.status.code(), Some(code), "{}", stderr(&out));
        assert!(stderr(&out).contains(text), "{text}: {}", stderr(&out));
    };
    says(place.read(&["show", "rc6"]), 2, "`ace library list` says what there is");
    says(place.write("add", &["rc6"]), 2, "builds it");
    says(place.write("remove", &["rc6"]), 2, "there is no rc6");
    says(place.read(&["verify", "--require", "2"]), 1, "older than the version 2");
    says(place.read(&["verify", "--device", "LFE5U-25F"]), 1, "made for LFE5U-45F, not for LFE5U-25F");
    let other = [place.library(), place.at("other.pub")];
    says(
        place.run(&["library", "verify"], &["--library", "--key"], &other),
        1,
        "not by the key that is trusted",
    );
    // Without a key those count that are compiled in.
    says(place.run(&["library", "verify"], &["--library"], &other), 1, "--key FILE");
    says(place.run(&["library", "keygen"], &[], &[]), 2, "keygen");
    says(ace(&["library", "keygen"], &[&place.at("key")]), 2, "is there already");
    // Neither file is overwritten.
    let public = fs::read(place.at("key.pub")).unwrap();
    fs::rename(place.at("key"), place.at("kept")).unwrap();
    says(ace(&["library", "keygen"], &[&place.at("key")]), 2, "is there already");
    assert!(fs::read(place.at("key.pub")).unwrap() == public && !place.at("key").exists());
    fs::rename(place.at("kept"), place.at("key")).unwrap();
    fs::rename(place.at("key.pub"), place.at("kept")).unwrap();
    says(ace(&["library", "keygen"], &[&place.at("key")]), 2, "cannot write");
    fs::rename(place.at("kept"), place.at("key.pub")).unwrap();
    says(
        ace(&["library", "keygen"], &[&place.at("nowhere/key")]),
        2,
        "No such file or directory (os error 2);",
    );
    let secret = [place.library(), place.at("key.pub")];
    says(place.run(&["library", "remove", "aes"], &["--library", "--secret"], &secret), 2, "no secret key");

    let unsigned = [place.library(), place.at("built")];
    let flags = ["--library", "--configurations"];
    assert_eq!(place.run(&["library", "build", "--unsigned"], &flags, &unsigned).status.code(), Some(0));
    says(place.read(&["list"]), 2, "`ace library sign` signs it");

    let whole = fs::read(place.library()).unwrap();
    fs::write(place.library(), &whole[..whole.len() / 2]).unwrap();
    says(place.read(&["list"]), 2, "truncated");
    // One of another format is made anew, under a higher version.
    let mut old = whole;
    old[8] = 2;
    fs::write(place.library(), &old).unwrap();
    says(place.read(&["list"]), 2, "`ace library build` makes it anew");
    says(place.write("add", &["aes"]), 2, "`ace library build` makes it anew");
    assert_eq!(place.write("build", &[]).status.code(), Some(0));
    assert_eq!(place.json(&["list"])["version"], 3);
    // What is no library is not overwritten.
    fs::write(place.library(), b"my diary").unwrap();
    says(place.write("build", &[]), 2, "no ACE library");
    assert_eq!(fs::read(place.library()).unwrap(), b"my diary");
    fs::remove_file(place.library()).unwrap();
    for what in ["verify", "list", "stats", "domains"] {
        says(place.read(&[what]), 2, "there is no library");
    }
    for what in ["add", "remove"] {
        says(place.write(what, &["aes"]), 2, "`ace library build` makes one");
    }
    fs::create_dir(place.library()).unwrap();
    says(place.read(&["verify"]), 2, "cannot read");
}

#[test]
fn what_is_extracted_is_what_was_put_in() {
    let place = Place::new();
    let extract = |names: &[&str]| {
        let paths = [place.library(), place.at("key.pub"), place.at("out")];
        let out =
            place.run(&[&["library", "extract"], names].concat(), &["--library", "--key", "--out"], &paths);
        (out.status.code(), stderr(&out))
    };
    let read = |path: &str| fs::read(place.at(path)).unwrap();
    let (code, says) = extract(&["des", "des"]);
    assert_eq!(code, Some(0), "{says}");
    // What the images are not for is said.
    assert!(says.contains("bare device") && says.contains("LFE5U-45F-6BG381C"), "{says}");
    assert_eq!(fs::read_dir(place.at("out/des")).unwrap().count(), 3);
    assert!(!place.at("out/aes").exists());
    assert_eq!(extract(&[]).0, Some(0));
    for name in ["aes", "des"] {
        for file in [&format!("{name}.bit"), "manifest.json", "proof.json"] {
            let [out, built] = ["out", "built"].map(|folder| read(&format!("{folder}/{name}/{file}")));
            assert!(out == built, "{name} {file}");
        }
    }

    let (code, says) = extract(&["rc6"]);
    assert_eq!(code, Some(2));
    assert!(says.contains("`ace library list` says what there is"), "{says}");
}
