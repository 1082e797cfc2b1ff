// SPDX-License-Identifier: Apache-2.0
//! `ace sas`: files of the other end, of Wireshark, and what is said of a file.

use std::fs;

use serde_json::{Value, json};

use crate::common::{TRAFFIC, ace, root, stderr, stdout};

#[test]
fn the_mirrored_file_takes_back_what_the_file_protects() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let (mirror, esp, clear) = (at("mirror.toml"), at("esp.pcap"), at("clear.pcap"));
    let out = ace(&["sas", "mirror", "tests/demo/protect.toml", "-o"], &[&mirror]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&mirror).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "keys are for their owner");
    }
    let run = ["run", "--engine", "cpu", "--sas"];
    let out =
        ace(&[&run[..2], &["cpu", TRAFFIC, "--sas", "tests/demo/protect.toml", "-o"]].concat(), &[&esp]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let back = ace(&run, &[&mirror, &esp, "-o".as_ref(), &clear]);
    assert_eq!(back.status.code(), Some(0), "{}{}", stdout(&back), stderr(&back));
    assert!(stdout(&back).contains("277 decapsulated"), "{}", stdout(&back));
    assert_eq!(ace(&["compare", TRAFFIC], &[&clear]).status.code(), Some(0));
    // And there and back again is the file itself.
    let again = at("again.toml");
    assert_eq!(ace(&["sas", "mirror"], &[&mirror, "-o".as_ref(), &again]).status.code(), Some(0));
    let check = |path: &std::path::Path| stdout(&ace(&["sas", "check", "--json"], &[path]));
    assert_eq!(check(&again), check(&root().join("tests/demo/protect.toml")));
    assert_ne!(check(&again), check(&mirror));
}

#[test]
fn wiresharks_table_has_a_line_for_each_sa() {
    let out = ace(&["sas", "wireshark", "tests/demo/protect.toml"], &[]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    let text = stdout(&out);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.starts_with(
        "\"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0x00001001\",\"AES-CBC [RFC3602]\",\
         \"0xdacac48bae275c7bf70e7144a2f29ba5\",\"HMAC-MD5-96 [RFC2403]\",\"0xe755409ce4715c60cd5e3d0192213a4f\"\n"
    ), "{text}");
}

/// One line that a Wireshark does not know, and it reads none of the table.
#[test]
fn an_old_wireshark_gets_only_lines_that_it_knows() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sas.toml");
    let rows = [
        ("aes-128-gcm-8", "none", 20, false),
        ("aes-128-gcm-16", "none", 20, true),
        ("chacha20-poly1305", "none", 36, false),
        ("aes-128-cbc", "hmac-sha256-128", 16, true),
        ("twofish-192-cbc", "hmac-sha256-128", 24, false),
    ];
    let mut text = String::from("allow_legacy = true\n");
    for (n, (cipher, auth, len, esn)) in rows.iter().enumerate() {
        let auth_key =
            if *auth == "none" { String::new() } else { format!("auth_key = \"{}\"", "ab".repeat(32)) };
        text += &format!(
            "[[sa]]\nname = \"{n}\"\nspi = {}\ndirection = \"out\"\nmode = \"tunnel\"\nlocal = \"192.0.2.1\"\n\
             remote = \"192.0.2.2\"\nselector = {{ src = \"10.0.0.{n}\" }}\ncipher = \"{cipher}\"\n\
             key = \"{}\"\nauth = \"{auth}\"\n{auth_key}\nesn = {esn}\nfirst_sequence = {}\n",
            0x1000 + n,
            format!("{n:02x}").repeat(*len),
            if *esn { 0x0000_0012_0000_0001_u64 } else { 1 },
        );
    }
    fs::write(&file, text).expect("written");
    let lines = |options: &[&str]| -> Vec<String> {
        let out = ace(&[&["sas", "wireshark"], options].concat(), &[&file]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        stdout(&out).lines().map(str::to_owned).collect()
    };
    let (new, old) = (lines(&[]), lines(&["--for", "4.0"]));
    assert_eq!((new.len(), old.len()), (5, 5), "a line for each SA");
    assert!(
        new[0].contains("\"AES-GCM with 8 octet ICV [RFC4106]\"") && new[0].contains("\"NULL\""),
        "{}",
        new[0]
    );
    assert_eq!(old[0], new[0]);
    assert!(new[1].ends_with("\"NULL\",\"\",\"64-bit\",\"12\""), "{}", new[1]);
    assert_eq!(format!("{},\"64-bit\",\"12\"", old[1]), new[1]);
    assert!(
        new[2].contains("\"ChaCha20 with Poly1305 [RFC7634]\"") && old[2].starts_with("# "),
        "{}",
        old[2]
    );
    assert!(new[3].contains("HMAC-SHA-256-128") && old[3].contains("ANY 128 bit"), "{}", old[3]);
    assert!(new[4].starts_with("# ") && old[4].starts_with("# "), "{}", new[4]);
    assert_eq!(ace(&["sas", "wireshark", "--for", "old"], &[&file]).status.code(), Some(2));
}

#[test]
fn every_suite_is_listed() {
    let out = ace(&["sas", "suites", "--json"], &[]);
    let listed: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let text = stdout(&ace(&["sas", "suites"], &[]));
    let documented = fs::read_to_string(root().join("docs/sa-file.md")).expect("the reference");
    for kind in ["ciphers", "auths"] {
        let suites = listed[kind].as_array().expect("a list");
        assert!(suites.len() >= 8);
        for suite in suites {
            let name = suite["name"].as_str().expect("a name");
            assert!(text.contains(name), "{name}");
            assert!(documented.contains(&format!("`{name}`")), "docs/sa-file.md says nothing of {name}");
            let by = suite["computed_by"].as_array().expect("a list");
            assert!(by.last().is_none_or(|last| last == "CPU"), "{name}: there is no software for it");
        }
    }
    // In the library, on the array, by software alone; and what is nothing to compute.
    for (kind, name, by) in [
        ("ciphers", "aes-128-cbc", json!(["fabric", "array", "CPU"])),
        ("ciphers", "aes-128-gcm-16", json!(["array", "CPU"])),
        ("ciphers", "aes-128-gmac", json!(["CPU"])),
        ("ciphers", "aes-128-ccm-16", json!(["fabric", "array", "CPU"])),
        ("ciphers", "camellia-128-cbc", json!(["CPU"])),
        ("ciphers", "null", json!([])),
        ("auths", "hmac-sha1-96", json!(["fabric", "array", "CPU"])),
        ("auths", "aes-cmac-96", json!(["fabric", "array", "CPU"])),
        ("auths", "aes-xcbc-96", json!(["fabric", "array", "CPU"])),
    ] {
        let suites = listed[kind].as_array().expect("a list");
        let suite = suites.iter().find(|suite| suite["name"] == name).expect(name);
        assert_eq!(suite["computed_by"], by, "{name}");
    }
    // The same, each name in the row of those that compute it.
    let out = stdout(&ace(&["sas", "suites", "--by-engine", "--format", "md"], &[]));
    let rows: Vec<Vec<&str>> = out.lines().skip(2).map(|row| row.split(" | ").collect()).collect();
    for (kind, column) in [("ciphers", 1), ("auths", 2)] {
        for suite in listed[kind].as_array().expect("a list") {
            let by: Vec<&str> =
                suite["computed_by"].as_array().unwrap().iter().filter_map(|by| by.as_str()).collect();
            let by = if by.is_empty() { "nothing to compute".to_owned() } else { by.join(", ") };
            let name = suite["name"].as_str().unwrap();
            let named =
                |row: &&Vec<&str>| row[column].trim_end_matches(" |").split(", ").any(|one| one == name);
            let found: Vec<&str> =
                rows.iter().filter(named).map(|row| row[0].trim_start_matches("| ")).collect();
            assert_eq!(found, [by], "{name}");
        }
    }
}

#[test]
fn the_matrix_says_what_is_where() {
    let out = ace(&["sas", "suites", "--matrix", "--json"], &[]);
    let rows: Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let row = |suite: &str| -> Value {
        let rows = rows.as_array().expect("a list");
        rows.iter().find(|row| row["suite"] == suite).unwrap_or_else(|| panic!("{suite}: {rows:?}")).clone()
    };
    let aes = row("aes-128/192/256-cbc");
    assert_eq!(aes["fabric_rows"], json!(["aes", "aes-x4"]), "bases that do both directions, and no variant");
    assert_eq!(aes["proven"], json!(["fabric", "array"]));
    assert_eq!((&aes["provider"], &aes["legacy"]), (&json!(true), &json!(false)));
    assert_eq!(row("gost-a-cbc")["fabric_rows"], json!(["gost-a"]), "a variant is all that there is");
    let gcm = row("aes-128/192/256-gcm-16");
    // All of the library hold the array.
    let images: Value = serde_json::from_slice(&ace(&["image", "list", "--json"], &[]).stdout).expect("JSON");
    let boards: Vec<&Value> =
        images.as_array().expect("a list").iter().map(|image| &image["board"]).collect();
    assert_eq!((&gcm["array_sets"], &gcm["board_images"]), (&json!(["aes"]), &json!(boards)));
    // Frames of the array have no room for GMAC's associated data, and OpenSSL's programs get no GMAC.
    let gmac = row("aes-128/192/256-gmac");
    assert_eq!((&gmac["array_sets"], &gmac["provider"]), (&json!([]), &json!(false)));
    assert_eq!(row("mars-128/192/256-cbc")["gateway"], "SA file", "the kernel has no name for it");
    assert_eq!(row("hmac-sha1-96")["gateway"], "SA file, XFRM");
    assert_eq!(row("null")["cpu"], false, "nothing is computed");
}

#[test]
fn a_check_shows_no_key_and_says_what_is_wrong() {
    let out = ace(&["sas", "check", "tests/demo/protect.toml"], &[]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains("aes-128-cbc + hmac-md5-96"), "{}", stdout(&out));
    assert!(!stdout(&out).contains("dacac48b"), "a key: {}", stdout(&out));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.toml");
    fs::write(&file, "default_policy = \"bypas\"\n").expect("written");
    let out = ace(&["sas", "check"], &[&file]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("a.toml:1:"), "{}", stderr(&out));
}

#[test]
fn the_kernels_states_are_imported() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state");
    let state = "src 192.0.2.1 dst 192.0.2.2\n\tproto esp spi 0x00001001(4097) reqid 1(0x1) mode tunnel\n\
                 \treplay-window 32 \n\taead rfc4106(gcm(aes)) 0x000102030405060708090a0b0c0d0e0f10111213 (160 bits) 128\n";
    fs::write(&file, state).expect("written");
    let out = ace(&["sas", "import", "--local", "192.0.2.1"], &[&file]);
    assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    assert!(stdout(&out).contains("cipher = \"aes-128-gcm-16\""), "{}", stdout(&out));
    let out = ace(&["sas", "import"], &[&file]);
    assert_eq!(out.status.code(), Some(2), "nobody says which end is ours");
    assert!(stderr(&out).contains("--local"), "{}", stderr(&out));
}

#[test]
fn one_odd_sa_is_named_and_loses_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let sa = |spi: u32, rest: &str| {
        format!(
            "src 192.0.2.1 dst 192.0.2.2\n\tproto esp spi {spi:#010x} reqid {spi} mode transport\n\treplay-window 0 \n\
             \taead rfc4106(gcm(aes)) 0x000102030405060708090a0b0c0d0e0f{spi:08x} 128\n{rest}"
        )
    };
    let rule = |spi: u32, select: &str| {
        format!(
            "src 192.0.2.1/32 dst 192.0.2.2/32 {select}\n\tdir out priority 1 \n\ttmpl src 192.0.2.1 dst 192.0.2.2\n\
             \t\tproto esp reqid {spi} mode transport\n"
        )
    };
    fs::write(path("state"), sa(0x1001, "") + &sa(0x1002, "\tmark 0x1/0xff \n") + &sa(0x1003, ""))
        .expect("written");
    fs::write(path("policy"), rule(0x1001, "proto udp dport 1701") + &rule(0x1003, "proto gre key 5"))
        .expect("written");
    let import = ["sas", "import"];
    let out = ace(
        &import,
        &[&path("state"), "--policy".as_ref(), &path("policy"), "-o".as_ref(), &path("sas.toml")],
    );
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
    let written = fs::read_to_string(path("sas.toml")).expect("an SA file");
    assert!(
        written.contains("dst_port = \"1701-1701\"") && written.matches("[[sa]]").count() == 1,
        "{written}"
    );
    for named in ["state:9: ", "`mark`", "state:10: ", "`key`"] {
        assert!(stderr(&out).contains(named), "{named}: {}", stderr(&out));
    }
    // All lost: no file, and no success.
    fs::write(path("state"), sa(0x1002, "\tmark 0x1/0xff \n")).expect("written");
    let out = ace(
        &import,
        &[&path("state"), "--local".as_ref(), "192.0.2.1".as_ref(), "-o".as_ref(), &path("none")],
    );
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    assert!(stderr(&out).contains("every SA is left out") && !path("none").exists(), "{}", stderr(&out));
}

#[test]
fn what_the_engine_cannot_do_is_said_before_the_first_packet() {
    let folder = tempfile::tempdir().expect("a folder");
    let (board, nothing, output) =
        (folder.path().join("board.toml"), folder.path().join("nothing"), folder.path().join("out.pcap"));
    fs::write(&board, "[controller]\nlibrary = \"\"\n").expect("written");
    fs::create_dir(&nothing).expect("made");
    let run = ["run", TRAFFIC, "--sas", "tests/demo/protect.toml", "--unproven"];
    let paths =
        ["--board".as_ref(), board.as_path(), "--configurations".as_ref(), &nothing, "-o".as_ref(), &output];
    let out = ace(&run, &paths);
    assert_eq!(out.status.code(), Some(2), "{}", stderr(&out));
    assert!(!output.exists());
    for sa in ["a-to-b", "c-to-a"] {
        assert!(stderr(&out).contains(&format!("SA {sa}: ")), "{}", stderr(&out));
    }
    let out = ace(&[&run[..], &["--keep-going"]].concat(), &paths);
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
    assert!(stdout(&out).contains("277 packets in, 0 out"), "{}", stdout(&out));
}
