// SPDX-License-Identifier: Apache-2.0
//! Files that name what is not there: refused at the start with file, key and what there is, never passed over.

use std::fs;
use std::path::Path;

use crate::common::{command, root, stderr};

/// `ace` with these arguments says all of it and ends, in a folder in which it finds nothing.
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let out = command().current_dir(folder).args(arguments).output().unwrap();
    assert_eq!(out.status.code(), Some(2), "{arguments:?}: {}", stderr(&out));
    for word in words {
        assert!(stderr(&out).contains(word), "{arguments:?}: `{word}` is not in {}", stderr(&out));
    }
}

#[test]
fn what_a_file_names_and_is_not_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let library = root().join("library/ace.lib").canonicalize().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("board.toml", &format!("[controller]\nlibrary = {library:?}\n"));
    fs::create_dir(folder.path().join("configurations")).unwrap();
    let gateway = |engine: &str, words: &[&str]| {
        let inside =
            "sas = \"sas.toml\"\n[inside]\naddress = [\"10.0.1.1/24\"]\n[outside]\nencapsulation = \"udp\"\n";
        put("gateway.toml", &format!("{inside}[engine]\nkind = \"auto\"\nboard = \"board.toml\"\n{engine}"));
        refused(
            folder.path(),
            &["gateway", "gateway.toml"],
            &[&["gateway.toml", "[engine]"], words].concat(),
        );
    };
    // An algorithm that the board cannot do: it has nothing at all.
    let nothing = "configurations = \"configurations\"\n";
    gateway(&format!("{nothing}on_board = [\"3des\"]\n"), &["`on_board`", "`3des`", "can do nothing"]);
    gateway(
        &format!("{nothing}on_board = [\"tripledes\"]\n"),
        &["`on_board`", "`tripledes`", "ace kat --list"],
    );
    gateway(&format!("{nothing}policy = \"clever\"\n"), &["`clever`", "double-buffer, landlord"]);
    gateway("configurations = \"nowhere\"\n", &["`configurations`", "nowhere"]);

    let answers = root().join("algorithms/aes/kat.csv").canonicalize().unwrap();
    let answers = answers.to_str().unwrap();
    let rate = |name: &str| format!("[[rate]]\nalgorithm = \"{name}\"\nmbps = 100\n");
    let profile = |rates: &str, words: &[&str]| {
        put("cpu.toml", &format!("name = \"it\"\nsource = \"here\"\n{rates}"));
        let arguments = ["kat", "aes", answers, "--engine", "auto", "--processor", "cpu.toml"];
        refused(folder.path(), &arguments, &[&["cpu.toml", "[[rate]]"], words].concat());
    };
    profile(&rate("aess"), &["`aess`", "aes, "]);
    profile(&(rate("aes") + &rate("aes")), &["`aes` has two rows"]);
}
