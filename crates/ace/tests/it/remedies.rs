// SPDX-License-Identifier: Apache-2.0
//! Every suite as somebody's first SA: the default board protects with it, or names what does, and that does.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{TRAFFIC, ace, root, stderr, stdout};

/// An SA file with one outbound SA of the demo's hosts.
fn sa(cipher: &Value, auth: &Value) -> String {
    let number = |of: &Value, key: &str| of[key].as_u64().unwrap_or(0) as usize;
    let key = |bytes: usize| (0..bytes).map(|at| format!("{:02x}", (7 * at + 1) % 256)).collect::<String>();
    let own = key(number(cipher, "key") + number(cipher, "nonce"));
    let own = if own.is_empty() { String::new() } else { format!("key = \"{own}\"\n") };
    let auth = match auth["name"].as_str() {
        Some(name) => format!("auth = \"{name}\"\nauth_key = \"{}\"\n", key(number(auth, "key"))),
        None => String::new(),
    };
    // Those have the sequence number for an IV.
    let fresh = if cipher["implicit_iv"] == true { "fresh_key = true\n" } else { "" };
    format!(
        "default_policy = \"bypass\"\nallow_legacy = true\n[[sa]]\nname = \"first\"\nspi = 0x1001\ndirection = \"out\"\n\
         mode = \"tunnel\"\nlocal = \"192.0.2.1\"\nremote = \"192.0.2.2\"\n\
         selector = {{ src = \"10.0.0.1/32\", dst = \"10.0.0.2/32\" }}\ncipher = \"{}\"\n{own}{auth}{fresh}",
        cipher["name"].as_str().unwrap()
    )
}

/// Whether slots that hold the array have a model here.
fn has_array() -> bool {
    root().join("build/array/slot.so").exists()
}

#[test]
fn a_suite_that_the_board_does_not_compute_names_what_does() {
    let all: Value = serde_json::from_slice(&ace(&["sas", "suites", "--json"], &[]).stdout).unwrap();
    let list = |key: &str| all[key].as_array().unwrap().clone();
    let by = |of: &Value, engine: &str| of["computed_by"].as_array().unwrap().iter().any(|it| it == engine);
    let (ciphers, auths) = (list("ciphers"), list("auths"));
    let of = |all: &[Value], name: &str| all.iter().find(|it| it["name"] == name).unwrap().clone();
    let (aes, sha1) = (of(&ciphers, "aes-128-cbc"), of(&auths, "hmac-sha1-96"));
    let combined = |it: &Value| it["combined"] == true;
    let pairs = ciphers.iter().map(|it| (it.clone(), if combined(it) { Value::Null } else { sha1.clone() }));
    let pairs =
        pairs.chain(auths.iter().filter(|it| it["name"] != "none").map(|it| (aes.clone(), it.clone())));
    let folder = tempfile::tempdir().unwrap();
    let (sas, output) = (folder.path().join("sas.toml"), folder.path().join("out.pcap"));
    let nothing = folder.path().join("configurations");
    fs::create_dir(&nothing).unwrap();
    let (mut arrays, mut processors) = (0, 0);
    for (cipher, auth) in pairs {
        fs::write(&sas, sa(&cipher, &auth)).unwrap();
        let run = |more: &[&str]| {
            let paths: [&Path; 4] = ["--sas".as_ref(), &sas, "-o".as_ref(), &output];
            ace(&[&["run", TRAFFIC], more].concat(), &paths)
        };
        let what = format!("{} {}", cipher["name"], auth["name"]);
        // Nothing is built there: what is to be made is in the library, and named.
        let none = nothing.to_str().unwrap();
        let out = run(&["--configurations", none]);
        let text = stderr(&out);
        if cipher["name"] == "null" && out.status.code() == Some(0) {
            continue;
        }
        assert_eq!(out.status.code(), Some(2), "{what}: {text}");
        let lacks = [&cipher, &auth].into_iter().find(|it| !it.is_null() && !by(it, "fabric"));
        let Some(lacks) = lacks.filter(|it| it["name"] != "null") else {
            assert!(text.contains("make models NAMES="), "{what}: {text}");
            continue;
        };
        let own: Vec<&str> = text.lines().filter(|line| !line.contains("make models NAMES=")).collect();
        let own = own.join("\n");
        assert!(!own.contains("make models"), "{what}: nothing that it builds computes this: {own}");
        assert_eq!(own.contains("--slots array"), by(lacks, "array"), "{what}: {own}");
        assert_eq!(own.contains("--engine cpu"), by(lacks, "CPU"), "{what}: {own}");
        // And so it is.
        if by(lacks, "CPU") {
            processors += 1;
            let out = run(&["--engine", "cpu"]);
            assert_eq!(out.status.code(), Some(0), "{what}: {}", stderr(&out));
            assert!(stdout(&out).contains(" 101 protected"), "{what}: {}", stdout(&out));
        }
        if by(lacks, "array") && by(&cipher, "array") && has_array() && arrays < 3 {
            arrays += 1;
            let out = run(&["--slots", "array"]);
            assert_eq!(out.status.code(), Some(0), "{what}: {}", stderr(&out));
            assert!(stdout(&out).contains(" 101 protected"), "{what}: {}", stdout(&out));
        }
    }
    assert!(processors > 20 && (arrays == 3 || !has_array()), "{processors}, {arrays}");
}

#[test]
fn a_board_that_does_nothing_is_one_line_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (sas, output) = (folder.path().join("sas.toml"), folder.path().join("out.pcap"));
    let all: Value = serde_json::from_slice(&ace(&["sas", "suites", "--json"], &[]).stdout).unwrap();
    let gcm = all["ciphers"].as_array().unwrap().iter().find(|it| it["name"] == "aes-256-gcm-16").unwrap();
    fs::write(&sas, sa(gcm, &Value::Null)).unwrap();
    let report = folder.path().join("report");
    let paths: [&Path; 6] = ["--sas".as_ref(), &sas, "-o".as_ref(), &output, "--report".as_ref(), &report];
    let out = ace(&["run", TRAFFIC, "--engine", "auto"], &paths);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let text = stdout(&out);
    assert!(text.contains("did nothing") && text.contains("everything was computed by the CPU"), "{text}");
    assert!(!text.contains("0 loads") && !text.contains("0.0 %"), "tables of zeros: {text}");
    let why = stderr(&out);
    assert!(why.contains("this processor does what the board cannot: SA first: "), "{why}");
    assert!(why.contains("--slots array"), "{why}");
    let page = fs::read_to_string(report.join("report.html")).unwrap();
    assert!(page.contains("everything was computed by the CPU") && !page.contains("<figure"), "{page}");
}

#[test]
fn policies_in_help_are_those_that_a_command_takes() {
    for (command, more) in [
        (&["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "-o", "/dev/null"][..], "both"),
        (&["kat", "aes", "algorithms/aes/kat.csv"][..], ""),
        (&["gateway", "replay", "none.rec"][..], ""),
    ] {
        let words = if command[0] == "gateway" { &command[..2] } else { &command[..1] };
        let help = stdout(&ace(&[words, &["--help"]].concat(), &[]));
        let policy = help.split("--policy").nth(1).expect("it has one");
        let named = policy.split("possible values: ").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
        assert_eq!(named.contains("both"), !more.is_empty(), "{command:?}: {named}");
        let all = policy.split("\n      --").next().unwrap();
        assert_eq!(all.contains("both"), !more.is_empty(), "{command:?}: {all}");
        for name in named.split(", ") {
            let out = ace(&[command, &["--policy", name, "--engine", "cpu"]].concat(), &[]);
            let text = stderr(&out);
            assert!(
                !text.contains("possible values") && !text.contains("name one"),
                "{command:?} {name}: {text}"
            );
        }
    }
}

#[test]
fn software_that_is_not_there_is_no_configuration() {
    let need = ace_engine::Need::Hash { algorithm: &ace_engine::algorithm::AES };
    let why = ace_engine::software::explain(&ace_engine::EngineError::NoConfiguration { need });
    assert!(!why.contains("no configuration for") && why.contains("no software for"), "{why}");
    assert!(why.contains("algorithm.toml") && why.contains("--engine board"), "{why}");
}
