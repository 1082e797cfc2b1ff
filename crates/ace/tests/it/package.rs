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
    for field in ["Package: ace", "Depends: libc6", "Description: adaptive"] {
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
    ] {
        is_there(&there, path);
    }
    assert!(
        !there.join("usr/share/man/man1/ace-manual.1.gz").exists(),
        "a command that nobody is meant to see"
    );

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
}
