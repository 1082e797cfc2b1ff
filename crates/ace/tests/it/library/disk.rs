// SPDX-License-Identifier: Apache-2.0
//! Changes of a library that end in the middle.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::Place;
use crate::common::stderr;

/// Runs `ace library add` in a shell that prepares what goes wrong.
fn add_under(place: &Place, shell: &str) -> Output {
    place.configuration("md5", 9);
    let ace = Path::new(env!("CARGO_BIN_EXE_ace"));
    let script = format!(
        "{shell} exec \"$0\" library add md5 --library \"$1\" --secret \"$2\" --configurations \"$3\""
    );
    Command::new("bash")
        .args(["-c", &script])
        .env("XDG_STATE_HOME", place.at("state"))
        .args([ace, &place.library(), &place.at("key"), &place.at("built")])
        .output()
        .unwrap()
}

#[test]
fn a_failing_disk_loses_nothing() {
    let place = Place::new();
    let before = fs::read(place.library()).unwrap();
    // Writes beyond 8 KiB fail, as on a full disk.
    let out = add_under(&place, "trap '' XFSZ; ulimit -f 8;");
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    assert!(stderr(&out).contains("what was there is unchanged"), "{}", stderr(&out));
    assert_eq!(fs::read(place.library()).unwrap(), before);
    assert_eq!(place.read(&["verify"]).status.code(), Some(0));
    let left = fs::read_dir(place.folder.path())
        .unwrap()
        .filter(|e| e.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().starts_with(".ace-library-")));
    assert_eq!(left.count(), 0, "the part that was written is gone");
}

#[test]
fn a_full_disk_loses_nothing() {
    let place = Place::new();
    let before = fs::read(place.library()).unwrap();
    // A disk of its own, in a name space of its own, where that is allowed.
    let script = r#"
        set -e; disk="$1/disk"; mkdir "$disk"; mount -t tmpfs -o size=$(( ($(stat -c %s "$1/a.lib") + 8191) / 4096 * 4 ))k none "$disk"
        cp "$1/a.lib" "$disk/a.lib"
        code=0; "$0" library add md5 --library "$disk/a.lib" --secret "$1/key" --configurations "$1/built" || code=$?
        cmp "$1/a.lib" "$disk/a.lib"; test "$(ls -A "$disk")" = a.lib; exit $((code + 40))"#;
    place.configuration("md5", 9);
    let out = Command::new("unshare")
        .env("XDG_STATE_HOME", place.at("state"))
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script, env!("CARGO_BIN_EXE_ace")])
        .arg(place.folder.path())
        .output();
    match out {
        Ok(out) if stderr(&out).contains("ermission denied") || stderr(&out).contains("not permitted") => {
            eprintln!("not tested: no name spaces here");
        }
        Ok(out) => {
            assert_eq!(out.status.code(), Some(42), "{}", stderr(&out));
            assert!(stderr(&out).contains("No space left"), "{}", stderr(&out));
            assert!(stderr(&out).contains("what was there is unchanged"), "{}", stderr(&out));
        }
        Err(_) => eprintln!("not tested: no unshare here"),
    }
    assert_eq!(fs::read(place.library()).unwrap(), before);
}

#[test]
#[cfg(unix)]
fn a_kill_in_the_middle_of_add_loses_nothing() {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    let before = fs::read(place.library()).unwrap();
    // The signal comes while the new library is being written.
    let out = add_under(&place, "ulimit -c 0; ulimit -f 8;");
    assert_eq!(out.status.signal(), Some(25), "killed by SIGXFSZ: {}", stderr(&out));
    assert_eq!(fs::read(place.library()).unwrap(), before);
    assert_eq!(place.read(&["verify"]).status.code(), Some(0));
    // And the next one works.
    let out = place.write("add", &["md5"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert_eq!(place.json(&["list"])["configurations"].as_array().map(Vec::len), Some(3));
}

/// A device has no place that a file could take: what stands there stays what it is.
#[test]
#[cfg(unix)]
fn nothing_but_a_file_is_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let place = Place::new();
    let socket = place.at("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (what, rest) in [("build", vec!["--configurations"]), ("recode", vec!["--format", "small", "--from"])]
    {
        let from = if what == "build" { place.at("built") } else { place.library() };
        let mut ace = super::command();
        ace.env("XDG_STATE_HOME", place.at("state")).args(["library", what, "--library"]).arg(&socket);
        ace.arg("--secret").arg(place.at("key")).args(rest).arg(from);
        let out = ace.env("ACE_LIBRARY_KEY", place.at("key.pub")).output().unwrap();
        assert_eq!(out.status.code(), Some(2), "{what}: {}", stderr(&out));
        assert!(stderr(&out).contains("socket"), "{what}: {}", stderr(&out));
        assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket(), "{what}");
    }
}

#[test]
#[cfg(unix)]
fn a_link_leads_to_what_is_changed() {
    let place = Place::new();
    let before = fs::read(place.library()).unwrap();
    let real = place.at("elsewhere.lib");
    fs::rename(place.library(), &real).unwrap();
    std::os::unix::fs::symlink(&real, place.library()).unwrap();
    place.configuration("md5", 9);
    let out = place.write("add", &["md5"]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(place.library().is_symlink(), "the link is one still");
    assert_ne!(fs::read(&real).unwrap(), before, "what it leads to is the new library");
}
