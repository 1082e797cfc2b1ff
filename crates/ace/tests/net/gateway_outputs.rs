// SPDX-License-Identifier: Apache-2.0
//! Whoever takes what a gateway says may be full, asleep or gone: packets go on, and what is lost is counted.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::gateway::{B, GCM, UDP, ask, gateway, gateway_of, sas};
use crate::netns::{World, until};

/// Starts gateway `a` through a shell that says where its words go; `$0` is the program and `$1` its configuration.
fn start(world: &World, script: &str) -> u32 {
    let ace = crate::common::command();
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).arg(ace.get_program()).arg(world.path("a.toml"));
    let id = world.start("a", &mut shell, "shell.log");
    until("the gateway answers", || world.ping("a", B, 1) == 1);
    id
}

/// Both gateways were there once, so that their files are; `a` has stopped.
fn world() -> Option<World> {
    let world = World::new()?;
    let a = gateway(&world, 1, UDP, &sas(1, "tunnel", '0', GCM));
    gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
    assert_eq!(world.end(a, "-TERM"), Some(0));
    Some(world)
}

fn lost(world: &World) -> u64 {
    ask(world, "a", "status")["unwritten"]["log"].as_u64().expect("a number")
}

#[test]
fn a_log_on_a_full_disk_costs_lines_and_no_packet() {
    let Some(world) = world() else { return };
    let a = start(&world, "exec \"$0\" gateway \"$1\" 2>/dev/full");
    until("the lines are lost", || lost(&world) > 0);
    let before = lost(&world);
    world.signal(a, "-HUP");
    until("the reload cannot be said", || lost(&world) > before);
    assert_eq!(world.ping("a", B, 5), 5);
    assert_eq!(world.end(a, "-TERM"), Some(0));
}

#[test]
fn a_log_that_nobody_reads_costs_lines_and_no_packet() {
    let Some(world) = world() else { return };
    // A pipe that is held open by somebody who sleeps.
    let pipe = world.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
    let reader = Command::new("sleep").arg("600").stdin(opened(&pipe)).spawn();
    let mut reader = reader.expect("sleep starts");
    let script = format!("exec \"$0\" gateway --log-level trace \"$1\" 2>{}", pipe.display());
    let a = start(&world, &script);
    // Each is said: more than the pipe and the gateway's memory hold.
    let wrong: String = (0..500).map(|n| format!("key-{n} = 1\n")).collect();
    fs::write(world.path("a-sas.toml"), wrong).expect("it is ours");
    until("what is said is lost", || {
        for _ in 0..200 {
            world.signal(a, "-HUP");
        }
        lost(&world) > 0
    });
    assert_eq!(world.ping("a", B, 5), 5);
    // The reader goes.
    reader.kill().and_then(|()| reader.wait()).expect("it ends");
    world.signal(a, "-HUP");
    assert_eq!(world.ping("a", B, 5), 5);
    assert_eq!(world.end(a, "-TERM"), Some(0));
}

/// Both ends of a pipe at once, so that opening it waits for nobody.
fn opened(pipe: &Path) -> fs::File {
    fs::OpenOptions::new().read(true).write(true).open(pipe).expect("a pipe")
}

#[test]
fn a_recording_on_a_full_disk_ends_and_packets_go_on() {
    let Some(world) = World::new() else { return };
    let outside = format!("{UDP}[record]\nfile = \"/dev/full\"\npackets = 1000\n");
    gateway_of(&world, 1, "", &[], &outside, &sas(1, "tunnel", '0', GCM));
    gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
    assert_eq!(world.ping("a", B, 5), 5);
    until("the recording has ended", || world.read("a.log").contains("no more is recorded"));
    assert_eq!(world.ping("a", B, 5), 5);
    assert!(ask(&world, "a", "status")["unwritten"]["record"].as_u64() > Some(0));
}
