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
    let guide = include_str!("../../../../docs/array-compiler.md");
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

/// The clocks of a load are those of the manifest, for a set of each kind.
#[test]
fn a_run_and_a_manifest_have_one_figure_of_a_load() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("a.set").display().to_string();
    for (name, variant, key, block) in [
        ("des", "des_encrypt", "0001020304050607", "0011223344556677"),
        ("sha1", "sha1", "", &"00".repeat(64)),
        ("sm4", "sm4_encrypt", &"01".repeat(16), &"02".repeat(16)),
    ] {
        let ace = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_ace")).args(args).output().unwrap();
        let made = ace(&["array", "compile", name, "--variant", variant, "-o", &set]);
        let manifest: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
        let ran = ace(&["array", "run", name, "--variant", variant, "--key", key, block]);
        let words = String::from_utf8(ran.stderr).unwrap();
        assert!(words.trim_end().ends_with(&format!("load {} clocks", manifest["load_clocks"])), "{words}");
    }
}

#[test]
fn an_operator_that_the_array_lacks_is_called_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.ace");
    for (mark, what) in
        [("/", "divides"), ("%", "divides"), ("<", "compares"), ("==", "compares"), ("&&", "decides")]
    {
        let text = format!(
            "algorithm mine;\nvariant one {{}}\ninput block: word[2] big;\nrun -> word[2] big {{\n  return \
             [block[0] {mark} block[1], block[1]];\n}}\n"
        );
        std::fs::write(&file, text).unwrap();
        let ran =
            Command::new(env!("CARGO_BIN_EXE_ace")).args(["array", "check"]).arg(&file).output().unwrap();
        let all = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
        assert!(all.contains(&format!("`{mark}` of a word")), "{mark}: {all}");
        assert!(all.contains(&format!("the array {what} nothing")), "{mark}: {all}");
        assert_ne!(ran.status.code(), Some(0));
    }
}

/// A source of one's own goes the whole way without an edit of anything: sets, board, known answers, a capture.
#[test]
fn a_source_of_ones_own_reaches_the_board_and_known_answers() {
    let folder = tempfile::tempdir().unwrap();
    let root = crate::common::root();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = std::fs::read_to_string(root.join("algorithms/sm4/array/sm4.ace")).unwrap();
    std::fs::copy(root.join("algorithms/sm4/array/sm4_boxes.ace"), path("sm4_boxes.ace")).unwrap();
    // Another order of keys, which its own set-up makes and the one that comes with ace does not.
    let other = text.replace("if decrypt == 1 { out[31 - i] = n; } else { out[i] = n; }", "out[i ^ 1] = n;");
    let other = other.replace("^ rk[r]", "^ rk[if_(decrypt, 31 - r, r)]");
    let other = other.replace(
        "run ->",
        "fn if_(d: int, a: int, b: int) -> int { if d == 1 { return a ^ 1; } return b ^ 1; }\n\nrun ->",
    );
    assert!(other.contains("out[i ^ 1]") && other.contains("if_(decrypt"), "{other}");
    std::fs::write(path("mine.ace"), &other).unwrap();
    let ace = |args: &[&str]| crate::common::ace(args, &[]);
    let all = |out: &std::process::Output| crate::common::stdout(out) + &crate::common::stderr(out);
    let (sets, kat) = (path("sets"), "algorithms/sm4/kat.csv");

    std::fs::write(path("unknown.ace"), other.replace("sm4_encrypt", "mine_encrypt")).unwrap();
    let out = ace(&["array", "build", "--source", &path("unknown.ace"), "-o", &sets]);
    assert_eq!(out.status.code(), Some(2));
    assert!(all(&out).contains("mine_encrypt") && all(&out).contains("sm4_encrypt"), "{}", all(&out));
    std::fs::write(path("code.ace"), other.replace("sm4 = 11", "sm4 = 12")).unwrap();
    let out = ace(&["array", "build", "--source", &path("code.ace"), "-o", &sets]);
    assert!(out.status.code() == Some(2) && all(&out).contains("= 12"), "{}", all(&out));

    if !root.join("build/array/slot.so").exists() {
        eprintln!("the array's slot has no model; nothing was run");
        return;
    }
    // Out of a checkout, with the model of that one: what an installed ace does.
    let out = crate::common::command()
        .current_dir(folder.path())
        .args(["array", "build", "--source", "mine.ace", "-o", "sets"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", all(&out));
    let on = |more: &[&str]| {
        ace(&[&["kat", "sm4", kat, "--slots", "array", "--configurations", &sets][..], more].concat())
    };
    for refused in [&[][..], &["--unsigned"]] {
        let out = on(refused);
        assert_ne!(out.status.code(), Some(0), "nobody has signed it: {}", all(&out));
    }
    let out = on(&["--unproven"]);
    assert_eq!(out.status.code(), Some(0), "{}", all(&out));
    let named = "nobody has signed or proven, and --unproven has loaded: sm4_decrypt, sm4_encrypt";
    assert!(all(&out).contains(named), "{}", all(&out));
    let out = on(&["--unproven", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(json["unproven"], serde_json::json!(["sm4_decrypt", "sm4_encrypt"]));
    // Its keys are its own: with those of the source that comes with ace the answers are wrong.
    std::fs::remove_file(path("sets/sm4_encrypt/sm4_encrypt.ace")).unwrap();
    let out = on(&["--unproven"]);
    assert_eq!(out.status.code(), Some(1), "{}", all(&out));
}

#[test]
fn without_a_checkout_and_a_model_nothing_is_compiled_first() {
    let folder = tempfile::tempdir().unwrap();
    let ace = folder.path().join("ace");
    std::fs::copy(env!("CARGO_BIN_EXE_ace"), &ace).unwrap();
    let begin = std::time::Instant::now();
    let out =
        Command::new(&ace).args(["array", "build"]).current_dir(folder.path()).env_clear().output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{text}");
    assert!(text.contains("no checkout") && text.contains("make install"), "{text}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(10), "{:?}", begin.elapsed());
}
