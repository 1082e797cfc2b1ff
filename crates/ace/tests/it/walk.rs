// SPDX-License-Identifier: Apache-2.0
//! Every command once, as somebody new would: right input and wrong, in an empty folder with the binary alone, and installed.
//! Which commands there are `ace` says itself, so a new one cannot be left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::common::{TRAFFIC, root, stderr, stdout};

#[derive(Deserialize)]
struct Known {
    path: Vec<String>,
    hidden: bool,
    examples: Vec<String>,
    arguments: Vec<Argument>,
}

#[derive(Deserialize)]
struct Argument {
    id: String,
    long: Option<String>,
    required: bool,
    takes_value: bool,
    path: bool,
    values: Vec<String>,
}

impl Known {
    fn name(&self) -> String {
        self.path.join(" ")
    }

    fn has_json(&self) -> bool {
        self.arguments.iter().any(|argument| argument.long.as_deref() == Some("json"))
    }
}

/// A command that is not begun here, and why. All others run as their first example says.
const NOT_RUN: &[(&str, &str)] = &[
    ("netlist", "it needs the flow's tools; it/prove.rs runs it"),
    ("prove", "it needs the flow's tools; it/prove.rs runs it"),
    ("rekey", "it needs a design of the study, whose tests run it"),
    ("proof base", "it reads the sources; flow/tests/test_trusted.py runs it"),
    ("bench", "it needs models, and measures; it/board.rs runs it"),
    ("bench study", "it measures for minutes"),
    ("study drp-2006", "it computes for a minute; it/study.rs runs it"),
    ("study scheduling", "it computes for minutes; it/study.rs runs it"),
    ("array build", "it verilates; make test runs it"),
    ("library build", "it/library makes libraries"),
    ("library add", "it/library makes libraries"),
    ("library remove", "it/library makes libraries"),
    ("library recode", "it/library makes libraries"),
    ("library sign", "it/library makes libraries"),
    ("library prove", "it needs the flow's tools; make test runs it"),
    ("library verify", "it takes minutes; it/package.rs runs it"),
    ("configurations", "it needs what is built; it/cli.rs runs it"),
    ("image probe", "it needs a board; tests/net runs it"),
    ("image sim", "it needs a TAP device; tests/net runs it"),
    ("gateway", "it needs a TUN device; tests/net runs it"),
    ("gateway status", "it needs a gateway; tests/net runs it"),
    ("gateway sas", "it needs a gateway; tests/net runs it"),
    ("gateway slots", "it needs a gateway; tests/net runs it"),
    ("gateway trace", "it needs a gateway; tests/net runs it"),
    ("gateway library", "it needs a gateway; tests/net runs it"),
    ("gateway release", "it takes devices away; tests/net runs it"),
    ("gateway standby", "it needs a gateway; tests/net runs it"),
    ("gateway take-over", "it needs a standby; tests/net runs it"),
    ("gateway hand-over", "it needs a standby; tests/net runs it"),
    ("gateway alone", "it needs a gateway; tests/net runs it"),
    ("gateway replay", "it needs a recording; it/replay.rs runs it"),
    ("gateway firewall", "the gateway starts it; tests/net runs it"),
    ("xfrm run", "it needs a gateway; tests/net runs it"),
    ("new algorithm", "it writes into the repository"),
    ("manual", "scripts/install.sh runs it"),
];

/// A command that prints no listing, and what it prints instead.
const NO_LISTING: &[(&str, &str)] = &[
    ("array compile", "the manifest, which is JSON"),
    ("array show", "a picture, into a file"),
    ("array run", "blocks, a line each"),
    ("array graph", "JSON alone"),
    ("array trace", "a file for the bench"),
    ("array rtl", "a package of SystemVerilog"),
    ("array build", "the folders that it has written"),
    ("bench study", "JSON alone"),
    ("bench profile", "a file of TOML"),
    ("sas mirror", "an SA file"),
    ("sas wireshark", "Wireshark's table"),
    ("sas import", "an SA file"),
    ("gateway", "what it says goes to the log; --log-format json"),
    ("gateway library", "one sentence"),
    ("gateway release", "one sentence"),
    ("gateway standby", "what it says goes to the log; --log-format json"),
    ("gateway take-over", "one sentence"),
    ("gateway hand-over", "one sentence"),
    ("gateway alone", "one sentence"),
    ("gateway firewall", "nothing: the gateway speaks to it"),
    ("xfrm run", "what the program prints"),
    ("new algorithm", "the files that it has written"),
    ("manual", "nothing, or JSON alone"),
];

/// Paths that are written.
const OUTPUTS: &[&str] = &["output", "out", "report", "wave", "delta", "changed", "flips", "pcap"];

/// Of a command and an argument what else it takes to be looked at.
const BESIDE: &[(&str, &str, &[&str])] = &[
    ("run", "input", &["--engine=cpu"]),
    ("run", "processor", &["--engine=auto"]),
    ("kat", "file", &["--engine=cpu"]),
    ("kat", "processor", &["--engine=auto"]),
    ("array build", "source", &["--output=written"]),
    ("array trace", "source", &["--variant=sm4_encrypt"]),
    ("array validate", "source", &["sm4_encrypt/sm4_encrypt.set"]),
    ("study ace-2000", "also", &["--table=4"]),
    ("library add", "library", &["aes", "--configurations=.", "--secret=my.key"]),
    ("library add", "secret", &["aes", "--library=my.lib"]),
    ("library add", "configurations", &["aes", "--secret=my.key", "--library=my.lib", "--allow-older"]),
    ("library add", "sets", &["--secret=my.key", "--library=my.lib"]),
    ("library add", "image", &["--secret=my.key", "--library=my.lib"]),
    ("library build", "secret", &["--configurations=.", "--library=my.lib"]),
    ("library build", "configurations", &["--unsigned", "--library=my.lib"]),
    ("library build", "sets", &["--unsigned", "--configurations=.", "--library=written"]),
    ("library recode", "from", &["--secret=my.key", "--library=written"]),
    ("library recode", "key", &["--secret=my.key", "--library=my.lib"]),
    ("library recode", "library", &["--secret=my.key"]),
    ("library recode", "secret", &["--library=my.lib"]),
    ("library remove", "library", &["--secret=my.key"]),
    ("library remove", "secret", &["--library=my.lib"]),
    ("library sign", "library", &["--secret=my.key"]),
    ("library sign", "secret", &["--library=my.lib"]),
    ("library sign", "key", &["--secret=my.key", "--library=my.lib"]),
    ("sas import", "swanctl", &["--local=192.0.2.1"]),
    ("gateway alone", "control", &["--standby-is-off"]),
];

/// What is no wrong input: by command and argument, each of them or all with `*`, with the file where it is only that one.
const NOT_WRONG: &[(&str, &str, &str, &str)] = &[
    ("*", "board", "wrong-empty", "a description that says nothing is that of the default board"),
    ("*", "configurations", "wrong-folder", "a folder in which nothing is built yet"),
    ("library keygen", "file", "*", "it is written"),
    ("library build", "library", "*", "it is written"),
    ("library verify", "*", "*", "1 is what it says of a library that is none; it/library has it"),
    ("manual", "folder", "*", "it is written into"),
    ("sas import", "policy", "wrong-empty", "a kernel without policies lists none"),
    ("prove", "*", "*", "it needs the flow's tools first; it/prove.rs has it"),
    ("library prove", "*", "*", "it needs the flow's tools first"),
    ("rekey", "*", "*", "it needs a design of the study first"),
    ("netlist", "*", "*", "all but its file need Trellis's database first; it/closed has the file"),
    ("image sim", "model", "*", "it needs a TAP device first"),
    ("image probe", "*", "*", "it needs a network device first"),
    ("gateway firewall", "*", "*", "the gateway starts it"),
    ("gateway library", "file", "*", "the gateway reads it; tests/net has it"),
    ("gateway replay", "processor", "*", "it needs a recording first; it/replay.rs has those"),
    ("gateway replay", "board", "*", "it needs a recording first"),
    ("gateway replay", "configurations", "*", "it needs a recording first"),
    ("gateway replay", "key", "*", "it needs a recording first"),
    ("xfrm run", "*", "*", "a socket, which the program connects to when it runs"),
];

/// A folder with all that examples name, and a binary alone in it, which finds nothing else.
struct Place {
    _all: tempfile::TempDir,
    folder: PathBuf,
    ace: PathBuf,
}

impl Place {
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        let folder = all.path().join("empty");
        fs::create_dir(&folder).unwrap();
        let ace = all.path().join("ace");
        fs::copy(env!("CARGO_BIN_EXE_ace"), &ace).unwrap();
        Self { folder, ace, _all: all }
    }

    fn files(&self) {
        let root = root();
        for (from, to) in [
            (TRAFFIC, "in.pcap"),
            (TRAFFIC, "back.pcap"),
            ("tests/demo/protect.toml", "sas.toml"),
            ("crates/ace-gateway/examples/gateway.toml", "gateway.toml"),
            ("algorithms/aes/kat.csv", "aes.csv"),
            ("algorithms/sm4/array/sm4.ace", "sm4.ace"),
            ("algorithms/sm4/array/sm4_boxes.ace", "sm4_boxes.ace"),
            ("board.toml", "board.toml"),
            ("array/shape.toml", "shape.toml"),
            ("studies/processors/vr5500.toml", "cpu.toml"),
        ] {
            fs::copy(root.join(from), self.folder.join(to)).unwrap();
        }
        fs::create_dir(self.folder.join("library")).unwrap();
        fs::copy(root.join("library/ace.lib"), self.folder.join("library/ace.lib")).unwrap();
        fs::copy(root.join("library/ace.lib"), self.folder.join("my.lib")).unwrap();
        fs::write(self.folder.join("clauses.cnf"), "p cnf 1 2\n1 0\n-1 0\n").unwrap();
        fs::write(self.folder.join("proof.lrat"), "3 0 1 2 0\n").unwrap();
    }

    /// Runs it in the folder, for two minutes at most.
    fn run(&self, ace: &Path, args: &[String]) -> Output {
        let (out, err) = (self.folder.join("../out"), self.folder.join("../err"));
        let mut command = Command::new(ace);
        command.env_clear().env("HOME", &self.folder).current_dir(&self.folder).args(args);
        let file = |path: &Path| Stdio::from(fs::File::create(path).unwrap());
        let mut child =
            command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err)).spawn().expect("ace starts");
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begin.elapsed() > Duration::from_secs(120) {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{args:?} goes on and on: {}", fs::read_to_string(&err).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        Output { status, stdout: fs::read(out).unwrap(), stderr: fs::read(err).unwrap() }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn known(place: &Place) -> Vec<Known> {
    let out = place.run(&place.ace, &words("manual --commands"));
    let all: Vec<Known> = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(all.len() > 60, "{} commands", all.len());
    all
}

/// The exit codes that `ace --help` documents.
fn documented(place: &Place) -> Vec<i32> {
    let help = stdout(&place.run(&place.ace, &words("--help")));
    // `ace prove` has a word on its own in front of that.
    let codes = help.rsplit("Exit codes:").next().expect("they stand below the help");
    codes.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

/// What is wrong with how a command ended that could not do what it was asked for; `name` is the file that is to blame.
fn wrong_end(out: &Output, codes: &[i32], name: Option<&str>) -> Option<String> {
    let (text, code) = (stderr(out), out.status.code());
    if text.contains("panicked") || stdout(out).contains("panicked") {
        return Some(format!("it panicked: {text}"));
    }
    match code {
        None => return Some(format!("a signal ended it: {text}")),
        Some(code) if !codes.contains(&code) => {
            return Some(format!("exit code {code} is documented nowhere"));
        }
        Some(0) if name.is_some() => return Some("it took it".to_owned()),
        Some(0) => return None,
        Some(_) => {}
    }
    if name.is_some() && code != Some(2) {
        return Some(format!("exit code {code:?}, and nothing could be done: {text}"));
    }
    let all = text + &stdout(out);
    if let Some(name) = name.filter(|name| !all.contains(name)) {
        return Some(format!("`{name}` is not in: {all}"));
    }
    (all.trim().len() < 20).then(|| format!("what is to be done? {all}"))
}

#[test]
fn every_command_is_run_here_or_elsewhere_and_prints_json_where_it_lists() {
    let place = Place::new();
    let all = known(&place);
    let mut faults = Vec::new();
    for (table, name) in [(NOT_RUN, "NOT_RUN"), (NO_LISTING, "NO_LISTING")] {
        for (of, _) in table {
            if !all.iter().any(|one| one.name() == *of) {
                faults.push(format!("{name} has `{of}`, which is no command"));
            }
        }
    }
    for one in &all {
        let name = one.name();
        let listed = NO_LISTING.iter().any(|(of, _)| *of == name);
        if one.has_json() == listed {
            faults.push(format!("`{name}`: --json, or why there is none (NO_LISTING), and not both"));
        }
        if !one.hidden && one.examples.is_empty() {
            faults.push(format!("`{name}` has no example"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn examples_do_what_they_say_installed_and_without_a_checkout() {
    let place = Place::new();
    place.files();
    let prefix = place.folder.join("../root");
    let out = Command::new(root().join("scripts/install.sh"))
        .args(["/opt/ace".as_ref(), Path::new(env!("CARGO_BIN_EXE_ace")), &prefix])
        .current_dir(root())
        .output()
        .expect("a shell");
    assert!(out.status.success(), "{}", stderr(&out));
    let installed = prefix.join("opt/ace/bin/ace");
    let codes = documented(&place);
    let mut all = known(&place);
    // What others read comes first.
    let first = ["library extract", "sas wireshark", "array compile", "library keygen"];
    all.sort_by_key(|one| !first.contains(&one.name().as_str()));
    let mut faults = Vec::new();
    for one in &all {
        let name = one.name();
        let example = words(one.examples[0].strip_prefix("ace ").unwrap());
        if !NOT_RUN.iter().any(|(of, _)| *of == name) {
            let out = place.run(&installed, &example);
            if out.status.code() != Some(0) {
                faults.push(format!(
                    "installed, `{}`: {:?} {}",
                    one.examples[0],
                    out.status.code(),
                    stderr(&out)
                ));
            }
            if one.has_json() && name != "library keygen" {
                let out = place.run(&installed, &[&example[..], &["--json".to_owned()]].concat());
                if serde_json::from_slice::<serde_json::Value>(&out.stdout).is_err() {
                    faults.push(format!(
                        "`{} --json` is no JSON: {}{}",
                        one.examples[0],
                        stdout(&out),
                        stderr(&out)
                    ));
                }
            }
        }
        // The binary alone does it, or says what is missing.
        let lasts = ["bench study", "gateway firewall", "manual", "study drp-2006", "study scheduling"];
        if !lasts.contains(&name.as_str()) && !name.starts_with("xfrm") {
            let out = place.run(&place.ace, &example);
            if let Some(what) = wrong_end(&out, &codes, None) {
                faults.push(format!("alone, `{}`: {what}", one.examples[0]));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A value with which a command comes as far as to look at the other one's file.
fn sample(command: &str, argument: &Argument) -> String {
    let own = match (command, argument.id.as_str()) {
        (_, id) if OUTPUTS.contains(&id) => "written",
        (_, "sas") => "sas.toml",
        ("compare" | "run", _) if argument.path => "in.pcap",
        ("kat", "file") => "aes.csv",
        ("kat", "algorithm") => "aes",
        ("certificate", "clauses") => "clauses.cnf",
        ("certificate", "proof") => "proof.lrat",
        ("library loader", "loads") => "aes",
        ("library show" | "library extract", _) if !argument.path => "aes",
        ("image show" | "image load", "name") => "colorlight-i9",
        ("prove", "rtl") => "sm4.ace",
        ("prove", "file") | ("rekey", _) if argument.path => "in.pcap",
        ("rekey", "key") => "00010002000300040005000600070008",
        ("array run", "blocks") => "00",
        ("array compile" | "array show" | "array run", "source") => "sm4.ace",
        ("sas check" | "sas mirror" | "sas wireshark", "file") => "sas.toml",
        ("image sim", "tap") => "ace9",
        ("image probe", _) => "eth9",
        ("inspect", "file") => "aes/aes.bit",
        ("sas import", "file") => "esp_sa",
        _ => argument.values.first().map_or("1", String::as_str),
    };
    own.to_owned()
}

#[test]
fn a_wrong_file_is_named_with_a_documented_code_wherever_one_is_given() {
    let place = Place::new();
    place.files();
    let codes = documented(&place);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    });
    let noise: Vec<u8> = noise.take(5000).collect();
    fs::write(place.folder.join("wrong-noise"), &noise).unwrap();
    fs::write(place.folder.join("wrong-empty"), "").unwrap();
    fs::create_dir(place.folder.join("wrong-folder")).unwrap();
    // Nobody can read it, root neither.
    std::os::unix::fs::symlink("wrong-loop", place.folder.join("wrong-loop")).unwrap();
    for made in [
        "library extract aes --out .",
        "library extract --sets sm4_encrypt --out .",
        "library keygen my.key",
        "sas wireshark sas.toml -o esp_sa",
    ] {
        let out = place.run(&place.ace, &words(made));
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    }
    let (mut faults, mut count) = (Vec::new(), 0);
    for one in known(&place) {
        let name = one.name();
        for wrong in one.arguments.iter().filter(|a| a.path && !OUTPUTS.contains(&a.id.as_str())) {
            for file in ["wrong-noise", "wrong-empty", "wrong-folder", "wrong-loop", "wrong-absent"] {
                let is = |stated: &str, own: &str| stated == "*" || stated == own;
                if NOT_WRONG
                    .iter()
                    .any(|(of, id, only, _)| is(of, &name) && is(id, &wrong.id) && is(only, file))
                {
                    continue;
                }
                let (mut args, mut last) = (one.path.clone(), Vec::new());
                for argument in &one.arguments {
                    let value = match (argument.id == wrong.id, argument.required && argument.takes_value) {
                        (true, _) => file.to_owned(),
                        (_, true) => sample(&name, argument),
                        _ => continue,
                    };
                    match &argument.long {
                        Some(long) => args.push(format!("--{long}={value}")),
                        None => last.push(value),
                    }
                }
                let beside = BESIDE.iter().find(|(of, id, _)| *of == name && *id == wrong.id);
                for more in beside.iter().flat_map(|(.., more)| more.iter()) {
                    if more.starts_with("--") { &mut args } else { &mut last }.push((*more).to_owned());
                }
                if !last.is_empty() {
                    args.push("--".into());
                }
                let out = place.run(&place.ace, &[args.clone(), last.clone()].concat());
                count += 1;
                if let Some(what) = wrong_end(&out, &codes, Some(file)) {
                    faults.push(format!("`ace {} {}`: {what}", args.join(" "), last.join(" ")));
                }
            }
        }
    }
    assert!(count > 150, "{count} calls");
    assert!(faults.is_empty(), "{} of {count}\n{}", faults.len(), faults.join("\n"));
}
