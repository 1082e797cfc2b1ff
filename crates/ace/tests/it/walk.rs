// SPDX-License-Identifier: Apache-2.0
//! Every command once, as somebody new would: right input and wrong, in an empty folder with the binary alone, and installed.
//! Which commands there are `ace` says itself, so a new one cannot be left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::common::{TRAFFIC, root, stderr, stdout};
use lists::{BESIDE, NO_LISTING, NOT_RUN, NOT_WRONG, OUTPUTS};

mod lists;

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
        fs::write(self.folder.join("SHA256SUMS"), "00  nothing\n").unwrap();
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

/// What is wrong with a call of `ace` on a page, if something is.
fn wrong_call(all: &[Known], line: &str) -> Option<String> {
    let given = words(line);
    let end = given.iter().position(|word| word.starts_with(['#', '|', '>', '<', '&', ';', '\\']));
    let given = &given[1..end.unwrap_or(given.len())];
    let Some(one) = all.iter().filter(|one| given.starts_with(&one.path)).max_by_key(|one| one.path.len())
    else {
        return Some("no such command".to_owned());
    };
    let (mut found, mut free, mut rest) = (Vec::new(), 0, given[one.path.len()..].iter());
    // Optional or left out: what else is required is not there to see.
    let open = end.is_some_and(|end| line.ends_with('\\') && end > 0) || line.contains(['…', '[']);
    while let Some(word) = rest.next() {
        if let Some(long) = word.strip_prefix("--") {
            let (long, own) = long.split_once('=').map_or((long, false), |(long, _)| (long, true));
            let argument = one.arguments.iter().find(|argument| argument.long.as_deref() == Some(long));
            match argument {
                Some(argument) if argument.takes_value && !own => drop(rest.next()),
                None if !["help", "version", "format"].contains(&long) => {
                    return Some(format!("no option --{long}"));
                }
                _ => {}
            }
            found.push(long);
        } else if word.starts_with("-o") {
            found.extend(["output", "out"]);
            rest.next();
        } else if !word.starts_with(['-', '[']) {
            free += 1;
        }
    }
    let required = one.arguments.iter().filter(|argument| argument.required && !open);
    let (named, placed): (Vec<_>, Vec<_>) = required.partition(|argument| argument.long.is_some());
    let missing =
        named.iter().find(|argument| !found.contains(&argument.long.as_deref().unwrap_or_default()));
    missing
        .map(|argument| format!("--{} is required", argument.id))
        .or_else(|| (free < placed.len()).then(|| format!("{} is required", placed[free].id)))
}

#[test]
fn calls_on_pages_are_of_commands_and_options_that_there_are() {
    let place = Place::new();
    let all = known(&place);
    let mut pages = vec![root().join("README.md")];
    for folder in ["docs", "docs/how-to", "docs/tutorials", "docs/explanation"] {
        pages.extend(fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    let (mut count, mut faults) = (0, Vec::new());
    for page in pages.iter().filter(|page| page.extension().is_some_and(|end| end == "md")) {
        for line in fs::read_to_string(page).unwrap().lines() {
            let call = line.trim_start().trim_start_matches("sudo ").trim_end();
            // In sentences and in tables calls are in backquotes.
            let is_call =
                line.starts_with("ace ") || line.starts_with("    ace ") || line.starts_with("sudo ace ");
            if is_call && !line.contains('`') && !line.contains(" = ") && !call.ends_with('.') {
                count += 1;
                let what = wrong_call(&all, call);
                faults.extend(what.map(|what| format!("{}: `{call}`: {what}", page.display())));
            }
        }
    }
    assert!(count > 100, "{count} calls");
    // An option and a command that there are not, an option and a file that are required; and one that is left out.
    for call in
        ["ace library extract --imagee x", "ace librari list", "ace run in.pcap -o out.pcap", "ace inspect"]
    {
        assert!(wrong_call(&all, call).is_some(), "`{call}` is taken");
    }
    assert_eq!(wrong_call(&all, "ace inspect … --json"), None);
    assert!(faults.is_empty(), "{} of {count}\n{}", faults.len(), faults.join("\n"));
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
