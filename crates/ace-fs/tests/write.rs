// SPDX-License-Identifier: Apache-2.0
//! Outputs keep what is no regular file, and a regular file's old contents until the new ones are complete.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use ace_fs::{Output, write as publish};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn a_regular_file_changes_when_it_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    fs::write(&path, "old").expect("written");
    let mut output = Output::create(&path).expect("an output");
    output.write_all(&vec![b'n'; 1 << 20]).expect("written");
    assert_eq!(fs::read(&path).expect("read"), b"old");
    drop(output);
    assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 1, "what was given up is gone");
    publish(&path, b"new").expect("published");
    assert_eq!(fs::read(&path).expect("read"), b"new");
}

#[test]
fn modes_are_those_of_new_files_and_no_wider_than_those_of_old_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let (fresh, mine, read_only) =
        (folder.path().join("fresh"), folder.path().join("mine"), folder.path().join("read only"));
    publish(&fresh, b"").expect("published");
    fs::File::create(folder.path().join("usual")).expect("created");
    assert_eq!(mode(&fresh), mode(&folder.path().join("usual")), "the umask decides");
    fs::write(&mine, "").expect("written");
    fs::set_permissions(&mine, Permissions::from_mode(0o600)).expect("set");
    publish(&mine, b"secret").expect("published");
    assert_eq!(mode(&mine), 0o600);
    let keys = folder.path().join("keys");
    ace_fs::write_private(&keys, b"secret").expect("published");
    assert_eq!(mode(&keys), 0o600);
    fs::write(&read_only, "").expect("written");
    fs::set_permissions(&read_only, Permissions::from_mode(0o444)).expect("set");
    // Root may write anything.
    if fs::OpenOptions::new().write(true).open(&read_only).is_err() {
        assert!(publish(&read_only, b"").is_err());
    }
}

#[test]
fn links_stay_and_what_they_lead_to_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    symlink("target", &link).expect("linked");
    for text in ["first", "second"] {
        publish(&link, text.as_bytes()).expect("published");
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("read"), text);
    }
}

#[test]
fn devices_and_pipes_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    publish(Path::new("/dev/null"), b"x").expect("written through");
    assert!(fs::metadata("/dev/null").expect("it is there").file_type().is_char_device());
    let link = folder.path().join("null");
    symlink("/dev/null", &link).expect("linked");
    publish(&link, b"x").expect("written through");
    assert!(link.is_symlink());

    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut text = String::new();
            fs::File::open(pipe).and_then(|mut file| file.read_to_string(&mut text)).expect("read");
            text
        })
    };
    publish(&pipe, b"through the pipe").expect("written through");
    assert_eq!(reader.join().expect("it ends"), "through the pipe");
    assert!(fs::metadata(&pipe).expect("it is there").file_type().is_fifo());
}

#[test]
fn a_full_device_is_an_error() {
    if Path::new("/dev/full").exists() {
        assert!(publish(Path::new("/dev/full"), &[0; 100]).is_err());
    }
}
