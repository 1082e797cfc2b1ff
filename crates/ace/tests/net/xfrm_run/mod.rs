// SPDX-License-Identifier: Apache-2.0
//! `ace xfrm run`: programs without a C library to stand in front of, on the gateway instead of the kernel.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{command, stderr, stdout};
use crate::netns::{World, until};
use socket2::{Domain, SockAddr, Socket, Type};

/// A static program; `None`, and a word about it, where none can be made.
fn compiled(folder: &Path) -> Option<PathBuf> {
    linked(folder, "static", &["-static"])
}

fn linked(folder: &Path, name: &str, how: &[&str]) -> Option<PathBuf> {
    let program = folder.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/net/xfrm_run/static.c");
    let made = Command::new("cc").args(how).args(["-O1", "-o"]).arg(&program).arg(source).output();
    if !made.as_ref().is_ok_and(|made| made.status.success()) {
        eprintln!("skipped, nothing was checked: no static programs of C here: {made:?}");
        return None;
    }
    Some(program)
}

fn run(gateway: &Path, program: &Path, arguments: &[&str]) -> Command {
    let mut launcher = command();
    launcher.args(["xfrm", "run", "--gateway"]).arg(gateway).arg(program).args(arguments);
    launcher
}

#[test]
fn a_static_program_adds_an_sa_to_the_gateway() {
    let Some(world) = World::new() else { return };
    let Some(program) = compiled(world.folder.path()) else { return };
    let (config, socket) = (world.path("a.toml"), world.path("a.xfrm"));
    fs::write(
        &config,
        "control = \"a.sock\"\n[inside]\ntun = \"ace0\"\naddress = [\"10.0.1.1/32\"]\nroutes = [\"10.0.2.0/24\"]\n\
         [outside]\nencapsulation = \"udp\"\n[xfrm]\nsocket = \"a.xfrm\"\n",
    )
    .expect("it is ours");
    world.start("a", command().arg("gateway").arg(&config), "log");
    until("the gateway is ready", || world.read("log").contains("ready sas="));
    let out = world.run("a", &mut run(&socket, &program, &["add"]));
    assert!(out.status.success(), "{}{}", stdout(&out), stderr(&out));
    let expected = "name 16 12\ndomain 16\nwhat is not done: -1 Protocol not available\nfrom 16 0 12, as peeked\n\
                    answer 2 77 0\nnothing more: -1 Resource temporarily unavailable\n\
                    nor soon: -1 Resource temporarily unavailable\n";
    assert_eq!(stdout(&out), expected);
    // And what descends from a program, here `ip`, which is not static.
    let list =
        world.run("a", &mut run(&socket, Path::new("sh"), &["-c", "ip xfrm state list; ip link show ace0"]));
    assert!(stdout(&list).contains("spi 0x00004242"), "{}{}", stdout(&list), stderr(&list));
    assert!(stdout(&list).contains("ace0:"), "other netlink is the kernel's: {}", stdout(&list));
    // The same program with a C library looks the same behind the preload library.
    let dynamic = linked(world.folder.path(), "dynamic", &[]).expect("it was linked statically");
    world.run("a", &mut run(&socket, Path::new("ip"), &["xfrm", "state", "flush"]));
    let mut preloaded = Command::new("env");
    preloaded.arg(format!("LD_PRELOAD={}", crate::xfrm::library().display()));
    preloaded.arg(format!("ACE_XFRM={}", socket.display())).arg(&dynamic).arg("add");
    assert_eq!(stdout(&world.run("a", &mut preloaded)), expected);
    let Ok(go) = Command::new("go").arg("version").output() else { return };
    assert!(go.status.success());
    let (source, binary) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/net/xfrm_run/static.go"), world.path("go"));
    let made = Command::new("go")
        .args(["build", "-o"])
        .arg(&binary)
        .arg(source)
        .envs([("CGO_ENABLED", "0"), ("GOFLAGS", "-mod=mod"), ("GOPROXY", "off")])
        .env("GOCACHE", world.path("cache"))
        .output()
        .expect("go");
    assert!(made.status.success(), "{}", stderr(&made));
    let out = world.run("a", &mut run(&socket, &binary, &[]));
    // XFRM_MSG_NEWSADINFO.
    assert_eq!(
        stdout(&out),
        "*syscall.SockaddrNetlink\n*syscall.SockaddrNetlink true 34\n",
        "{}",
        stderr(&out)
    );
}

#[test]
fn without_a_gateway_nothing_reaches_the_kernel() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(folder.path()) else { return };
    let out = run(&folder.path().join("nobody"), &program, &["look"]).output().expect("ace");
    let refused = "xfrm: Connection refused\nroute: a socket\nio_uring: Function not implemented\n";
    assert_eq!(stdout(&out), refused, "{}", stderr(&out));
    assert!(stderr(&out).contains("no gateway answers at"), "{}", stderr(&out));
    // Whoever kills the launcher gains nothing.
    let mut launcher = run(&folder.path().join("nobody"), &program, &["later"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ace");
    let (mut input, output) =
        (launcher.stdin.take().expect("a pipe"), launcher.stdout.take().expect("a pipe"));
    let children = format!("/proc/{0}/task/{0}/children", launcher.id());
    until("the program runs", || !fs::read_to_string(&children).unwrap_or_default().is_empty());
    // It is behind the filter once it is itself.
    let child = fs::read_to_string(&children).expect("Linux");
    let named = format!("/proc/{}/comm", child.trim());
    until("it is itself", || fs::read_to_string(&named).is_ok_and(|name| name.trim() == "static"));
    launcher.kill().expect("it is ours");
    launcher.wait().expect("it is ours");
    input.write_all(b"\n").expect("it waits");
    let lines: Vec<_> = BufReader::new(output).lines().map(|line| line.expect("text")).collect();
    assert_eq!(lines.first().map(String::as_str), Some("xfrm: Function not implemented"), "{lines:?}");
}

#[test]
fn it_ends_as_the_program_does() {
    let here = Path::new("/nothing");
    for (script, code) in [("exit 7", 7), ("kill -9 $$", 137), ("(sleep 0.3; exit 3) & exit 0", 0)] {
        let out = run(here, Path::new("sh"), &["-c", script]).output().expect("ace");
        assert_eq!(out.status.code(), Some(code), "{script}: {}", stderr(&out));
    }
    assert_eq!(run(here, Path::new("/nothing"), &[]).output().expect("ace").status.code(), Some(2));
    // What ends it is passed on.
    let mut launcher =
        run(here, Path::new("sh"), &["-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("ace");
    let mut line = String::new();
    BufReader::new(launcher.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let killed = Command::new("kill").args(["-TERM", &launcher.id().to_string()]).status();
    assert!(killed.expect("kill").success());
    assert_eq!(launcher.wait().expect("it is ours").code(), Some(9));
}

/// What says "first", then nothing for a while, and is gone after "bye".
fn gateway_that_goes(path: &Path) -> thread::JoinHandle<()> {
    let listener = Socket::new(Domain::UNIX, Type::SEQPACKET, None).expect("a socket");
    listener.bind(&SockAddr::unix(path).expect("a path")).expect("bound");
    listener.listen(4).expect("listens");
    thread::spawn(move || {
        let (client, _) = listener.accept().expect("a client");
        client.set_read_timeout(Some(Duration::from_secs(60))).expect("an option");
        loop {
            let mut memory = [std::mem::MaybeUninit::new(0); 64];
            let len = client.recv(&mut memory).expect("a request");
            match len {
                6 => drop(client.send(b"first").expect("sent")),
                7 => drop(client.send(b"second").expect("sent")),
                3 => return,
                // bind(2).
                _ => assert_eq!(len, 20),
            }
        }
    })
}

#[test]
fn signals_lose_no_message_and_a_gateway_that_goes_is_an_error_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = compiled(folder.path()) else { return };
    let path = folder.path().join("g.xfrm");
    let gateway = gateway_that_goes(&path);
    let out = run(&path, &program, &["wait"]).output().expect("ace");
    gateway.join().expect("no panic");
    let expected = "5 first\ninterrupted: -1 Interrupted system call\n6 second\n\
                    gone: -1 Connection reset by peer\nthen: -1 Resource temporarily unavailable\n";
    assert_eq!(stdout(&out), expected, "{}", stderr(&out));
}
