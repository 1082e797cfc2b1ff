// SPDX-License-Identifier: Apache-2.0
//! What `make install` and `make package` put somewhere works there, without the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{TRAFFIC, built, root, stderr, stdout};

/// Below the root of the package.
fn is_there(root: &Path, path: &str) {
    assert!(root.join(path).is_file(), "{path} is not in the package");
}

#[test]
fn a_debian_package_brings_all_that_ace_looks_for() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        eprintln!("no dpkg-deb: this is no Debian; nothing was checked");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = Command::new(root().join("scripts/package.sh"))
        .args([env!("CARGO_BIN_EXE_ace").as_ref(), folder.path()])
        .current_dir(root())
        .output()
        .expect("a shell");
    assert!(out.status.success(), "{}{}", stdout(&out), stderr(&out));
    let package: Vec<PathBuf> =
        fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.path()).collect();
    let [package] =
        &package.into_iter().filter(|p| p.extension().is_some_and(|e| e == "deb")).collect::<Vec<_>>()[..]
    else {
        panic!("one package is wanted")
    };
    let dpkg = |args: &[&str]| {
        let out = Command::new("dpkg-deb").args(args).arg(package).output().expect("dpkg-deb");
        assert!(out.status.success(), "{}", stderr(&out));
        stdout(&out)
    };
    let control = dpkg(&["--field"]);
    for field in ["Package: ace", "Depends: libc6", "iproute2", "Description: adaptive"] {
        assert!(control.contains(field), "{control}");
    }
    let there = folder.path().join("there");
    let status = Command::new("dpkg-deb").arg("--extract").arg(package).arg(&there).status();
    assert!(status.is_ok_and(|status| status.success()));
    for path in [
        "usr/bin/ace",
        "usr/share/ace/library/ace.lib",
        "usr/share/man/man1/ace.1.gz",
        "usr/share/man/man1/ace-sas-import.1.gz",
        "usr/share/bash-completion/completions/ace",
        "usr/share/zsh/site-functions/_ace",
        "usr/share/fish/vendor_completions.d/ace.fish",
        "usr/share/doc/ace/README.md",
        "usr/share/doc/ace/copyright",
        "usr/share/doc/ace/docs/gateway.md",
        "usr/share/doc/ace/examples/gateway.toml",
        "usr/share/doc/ace/examples/sas.toml",
    ] {
        is_there(&there, path);
    }
    assert!(
        !there.join("usr/share/man/man1/ace-manual.1.gz").exists(),
        "a command that nobody is meant to see"
    );

    assert!(there.join("etc/ace").is_dir(), "no place for the gateway's configuration");
    the_unit_starts_what_is_installed(&there, "/usr");
    every_link_leads_somewhere(&there.join("usr/share/doc/ace"));
    // Whom the gateway becomes, in the example and in what the package makes.
    let example = fs::read_to_string(there.join("usr/share/doc/ace/examples/gateway.toml")).expect("read");
    assert!(example.contains("user = \"ace\""), "{example}");
    let control = folder.path().join("control");
    let status = Command::new("dpkg-deb").arg("--control").arg(package).arg(&control).status();
    assert!(status.is_ok_and(|status| status.success()));
    let made = fs::read_to_string(control.join("postinst")).expect("a script");
    assert!(made.contains("useradd --system") && made.contains(" ace\n"), "{made}");
    let sound = Command::new("sh").arg("-n").arg(control.join("postinst")).status();
    assert!(sound.is_ok_and(|status| status.success()), "{made}");

    // From a folder that has nothing to do with the repository, and with an environment that has not either.
    let nowhere = folder.path().join("nowhere");
    fs::create_dir(&nowhere).expect("made");
    let ace = |args: &[&str]| -> Output {
        let mut command = Command::new(there.join("usr/bin/ace"));
        command.env_clear().env("HOME", &nowhere).current_dir(&nowhere).args(args);
        command.output().expect("ace starts")
    };
    let out = ace(&["library", "verify"]);
    assert_eq!(out.status.code(), Some(0), "{}{}", stdout(&out), stderr(&out));
    let out =
        ace(&["sas", "check", &there.join("usr/share/doc/ace/examples/sas.toml").display().to_string()]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    for file in ["tests/demo/protect.toml", TRAFFIC] {
        fs::copy(root().join(file), nowhere.join(Path::new(file).file_name().expect("a name")))
            .expect("copied");
    }
    let run = ["run", "traffic.pcap", "--sas", "protect.toml", "-o", "out.pcap"];
    let out = ace(&[&run[..], &["--engine", "cpu"]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    if built() {
        // The models that were built here have come along.
        let out = ace(&[&run[..], &["--unsigned"]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        assert!(stdout(&out).contains("277 protected"), "{}", stdout(&out));
    }
    if root().join("build/array/slot.so").exists() {
        // The library's context sets need no more than the slot's model, and one's own are made with it.
        let out = ace(&[&run[..], &["--slots", "array"]].concat());
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        let out = ace(&["array", "build", "sm4_encrypt", "-o", "sets"]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        assert!(nowhere.join("sets/sm4_encrypt/sm4_encrypt.set").is_file());
    }
}

/// The program that the unit starts is in the package.
fn the_unit_starts_what_is_installed(there: &Path, prefix: &str) {
    let file = there.join(prefix.trim_start_matches('/')).join("lib/systemd/system/ace-gateway.service");
    let unit = fs::read_to_string(file).expect("a unit");
    let starts = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("it starts something");
    let program = starts.split(' ').next().expect("a word");
    assert_eq!(program, format!("{prefix}/bin/ace"));
    is_there(there, program.trim_start_matches('/'));
}

/// All that pages link to is beside them.
fn every_link_leads_somewhere(folder: &Path) {
    let (mut waiting, mut links, mut dead) = (vec![folder.to_owned()], 0, Vec::new());
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            if path.extension().is_none_or(|ending| ending != "md") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a page");
            for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let file = link.split('#').next().unwrap_or_default();
                if file.is_empty() || file.contains(':') || file.contains(char::is_whitespace) {
                    continue;
                }
                links += 1;
                if !folder.join(file).exists() {
                    dead.push(format!("{}: {link}", path.display()));
                }
            }
        }
    }
    assert!(links > 100 && dead.is_empty(), "{links} links; dead: {dead:#?}");
}

#[test]
fn what_make_install_puts_below_a_prefix_starts_from_there() {
    let folder = tempfile::tempdir().expect("a folder");
    for (prefix, inside) in [("/opt/with-ace", true), ("/usr/local", true), ("/own", false)] {
        let there = folder.path().join(prefix.trim_start_matches('/').replace('/', "-"));
        // With DESTDIR the prefix is where it will be; without it, where it is.
        let where_it_is = if inside { prefix.to_owned() } else { there.join("own").display().to_string() };
        let mut args = vec![where_it_is.clone(), env!("CARGO_BIN_EXE_ace").to_owned()];
        args.extend(inside.then(|| there.display().to_string()));
        let out = Command::new(root().join("scripts/install.sh"))
            .args(args)
            .current_dir(root())
            .output()
            .expect("a shell");
        assert!(out.status.success(), "{}{}", stdout(&out), stderr(&out));
        if inside {
            the_unit_starts_what_is_installed(&there, prefix);
            continue;
        }
        let unit = there.join("own/lib/systemd/system/ace-gateway.service");
        let unit = fs::read_to_string(unit).expect("a unit");
        assert!(unit.contains(&format!("ExecStart={where_it_is}/bin/ace gateway")), "{unit}");
    }
}
