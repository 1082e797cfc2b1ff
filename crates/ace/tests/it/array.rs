// SPDX-License-Identifier: Apache-2.0
//! The digests of algorithms/*/array/sets.toml are those of what the compiler makes, and sets compute what the CPU engine does.

use std::process::Command;

/// Those that compile at once; with `ACE_TESTS=all` every one.
const QUICK: [&str; 10] = [
    "aes128_encrypt",
    "aes256_decrypt",
    "des_encrypt",
    "tdes_decrypt",
    "idea_encrypt",
    "mars_decrypt",
    "rc6_encrypt",
    "twofish128_encrypt",
    "sm4_decrypt",
    "md5",
];

/// Key set-up, of those as well.
const SET_UP: [&str; 4] =
    ["aes128_encrypt_keys", "cast128_decrypt_keys", "des_encrypt_keys", "twofish256_decrypt_keys"];

#[test]
fn sets_are_those_whose_digests_are_known() {
    let known = ace_array::algorithms::SETS.iter().flat_map(|(_, text)| text.lines());
    let known: Vec<&str> = known.filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let all = std::env::var_os("ACE_TESTS").is_some_and(|what| what == "all");
    let quick = [&QUICK[..], &SET_UP].concat();
    let names: &[&str] = if all { &[] } else { &quick };
    let made = Command::new(env!("CARGO_BIN_EXE_ace"))
        .args(["array", "build", "--digests"])
        .args(names)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made = String::from_utf8(made.stdout).unwrap();
    for line in made.lines() {
        assert!(known.contains(&line), "sets.toml has another digest than {line}");
    }
    // Of a variant one set or two.
    let asked = |line: &&&str| {
        let name = line.split(' ').next().unwrap_or_default();
        all || quick.contains(&name.strip_suffix("_latency").unwrap_or(name))
    };
    let wanted = known.iter().filter(asked).count();
    assert!(wanted > names.len(), "no variant has a second set");
    assert_eq!(made.lines().count(), wanted, "sets.toml has other variants than the compiler");
}

/// With `ACE_TESTS=all` a million blocks of every variant, of sets for either goal.
#[test]
fn random_blocks_come_out_as_on_the_cpu() {
    let all = std::env::var_os("ACE_TESTS").is_some_and(|what| what == "all");
    let (names, blocks): (&[&str], _) = if all { (&[], 1_000_000) } else { (&QUICK, 2000) };
    for goal in ["throughput", "latency"] {
        let run = Command::new(env!("CARGO_BIN_EXE_ace"))
            .args(["array", "verify", "--json", "--for", goal, "--blocks", &blocks.to_string()])
            .args(names)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&[run.stdout, run.stderr].concat()));
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&run.stdout).unwrap();
        assert!(rows.iter().all(|row| row["blocks"] == blocks && row["differs"].is_null()), "{rows:?}");
        assert!(if all { rows.len() > QUICK.len() } else { rows.len() == QUICK.len() });
    }
}

#[test]
fn what_is_no_variant_is_not_verified() {
    let run = Command::new(env!("CARGO_BIN_EXE_ace")).args(["array", "verify", "seprent"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("serpent"));
}

/// The guide's example, in its words, and with a second quad; variants that have as few contexts as their elements or their
/// sources allow; and a set, of which nothing of the kind can be said.
#[test]
fn what_is_the_least_is_said() {
    let guide = include_str!("../../../../docs/array.md");
    let (_, rest) = guide.split_once("algorithm small;").unwrap();
    let (text, rest) = rest.split_once("\n\nace array check small.ace --exact 60\n").unwrap();
    let (wanted, _) = rest.split_once("\n```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("small.ace"), format!("algorithm small;{text}\n")).unwrap();
    let shape = include_str!("../../../../array/shape.toml");
    assert!(shape.contains("quads = 1"), "the guide's example is about one quad");
    std::fs::write(path("two-quads.toml"), shape.replace("quads = 1", "quads = 2")).unwrap();
    let ace = |args: &[&str]| {
        let ran = Command::new(env!("CARGO_BIN_EXE_ace")).arg("array").args(args).output().unwrap();
        (ran.status.success(), String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
    };
    let small = path("small.ace");
    let (well, output, _) = ace(&["check", &small, "--exact", "60"]);
    assert_eq!((well, output.trim_end()), (true, wanted));
    let (well, output, _) = ace(&["check", &small, "--exact", "60", "--shape", &path("two-quads.toml")]);
    assert_eq!((well, output.trim_end()), (true, "one: 2 contexts, the least: its quads alone take 2"));
    let (well, output, _) = ace(&["check", "sha256", "--exact", "60"]);
    assert!(well && output.contains("the least: the source gives an operation context 255"), "{output}");
    let (well, output, _) = ace(&["check", "idea", "--exact", "60"]);
    assert!(
        well && output.contains("idea_encrypt: 140 contexts, the least: its ALUs alone take 140"),
        "{output}"
    );
    let set = path("small.set");
    assert!(ace(&["compile", &small, "-o", &set]).0);
    let (well, _, output) = ace(&["check", &set, "--exact", "60"]);
    assert!(!well && output.contains("--exact is for sources"), "{output}");
}
