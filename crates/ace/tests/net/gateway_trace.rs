// SPDX-License-Identifier: Apache-2.0
//! `ace gateway trace`: what became of each packet, as lines and as captures that tshark reads; readers that are gone.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::gateway::{A, B, GCM, UDP, ask, gateway, sas};
use crate::netns::{WORD, World, until};

/// Starts a trace of gateway `a` that is told from here on.
fn trace(world: &World, of: &str, arguments: &[&str], out: Stdio) -> Child {
    let mut ace = crate::common::command();
    ace.args(["gateway", "trace"]).args(arguments).arg("--control").arg(world.path(&format!("{of}.sock")));
    ace.stdout(out).stderr(Stdio::null()).spawn().expect("ace starts")
}

fn end(mut child: Child) -> String {
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    assert!(child.wait().is_ok_and(|status| status.success()), "{text}");
    text
}

/// Sends until somebody has seen enough.
fn send_until_ended(world: &World, child: &mut Child) {
    let socket = world.within("a", || UdpSocket::bind((A, 0)).expect("an address"));
    until("the trace ends", || {
        let _ = socket.send_to(WORD, (B, 9));
        matches!(child.try_wait(), Ok(Some(_)))
    });
}

/// Fields of a capture's packets, a line each.
fn tshark(file: &Path, fields: &[&str]) -> Vec<String> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(file).args(["-T", "fields", "-E", "separator=|"]);
    for field in fields {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn packets_are_told_with_what_became_of_them() {
    let Some(world) = World::new().filter(|_| crate::common::installed("tshark")) else { return };
    gateway(&world, 1, UDP, &sas(1, "tunnel", '0', GCM));
    // The other end has another key: all that it gets is forged.
    gateway(&world, 2, UDP, &sas(2, "tunnel", '0', &GCM.replace("8899", "8888")));
    let mut child = trace(&world, "a", &["--json", "--count", "3", "--spi", "0x1000"], Stdio::piped());
    send_until_ended(&world, &mut child);
    let text = end(child);
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events.len(), 3);
    let one = &events[0];
    assert_eq!(
        (&one["verdict"], &one["sa"], &one["spi"]),
        (&"protected".into(), &"1-to-2".into(), &0x1000.into())
    );
    assert_eq!(
        (&one["source"], &one["destination"], &one["ports"][1]),
        (&"10.0.1.1".into(), &"10.0.2.1".into(), &9.into())
    );
    assert_eq!(
        (&one["peer"], &one["direction"], &one["packet"]),
        (&"192.0.2.2".into(), &"out".into(), &Value::Null)
    );
    assert!(one["left"].as_u64() > one["bytes"].as_u64() && one["sequence"].as_u64() > Some(0), "{one}");
    // As lines, and at the other end.
    let mut child = trace(&world, "b", &["--count", "2"], Stdio::piped());
    send_until_ended(&world, &mut child);
    let text = end(child);
    let words = "dropped icv_mismatch: the integrity check value is wrong; SA 1-to-2, SPI 0x1000, number ";
    assert!(text.lines().count() == 2 && text.lines().all(|line| line.contains(words)), "{text}");
    // A capture of the outside, which tshark reads, with why in a comment; nobody else may.
    let file = world.path("b.pcapng");
    let path = file.to_str().expect("text");
    let mut child = trace(&world, "b", &["--count", "3", "--pcap", path], Stdio::null());
    send_until_ended(&world, &mut child);
    let lines = tshark(&file, &["frame.comment", "esp.spi", "ip.src", "frame.protocols"]);
    assert_eq!(lines.len(), 3);
    for line in &lines {
        assert!(line.contains("icv_mismatch") && line.contains("|0x00001000|192.0.2.1|raw:ip:esp"), "{line}");
    }
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(&file).expect("it is there").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    // What was to be protected and is not: its headers and no more, unless all of it is asked for.
    for (inner, shown) in [(false, 0), (true, 1)] {
        let file = world.path("a.pcapng");
        let path = file.to_str().expect("text");
        let more: &[&str] = if inner { &["--inner"] } else { &[] };
        world.ip("a", "route replace 10.0.3.0/24 dev ace0").expect("root may");
        let mut arguments = vec!["--count", "1", "--pcap", path];
        arguments.extend(more);
        let mut child = trace(&world, "a", &arguments, Stdio::null());
        let socket = world.within("a", || UdpSocket::bind((A, 0)).expect("an address"));
        until("the trace ends", || {
            let _ = socket.send_to(WORD, "10.0.3.9:9");
            matches!(child.try_wait(), Ok(Some(_)))
        });
        let lines = tshark(&file, &["frame.comment", "ip.dst", "udp.dstport", "frame.len"]);
        let whole = 28 + WORD.len();
        assert!(
            lines[0].contains("dropped policy_discard: ")
                && lines[0].ends_with(&format!("|10.0.3.9|9|{whole}")),
            "{lines:?}"
        );
        let bytes = std::fs::read(&file).expect("it is there");
        assert_eq!(bytes.windows(WORD.len()).filter(|part| *part == WORD).count(), shown);
    }
}

/// One that is asleep loses lines, one that is gone is forgotten, and packets go on; several cores tell as one does.
#[test]
fn nobody_waits_for_a_reader() {
    for engine in ["", "[engine]\ncores = 2\n"] {
        let Some(world) = World::new() else { return };
        gateway(&world, 1, &format!("{UDP}{engine}"), &sas(1, "tunnel", '0', GCM));
        gateway(&world, 2, UDP, &sas(2, "tunnel", '0', GCM));
        let begin = || {
            let mut stream = UnixStream::connect(world.path("a.sock")).expect("it listens");
            stream.write_all(b"trace inner\n").expect("it goes");
            let mut first = [0; 12];
            stream.read_exact(&mut first).expect("it is told");
            assert_eq!(&first, b"{\"trace\":1}\n");
            stream
        };
        let mut asleep = begin();
        let socket = world.within("a", || UdpSocket::bind((A, 0)).expect("an address"));
        // Far more than waits for it, and a last one that it is told of.
        for _ in 0..80 {
            (0..100).for_each(|_| drop(socket.send_to(&[7; 1300], (B, 9))));
            // The kernel's queue holds no more: that one is not what is looked at.
            world.ping_in_vain("a", B, 1);
        }
        assert_eq!(world.ping("a", B, 5), 5);
        let sent = ask(&world, "a", "status")["packets"]["protected"]["packets"].as_u64();
        assert!(sent > Some(4000), "{sent:?}");
        let mut read = vec![0; 1 << 16];
        let mut text = Vec::new();
        asleep.set_read_timeout(Some(std::time::Duration::from_millis(500))).expect("a time");
        while let Ok(len @ 1..) = asleep.read(&mut read) {
            text.extend_from_slice(&read[..len]);
        }
        assert_eq!(world.ping("a", B, 1), 1);
        until("it is told how many it missed", || {
            world.ping("a", B, 1);
            let len = asleep.read(&mut read).unwrap_or(0);
            text.extend_from_slice(&read[..len]);
            let last = text.split(|byte| *byte == b'\n').rev().nth(1).unwrap_or_default();
            serde_json::from_slice::<Value>(last).is_ok_and(|event| event["lost"].as_u64() > Some(0))
        });
        drop(asleep);
        // Four at once, and each that goes makes room.
        for _ in 0..3 {
            let readers: Vec<UnixStream> = (0..4).map(|_| begin()).collect();
            let mut fifth = UnixStream::connect(world.path("a.sock")).expect("it listens");
            fifth.write_all(b"trace all\n").expect("it goes");
            let mut answer = String::new();
            fifth.read_to_string(&mut answer).expect("text");
            assert!(answer.contains("4 readers are told already"), "{answer}");
            drop(readers);
            assert_eq!(world.ping("a", B, 3), 3);
        }
        let refused =
            crate::common::ace(&["gateway", "trace", "--spi", "x", "--control"], &[&world.path("a.sock")]);
        assert_eq!(refused.status.code(), Some(2));
    }
}
