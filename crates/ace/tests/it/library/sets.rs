// SPDX-License-Identifier: Apache-2.0
//! Context sets of the array in a library: put in, looked at, taken out, and refused.

use std::fs;
use std::process::Output;

use ace_array::layout::Layout;
use ace_array::set::Set;
use ace_array::shape::Shape;
use ace_library::{Library, SecretKey, Trust};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Place;
use crate::common::{command, stderr, stdout};

const NAMES: [&str; 3] = ["aes128_encrypt", "des_decrypt", "sm4_encrypt_latency"];

impl Place {
    /// Compiles sets into a folder, as `ace array build` would.
    fn compile(&self) {
        for (name, source) in NAMES.into_iter().zip(["aes", "des", "sm4"]) {
            let (variant, goal) =
                name.strip_suffix("_latency").map_or((name, "throughput"), |variant| (variant, "latency"));
            let folder = self.at("sets").join(name);
            fs::create_dir_all(&folder).unwrap();
            let mut command = command();
            command.args(["array", "compile", source, "--variant", variant, "--for", goal, "-o"]);
            let out = command.arg(folder.join(format!("{name}.set"))).output().unwrap();
            assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        }
    }

    fn add_sets(&self, names: &[&str]) -> Output {
        let paths = [self.library(), self.at("key"), self.at("sets")];
        self.run(&[&["library", "add"], names].concat(), &["--library", "--secret", "--sets"], &paths)
    }

    /// Somebody whose key is trusted has put another set into the library all the same; the library's bytes.
    fn smuggle(&self, name: &str, good: &[u8], bad: &[u8]) -> Vec<u8> {
        let secret = SecretKey::parse(&fs::read_to_string(self.at("key")).unwrap()).unwrap();
        let mut library = Library::from_bytes(&fs::read(self.library()).unwrap(), &Trust::ANYBODY).unwrap();
        let manifest = String::from_utf8(library.set(name).unwrap().manifest().unwrap()).unwrap();
        let digest = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
        library.remove_set(name).unwrap();
        let manifest = manifest.replace(&digest(good), &digest(bad));
        library.add_set(name, bad, manifest.as_bytes()).unwrap();
        library.version += 1;
        let signed = library.to_bytes(Some(&secret));
        fs::write(self.library(), &signed).unwrap();
        signed
    }

    fn set(&self, name: &str) -> std::path::PathBuf {
        self.at("sets").join(name).join(format!("{name}.set"))
    }
}

#[test]
fn sets_go_in_and_come_out() {
    let place = Place::new();
    let before = place.json(&["list"]);
    assert_eq!(before["sets"], Value::Array(Vec::new()));
    place.compile();
    let out = place.add_sets(&NAMES);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let list = place.json(&["list"]);
    assert_eq!((&list["version"], list["configurations"].as_array().map(Vec::len)), (&2.into(), Some(2)));
    let aes = &list["sets"][0];
    assert_eq!((&aes["name"], &aes["algorithm"]), (&NAMES[0].into(), &"aes".into()));
    // Of each the list says what the set itself does.
    for (at, name) in NAMES.into_iter().enumerate() {
        let entry = &list["sets"][at];
        let set = Set::from_bytes(&fs::read(place.set(name)).unwrap(), &Shape::standard()).unwrap();
        let goal = if name.ends_with("_latency") { "latency" } else { "throughput" };
        assert_eq!((&entry["name"], &entry["made_for"]), (&name.into(), &goal.into()));
        assert_eq!(entry["decrypt"], name.contains("_decrypt"));
        let figures =
            ["cycles_per_block", "latency", "clocks_alone"].map(|what| entry[what].as_u64().unwrap());
        assert_eq!(
            figures,
            [set.ii() as u64, u64::from(set.latency), set.dependent_interval() as u64],
            "{name}"
        );
        assert!(figures[0] < figures[1] && figures[1] < figures[2], "{name}: {figures:?}");
    }
    let bytes = fs::read(place.set(NAMES[0])).unwrap();
    assert_eq!(aes["bytes"], bytes.len());
    assert_eq!(place.json(&["show", "--sets", NAMES[0]]), *aes);
    let text = stdout(&place.read(&["list"]));
    assert!(text.contains("2 configurations, 3 context sets") && text.contains("des_decrypt"), "{text}");
    assert!(text.contains(" latency ") && text.contains(" throughput "), "{text}");
    let out = place.read(&["verify"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains(", 3 context sets"), "{}", stdout(&out));
    let stats = place.json(&["stats"]);
    assert_eq!(stats["bytes"], fs::metadata(place.library()).unwrap().len());
    assert!(stats["context_set_bytes"].as_u64() > Some(bytes.len() as u64));

    let paths = [place.library(), place.at("key.pub"), place.at("out")];
    let flags = ["--library", "--key", "--out"];
    let out = place.run(&["library", "extract", "--sets", NAMES[0]], &flags, &paths);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let folder = place.at("out").join(NAMES[0]);
    assert_eq!(fs::read(folder.join(format!("{}.set", NAMES[0]))).unwrap(), bytes);
    assert!(folder.join("manifest.json").exists() && !place.at("out").join(NAMES[1]).exists());

    // Whoever builds anew says which sets go in.
    assert_eq!(place.write("remove", &["--sets", NAMES[1]]).status.code(), Some(0));
    assert_eq!(place.json(&["list"])["sets"].as_array().map(Vec::len), Some(2));
    let [gone, again] =
        [place.read(&["show", "--sets", NAMES[1]]), place.write("remove", &["--sets", NAMES[1]])];
    for out in [gone, again] {
        assert_eq!(out.status.code(), Some(2));
        assert!(stderr(&out).contains("there is no context set des_decrypt"), "{}", stderr(&out));
    }
}

#[test]
fn only_sets_of_the_compiler_go_in() {
    let place = Place::new();
    place.compile();
    let library = fs::read(place.library()).unwrap();
    let refused = |names: &[&str], text: &str| {
        let out = place.add_sets(names);
        assert_eq!(out.status.code(), Some(2), "{}", stdout(&out));
        assert!(stderr(&out).contains(text), "{text}: {}", stderr(&out));
        assert!(fs::read(place.library()).unwrap() == library);
    };
    refused(&["aes"], "has no context set aes");
    refused(&["md5"], "`ace array build` makes it");
    // Nothing is named: all are wanted.
    refused(&[], "cannot read");
    let good = fs::read(place.set(NAMES[0])).unwrap();
    // One of another algorithm, one that is cut short, and one for an array of another version.
    fs::copy(place.set(NAMES[1]), place.set(NAMES[0])).unwrap();
    refused(&[NAMES[0]], "the set is one for algorithm 0x02");
    fs::write(place.set(NAMES[0]), &good[..good.len() - 8]).unwrap();
    refused(&[NAMES[0]], NAMES[0]);
    let mut older = good.clone();
    older[8] ^= 1;
    fs::write(place.set(NAMES[0]), older).unwrap();
    refused(&[NAMES[0]], NAMES[0]);
    // One that a slot would take, and that the compiler did not make.
    let shape = Shape::standard();
    let mut other = Set::from_bytes(&good, &shape).unwrap();
    other.latency += 1;
    fs::write(place.set(NAMES[0]), other.to_bytes()).unwrap();
    refused(&[NAMES[0]], "array/sets.toml");
    // A second set where there is none, and the first one in its place.
    refused(&["des_encrypt_latency"], "has no context set des_encrypt_latency");
    fs::write(place.set(NAMES[0]), &good).unwrap();
    let first = place.at("first.set");
    let mut compile = command();
    compile.args(["array", "compile", "sm4", "--variant", "sm4_encrypt", "-o"]);
    assert_eq!(compile.arg(&first).output().unwrap().status.code(), Some(0));
    fs::copy(&first, place.set(NAMES[2])).unwrap();
    refused(&[NAMES[2]], "array/sets.toml");
}

/// A set that sets keys up is signed as that, and said to serve nothing.
#[test]
fn sets_that_set_keys_up_go_in_as_what_they_are() {
    let place = Place::new();
    let name = "aes256_decrypt_keys";
    fs::create_dir_all(place.at("sets").join(name)).unwrap();
    let compile = |source: &str, variant: &str| {
        let mut command = command();
        command.args(["array", "compile", source, "--variant", variant, "-o"]);
        let out = command.arg(place.set(name)).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        serde_json::from_slice::<Value>(&out.stdout).unwrap()
    };
    // The cipher under the name of its set-up.
    assert!(compile("aes", "aes256_decrypt")["sets_up"].is_null());
    let out = place.add_sets(&[name]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        stderr(&out).contains("the set is one for algorithm 0x01, decrypt true, keys false"),
        "{}",
        stderr(&out)
    );
    let made = compile("aes_keys", name);
    assert_eq!((&made["sets_up"], &made["key_words"]), (&"aes256_decrypt".into(), &0.into()));
    let out = place.add_sets(&[name]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let entry = place.json(&["show", "--sets", name]);
    assert_eq!((&entry["sets_up"], &entry["key_setup"]), (&"aes256_decrypt".into(), &"none".into()));
    assert_eq!(entry["can"], Value::Array(Vec::new()));
    assert_eq!(place.read(&["verify"]).status.code(), Some(0));
}

/// The set with the first word of a key that an ALU takes so many words further, and what is to be said of that.
fn forged(bytes: &[u8], by: u64) -> (Vec<u8>, String) {
    let shape = Shape::standard();
    let mut set = Set::from_bytes(bytes, &shape).unwrap();
    let layout = Layout::of(&shape);
    for (at, context) in set.contexts.iter_mut().enumerate() {
        for (unit, fields) in layout.all() {
            let Some([word, _, constant, used]) = fields.key else { continue };
            if (context.get(used), context.get(constant)) == (1, 0) {
                let moved = context.get(word) + by;
                (0..word.width).for_each(|bit| {
                    context.0[(word.offset + bit) / 64] &= !(1 << ((word.offset + bit) % 64))
                });
                context.put(word, moved);
                let what =
                    format!("context {at}, {} {}, word {moved} of the key", unit.kind.name(), unit.index);
                return (set.to_bytes(), what);
            }
        }
    }
    panic!("no element takes a key");
}

/// A set that is well-formed and would show another bank's key: no door lets it in, and each says which it is and where.
#[test]
fn a_set_that_reaches_for_anothers_key_is_refused_at_every_door() {
    let place = Place::new();
    place.compile();
    let name = NAMES[0];
    assert_eq!(place.add_sets(&NAMES[..2]).status.code(), Some(0));
    let good = fs::read(place.set(name)).unwrap();
    let (bad, what) = forged(&good, 192);
    let refused = |out: &Output, code: i32| {
        let text = stderr(out);
        assert!(
            out.status.code() == Some(code) && text.contains(&what) && text.contains(name),
            "{what}: {text}"
        );
    };
    fs::write(place.set(name), &bad).unwrap();
    let mut check = command();
    refused(&check.args(["array", "check"]).arg(place.set(name)).output().unwrap(), 2);
    refused(&place.add_sets(&[name]), 2);

    let signed = place.smuggle(name, &good, &bad);
    refused(&place.read(&["verify"]), 1);
    let paths = [place.library(), place.at("other"), place.at("key.pub")];
    for what in ["sign", "recode"] {
        refused(&place.run(&["library", what], &["--library", "--secret", "--key"], &paths), 2);
    }
    refused(&place.add_sets(&NAMES[2..]), 2);
    refused(&place.write("remove", &["--sets", NAMES[1]]), 2);
    assert!(fs::read(place.library()).unwrap() == signed);
    // It can be taken out, and then all is well.
    assert_eq!(place.write("remove", &["--sets", name]).status.code(), Some(0));
    let out = place.read(&["verify"]);
    assert!(
        stdout(&out).contains(", 1 context set, all within their own block and bank"),
        "{}",
        stdout(&out)
    );
    assert_eq!(place.json(&["verify"])["sets_within_bounds"], 1);
}

/// A set that keeps to its own and computes something else than its source: nobody signs it, and whoever verifies a library
/// that has it is told so.
#[test]
fn a_set_that_is_not_what_its_source_says_is_refused() {
    let place = Place::new();
    place.compile();
    let name = NAMES[1];
    assert_eq!(place.add_sets(&NAMES[..2]).status.code(), Some(0));
    let out = place.read(&["verify"]);
    let same = "2 of 2 sets are what their sources say, for all keys and blocks";
    assert!(stdout(&out).contains(same), "{}", stdout(&out));
    assert_eq!(place.json(&["verify"])["sets_as_sources"], 2);

    let good = fs::read(place.set(name)).unwrap();
    let mut set = Set::from_bytes(&good, &Shape::standard()).unwrap();
    set.tables[1][0][17] ^= 1 << 9;
    let bad = set.to_bytes();
    let signed = place.smuggle(name, &good, &bad);
    let refused = |out: &Output, code: i32| {
        let text = stderr(out) + &stdout(out);
        let told = text.contains(name) && text.contains("what the source says");
        assert!(out.status.code() == Some(code) && told, "{text}");
    };
    refused(&place.read(&["verify"]), 1);
    let json: Value = serde_json::from_str(&stdout(&place.read(&["verify", "--json"]))).unwrap();
    assert_eq!((&json["sets"], &json["sets_as_sources"]), (&2.into(), &1.into()));
    let paths = [place.library(), place.at("other"), place.at("key.pub")];
    refused(&place.run(&["library", "sign"], &["--library", "--secret", "--key"], &paths), 2);
    assert!(fs::read(place.library()).unwrap() == signed);

    // The same of files. Of one whose source nobody knows nothing is said.
    let validate = |file: &std::path::Path, more: &[&str]| {
        command().args(["array", "validate"]).arg(file).args(more).output().unwrap()
    };
    assert_eq!(validate(&place.set(name), &[]).status.code(), Some(0));
    fs::write(place.set(name), &bad).unwrap();
    refused(&validate(&place.set(name), &[]), 1);
    let own = place.at("own.set");
    fs::write(&own, &good).unwrap();
    let out = validate(&own, &[]);
    let text = stdout(&out);
    assert!(out.status.code() == Some(1) && text.contains("its source is not known"), "{text}");
    assert!(text.contains("0 of 1 sets are"), "{text}");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../algorithms/des/array/des.ace");
    let out = validate(&own, &["--source", source, "--variant", name]);
    assert_eq!(out.status.code(), Some(0), "{}", stdout(&out));
    refused(&validate(&place.set(name), &["--source", source, "--variant", name]), 1);
}
