// SPDX-License-Identifier: Apache-2.0
//! Manifests and what is found in them.

use std::path::Path;

use crate::common::Build;
use ace_board::manifest::ManifestReason;
use ace_board::{Catalogue, Configuration};
use ace_engine::algorithm::{AES, DES, MD5, TDES};
use ace_engine::{Algorithm, Direction, Mode, Need};
use proptest::prelude::*;

fn cipher(algorithm: &'static Algorithm, mode: Mode, direction: Direction, key_len: usize) -> Need {
    Need::Cipher { algorithm, mode, direction, key_len }
}

fn manifest(build: &Build) -> String {
    std::fs::read_to_string(build.folder.path().join("configurations/aes/manifest.json")).unwrap()
}

fn parse(text: &str) -> Result<Configuration, ManifestReason> {
    Configuration::from_json(text.as_bytes(), Path::new("/f"))
}

#[test]
fn needs_find_what_serves_them() {
    let catalogue = Build::new().catalogue();
    let name = |need: Need| {
        let found = catalogue.candidates(&need, "LFE5U-45F");
        found.first().map(|c| catalogue.configurations[*c].name.clone())
    };
    let cbc = |algorithm, key| name(cipher(algorithm, Mode::Cbc, Direction::Decrypt, key));
    assert_eq!(cbc(&AES, 24).as_deref(), Some("aes"));
    assert_eq!(cbc(&AES, 8), None);
    assert_eq!(cbc(&DES, 8).as_deref(), Some("des"));
    assert_eq!(cbc(&TDES, 24).as_deref(), Some("des"));
    assert_eq!(name(Need::Hmac { algorithm: &MD5 }).as_deref(), Some("md5"));
    assert!(catalogue.candidates(&Need::Hash { algorithm: &MD5 }, "LFE5U-25F").is_empty());
    let reason = catalogue.why_none(&Need::Hash { algorithm: &MD5 }, "LFE5U-25F");
    assert!(reason.contains("md5 is for another device than LFE5U-25F"), "{reason}");
}

#[test]
fn an_encryptor_alone_still_does_both_directions_of_ctr_and_ofb() {
    let text = manifest(&Build::new()).replace(r#""encrypt","decrypt""#, r#""encrypt""#);
    let configuration = parse(&text).unwrap();
    let serves = |mode, direction| configuration.serves(&cipher(&AES, mode, direction, 16));
    assert!(serves(Mode::Cbc, Direction::Encrypt) && !serves(Mode::Cbc, Direction::Decrypt));
    for mode in [Mode::Ctr, Mode::Ofb] {
        assert!(serves(mode, Direction::Encrypt) && serves(mode, Direction::Decrypt));
    }
    for mode in [Mode::Cfb, Mode::Cfb8] {
        assert!(serves(mode, Direction::Encrypt) && !serves(mode, Direction::Decrypt));
    }
}

#[test]
fn the_fastest_comes_first() {
    let build = Build::new();
    let rate = r#""throughput_mbps":[{"algorithm":"aes","mode":"cbc","direction":"encrypt","key_bytes":16,"mbps":900.0}],"#;
    let folder = build.folder.path().join("configurations/zzz");
    std::fs::create_dir_all(&folder).unwrap();
    let text = manifest(&build)
        .replace(r#""schema":1,"name":"aes","#, &format!(r#""schema":1,"name":"zzz",{rate}"#));
    std::fs::write(folder.join("manifest.json"), text).unwrap();
    let catalogue = build.catalogue();
    let found = catalogue.candidates(&cipher(&AES, Mode::Cbc, Direction::Encrypt, 16), "LFE5U-45F");
    let names: Vec<_> = found.iter().map(|c| catalogue.configurations[*c].name.as_str()).collect();
    assert_eq!(names, ["zzz", "aes"]);
}

#[test]
fn a_variant_comes_behind_its_base() {
    let build = Build::new();
    let folder = build.folder.path().join("configurations/aaa");
    std::fs::create_dir_all(&folder).unwrap();
    let variant = r#""schema":1,"variant_of":"aes","kept":{"u_lut":1},"name":"aaa""#;
    let text = manifest(&build).replace(r#""schema":1,"name":"aes""#, variant);
    std::fs::write(folder.join("manifest.json"), text).unwrap();
    let catalogue = build.catalogue();
    let found = catalogue.candidates(&cipher(&AES, Mode::Cbc, Direction::Encrypt, 16), "LFE5U-45F");
    let names: Vec<_> = found.iter().map(|c| catalogue.configurations[*c].name.as_str()).collect();
    assert_eq!(names, ["aes", "aaa"]);
}

#[test]
fn what_is_wrong_with_a_manifest_is_said() {
    let build = Build::new();
    let good = manifest(&build);
    assert!(parse(&good).is_ok());
    let error = |from: &str, to: &str| {
        assert!(good.contains(from));
        parse(&good.replace(from, to)).unwrap_err().to_string()
    };
    assert!(error(r#""schema":1"#, r#""schema":2"#).contains("make models"));
    // Names are parts of paths.
    for name in ["../aes", ".aes", "a/b", "", "AES"] {
        let why = error(r#""name":"aes""#, &format!(r#""name":"{name}""#));
        assert!(why.contains("is no name for a configuration"), "{why}");
    }
    // It would do all that its base does.
    assert!(error(r#""schema":1"#, r#""schema":1,"variant_of":"des""#).contains("make models"));
    assert!(error(r#""fmax_mhz":80.0"#, r#""fmax_mhz":0"#).contains("makes no sense"));
    assert!(error(r#""memory_sha256":""#, r#""memory_sha256":"x"#).contains("memory_sha256"));
    assert!(error(r#""sha256":""#, r#""sha256":"é"#).contains("bad sha256"));
    assert!(error(r#""device""#, r#""devise""#).contains("device"));
    assert!(error(r#""ofb"]"#, r#""xts"]"#).contains("`modes` names the unknown \"xts\""));

    // The others are still there, and what is missing is explained by it.
    let file = build.folder.path().join("configurations/aes/manifest.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("encrypt", "forth")).unwrap();
    let problems = Catalogue::find(Some(build.folder.path())).problems;
    assert!(
        matches!(&problems[..], [one] if one.contains("aes/manifest.json: aes: `directions`")),
        "{problems:?}"
    );
    std::fs::write(&file, "{").unwrap();
    let catalogue = Catalogue::find(Some(build.folder.path()));
    assert_eq!((catalogue.configurations.len(), catalogue.problems.len()), (3, 1));
    let reason = catalogue.why_none(&Need::Hash { algorithm: &AES }, "LFE5U-45F");
    assert!(reason.contains("manifest.json") && reason.contains("make models"), "{reason}");
}

proptest! {
    #[test]
    fn nothing_makes_a_manifest_panic(cut in 0usize..2000, at in 0usize..2000, byte: u8) {
        let mut text = manifest_once().clone().into_bytes();
        text.truncate(cut.max(1));
        let at = at % text.len();
        text[at] = byte;
        let _ = Configuration::from_json(&text, Path::new(""));
    }
}

fn manifest_once() -> &'static String {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    TEXT.get_or_init(|| manifest(&Build::new()))
}
