// SPDX-License-Identifier: Apache-2.0
//! The unit file as systemd reads it.
#![cfg(target_os = "linux")]

use std::process::Command;

/// The drop-in for strongSwan, beside a unit of which it is one.
#[test]
fn this_machines_systemd_knows_every_word_of_the_drop_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("charon.service");
    let drop_in = include_str!("../strongswan-ace.conf");
    let verify = |drop_in: &str| {
        let unit = format!("{drop_in}\nExecStart=/bin/true\n");
        std::fs::write(&file, unit).expect("it is ours");
        let output = Command::new("systemd-analyze").arg("verify").arg(&file).output().ok()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let place = format!("{}:", file.display());
        Some(stderr.lines().filter(|line| line.starts_with(&place)).count())
    };
    let Some(wrong) = verify(drop_in) else {
        eprintln!("no systemd-analyze on this machine: nothing was checked");
        return;
    };
    assert_eq!((wrong, verify(&drop_in.replace("Wants=", "Wishes="))), (0, Some(1)));
}

#[test]
fn this_machines_systemd_knows_every_word_of_the_unit() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ace-gateway.service");
    let unit = include_str!("../ace-gateway.service");
    // The program need not be installed.
    let unit = unit.replace("/usr/bin/ace", "/bin/true");
    let verify = |unit: &str| {
        std::fs::write(&file, unit).expect("it is ours");
        let output = Command::new("systemd-analyze").arg("verify").arg(&file).output().ok()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        // What it says of places in the file; of other units and of manuals it says more.
        let place = format!("{}:", file.display());
        Some(stderr.lines().filter(|line| line.starts_with(&place)).map(str::to_owned).collect::<Vec<_>>())
    };
    let Some(stderr) = verify(&unit) else {
        eprintln!("no systemd-analyze on this machine: nothing was checked");
        return;
    };
    assert_eq!(stderr, Vec::<String>::new());
    assert_eq!(verify(&unit.replace("Type=notify", "Type=notice")).map(|stderr| stderr.len()), Some(1));
}

/// The examples that are installed beside the unit are what the gateway takes, and it becomes who the package makes.
#[test]
fn the_examples_are_a_gateway() {
    let text = include_str!("../examples/gateway.toml");
    let config = ace_config::gateway::GatewayConfig::parse("gateway.toml", text).expect("it is right");
    assert_eq!(config.user.as_deref(), Some("ace"));
    let sas =
        ace_config::SaFile::parse("sas.toml", include_str!("../examples/sas.toml")).expect("it is right");
    assert_eq!(sas.sas().len(), 2);
    assert!(config.sas.is_some_and(|file| file.ends_with("sas.toml")));
}
