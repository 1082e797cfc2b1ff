// SPDX-License-Identifier: Apache-2.0
//! A board behind a cable: known answers, a probe, and gateways whose board is at an interface and goes away.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ace_board::manifest::FileRef;
use ace_board::model::Model;
use ace_link::socket::{Socket, SocketError};
use ace_link::soft::{Board, Description, Served};
use ace_link::{Batch, Session, wire};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::gateway_engines::{B, ask, gateway, sas};
use crate::netns::{World, shown, until};

/// The model of the array's slot, or `None`, and why is said.
fn slot(name: &str) -> Option<FileRef> {
    let path = crate::common::root().join("build/array").join(name);
    let Ok(bytes) = fs::read(&path) else {
        eprintln!("skipped, nothing was checked: {} is not built", path.display());
        return None;
    };
    let sha256 = Sha256::digest(&bytes).into();
    Some(FileRef { path, bytes: bytes.len() as u64, sha256 })
}

/// A cable from machine `a`, where it is called so, to a machine with nothing but a board.
fn cable(world: &World) -> String {
    let board = world.space("board");
    lay(world, &board);
    board
}

/// The cable alone, to a machine that is there.
fn lay(world: &World, board: &str) {
    world.ip("a", &format!("link add cable type veth peer name cable netns {board}")).expect("root may");
    for end in ["a", "board"] {
        world.ip(end, "link set cable up").expect("root may");
    }
}

fn plug(world: &World, model: &FileRef, is: Description) -> Served {
    let socket = world.within("board", || Socket::board("cable").expect("a socket"));
    Served::start(Board::new(is, vec![Box::new(Model::open(model, &[]).expect("a model"))]), socket)
        .expect("a thread")
}

fn library() -> PathBuf {
    crate::common::root().join("library/ace.lib")
}

/// `ace`, in machine `a`.
fn ace(world: &World, arguments: &[&str], file: Option<&Path>) -> (Option<i32>, String, String) {
    let mut ace = crate::common::command();
    ace.args(arguments).args(file).current_dir(crate::common::root());
    let out = world.run("a", &mut ace);
    (out.status.code(), crate::common::stdout(&out), crate::common::stderr(&out))
}

/// Some rows of a file of known answers.
fn rows(world: &World, file: &str, rows: usize) -> PathBuf {
    let text = fs::read_to_string(crate::common::root().join("algorithms").join(file)).expect("a file");
    let path = world.path(&file.replace('/', "-"));
    fs::write(&path, text.lines().take(1 + rows).collect::<Vec<_>>().join("\n")).expect("it is ours");
    path
}

#[test]
fn known_answers_and_a_probe_over_a_cable() {
    let Some(model) = slot("slot.so") else { return };
    let Some(world) = World::new() else { return };
    cable(&world);
    let trust = ["--allow-older"];
    // Nobody is there yet.
    let file = crate::common::root().join("algorithms/aes/kat.csv");
    let (code, _, words) = ace(&world, &["kat", "aes", "--engine", "link:cable", trust[0]], Some(&file));
    assert!(code == Some(2) && words.contains("cable: the board does not answer"), "{words}");
    let (code, _, words) = ace(&world, &["kat", "aes", "--engine", "link:eth9", trust[0]], Some(&file));
    assert!(code == Some(2) && words.contains("no network interface `eth9`"), "{words}");
    let board = plug(&world, &model, Description { eye: 40..=90, ..Description::default() });
    for (algorithm, file, count) in
        [("aes", "aes/kat.csv", 12), ("sha1", "sha1/kat.csv", 2), ("aes-gcm", "aes/aes_gcm.csv", 6)]
    {
        let (code, out, words) = ace(
            &world,
            &["kat", algorithm, "--engine", "link:cable", trust[0]],
            Some(&rows(&world, file, count)),
        );
        assert_eq!(code, Some(0), "{out}{words}");
        assert!(out.contains(" passed, 0 failed"), "{out}");
    }
    // Long before the board would end it.
    let is_over = || {
        std::thread::sleep(Duration::from_millis(50));
        board.with_board(|board| board.session()).is_none()
    };
    assert!((0..20).any(|_| is_over()), "whoever is done says so");
    // What it finds is what the board is.
    let sets = ["aes128_encrypt", "aes128_decrypt", "sha1"];
    let arguments = [
        "image",
        "probe",
        "cable",
        "--json",
        "--packets",
        "4",
        "--bytes",
        "64",
        "--hellos",
        "50",
        trust[0],
        "--sets",
    ];
    let (code, out, words) = ace(&world, &[&arguments[..], &sets].concat(), None);
    assert_eq!(code, Some(0), "{out}{words}");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&report["identity"]["slots"], &report["identity"]["queue"]), (&1.into(), &1024.into()));
    let answered: Vec<u64> =
        report["eye"]["answered"].as_array().expect("taps").iter().filter_map(Value::as_u64).collect();
    for (tap, answered) in answered.iter().enumerate() {
        assert_eq!(*answered, if (40..=90).contains(&tap) { 16 } else { 0 }, "{tap}");
    }
    assert_eq!(report["eye"]["chosen"], 65);
    let rates = report["rates"].as_array().expect("rates");
    assert_eq!(rates.len(), 3);
    for rate in rates {
        assert!(rate["mbps"].as_f64() > Some(0.0) && rate["slot_mbps"].as_f64() > Some(100.0), "{rate}");
    }
    assert_eq!(report["identity"]["store_words"], 4096);
    let loads = &report["loads"];
    assert!(sets.iter().any(|set| loads["set"] == *set) && loads["error"].is_null(), "{loads}");
    for way in ["by_cable", "by_name"] {
        assert_eq!(loads[way]["count"], 16, "{loads}");
    }
    let passed: u64 =
        report["answers"].as_array().expect("answers").iter().filter_map(|one| one["passed"].as_u64()).sum();
    assert!(passed > 20, "{report}");
    let (_, out, _) = ace(
        &world,
        &["image", "probe", "cable", "--packets", "0", "--no-answers", "--hellos", "5", trust[0]],
        None,
    );
    assert!(out.contains("taps 40 to 90 (1.28 ns;") && out.contains("tap 65 is set"), "{out}");
    assert!(out.contains("4096 words of 8 bytes") && out.contains("by name, from the store"), "{out}");
}

#[test]
fn an_interface_has_one_program_and_errors_say_what_to_do() {
    let Some(world) = World::new() else { return };
    cable(&world);
    let socket = world.within("a", || Socket::open("cable").expect("a socket"));
    world.within("a", || {
        assert!(matches!(Socket::open("cable"), Err(SocketError::Taken(_))));
        assert!(matches!(Socket::open("lo"), Err(SocketError::NotEthernet(_))));
        assert!(matches!(Socket::open("a/b"), Err(SocketError::Name(_))));
    });
    drop(socket);
    world.ip("a", "link set cable down").expect("root may");
    world.within("a", || match Socket::open("cable").err() {
        Some(error @ SocketError::Down(_)) => assert!(error.to_string().contains("ip link set cable up")),
        other => panic!("{other:?}"),
    });
    // Root of another user namespace is nobody here.
    let mut program = std::process::Command::new("unshare");
    program.args(["--user", env!("CARGO_BIN_EXE_ace"), "kat", "aes"]);
    program.arg(crate::common::root().join("algorithms/aes/kat.csv")).args([
        "--engine",
        "link:cable",
        "--board",
    ]);
    fs::write(world.path("board.toml"), format!("[controller]\nlibrary = {:?}\n", library()))
        .expect("it is ours");
    let denied = world.run("a", program.arg(world.path("board.toml")).arg("--allow-older"));
    assert!(crate::common::stderr(&denied).contains("CAP_NET_RAW"), "{}", crate::common::stderr(&denied));
}

fn engine(world: &World, kind: &str) -> String {
    fs::write(world.path("board.toml"), format!("[controller]\nlibrary = {:?}\n", library()))
        .expect("it is ours");
    format!("kind = \"{kind}\"\nboard = \"board.toml\"\nlink = \"cable\"\n")
}

/// After five pings and their answers, in AES-CBC with HMAC-SHA-1: each bank with its set, loads and operations, and the cable.
fn shows_its_banks(world: &World, board: &Value) {
    let banks = board["slots"].as_array().expect("banks");
    let sum = |of: &str| banks.iter().filter_map(|bank| bank[of].as_u64()).sum::<u64>();
    // Cipher and MAC, of each packet.
    assert_eq!((sum("operations"), &board["completed"]), (20, &10.into()), "{board}");
    assert_eq!(Some(sum("loads")), board["loads"].as_u64(), "{board}");
    assert!(sum("loads") >= 3, "{board}");
    let sets = board["configurations"].as_array().expect("sets");
    let of = |name: &str| {
        let set = sets.iter().find(|set| set["name"] == name);
        set.unwrap_or_else(|| panic!("{name} was loaded: {board}"))["operations"].as_u64()
    };
    for (set, operations) in [("aes128_encrypt", 5), ("aes128_decrypt", 5), ("sha1", 10)] {
        assert_eq!(of(set), Some(operations), "{set}: {board}");
    }
    let link = &board["link"];
    assert_eq!(
        (&link["interface"], &link["loss"], &link["sessions_lost"]),
        (&"cable".into(), &Value::Null, &0.into())
    );
    assert!(link["round_trip_seconds"].as_f64() > Some(0.0), "{link}");
    assert_eq!(link["loads_by_cable"].as_u64(), Some(sum("loads") - sum("loads_by_name")), "{board}");
    assert!(link["store_filled"].as_u64() > Some(0), "sets go to the store meanwhile: {link}");
    assert!(link["frames"].as_u64() >= Some(20) && link["keys"].as_u64() >= Some(3), "{link}");
    let out = crate::common::ace(&["gateway", "slots", "--control"], &[&world.path("a.sock")]);
    let text = crate::common::stdout(&out);
    for row in ["behind cable", "session", "round trip", "sessions lost", "sent again", "aes128_encrypt"] {
        assert!(text.contains(row), "{row}: {text}");
    }
    assert!(!text.contains("odelled"), "{text}");
}

#[test]
fn a_gateway_whose_board_goes_away_drops_by_name_and_goes_on_when_it_is_back() {
    let Some(model) = slot("slot.so") else { return };
    let Some(world) = World::new() else { return };
    cable(&world);
    let board = plug(&world, &model, Description::default());
    let aes = |who| sas(who, 0, "aes-128-cbc");
    gateway(&world, 1, &engine(&world, "board"), &aes(1));
    gateway(&world, 2, "kind = \"cpu\"\n", &aes(2));
    let ((), seen) = world.watch(|| {
        assert_eq!(world.ping("a", B, 3), 3);
        // Idle for longer than the board keeps a session that nobody uses.
        std::thread::sleep(Duration::from_secs(4));
        assert_eq!(world.ping("a", B, 2), 2, "{}", world.read("a.log"));
        let slots = ask(&world, "a", "slots");
        assert_eq!(slots["board"]["models"], "link:cable");
        assert_eq!(slots["board"]["failed"], 0, "{slots}");
        shows_its_banks(&world, &slots["board"]);
        drop(board);
        assert_eq!(world.ping_in_vain("a", B, 2), 0, "nothing leaves that was not protected");
        until("what fails is counted", || ask(&world, "a", "slots")["board"]["failed"].as_u64() > Some(0));
        let _board = plug(&world, &model, Description::default());
        until("the board is found again", || world.ping_in_vain("a", B, 1) == 1);
        assert_eq!(world.ping("a", B, 2), 2);
        let slots = ask(&world, "a", "slots");
        assert_eq!(slots["board"]["link"]["sessions_lost"], 1, "{slots}");
        assert_eq!(slots["board"]["link"]["loss"], Value::Null, "{slots}");
    });
    assert_eq!(shown(&seen), 0, "in clear");
}

#[test]
fn with_auto_this_processor_goes_on_without_the_board() {
    let Some(model) = slot("slot.so") else { return };
    let Some(world) = World::new() else { return };
    cable(&world);
    let board = plug(&world, &model, Description::default());
    let aes = |who| sas(who, 0, "aes-128-cbc");
    gateway(&world, 1, &(engine(&world, "auto") + "on_board = [\"aes\"]\n"), &aes(1));
    gateway(&world, 2, "kind = \"cpu\"\n", &aes(2));
    let ((), seen) = world.watch(|| {
        assert_eq!(world.ping("a", B, 3), 3);
        let slots = ask(&world, "a", "slots");
        assert!(slots["board"]["completed"].as_u64() >= Some(6), "{slots}");
        // Power off and on, and then the cable: no ping is lost.
        board.with_board(|board| board.reset());
        assert_eq!(world.ping("a", B, 3), 3, "{}", world.read("a.log"));
        drop(board);
        assert_eq!(world.ping("a", B, 3), 3, "{}", world.read("a.log"));
        assert!(ask(&world, "a", "slots")["taken_over"].as_u64() >= Some(1));
    });
    assert_eq!(shown(&seen), 0, "in clear");
}

/// How often a frame is seen at most, at both ends and at the bridge between them.
const LOOKS: usize = 3;

/// No protected packet passed twice: an SPI and a number.
fn once(frames: &[Vec<u8>]) {
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    for frame in frames {
        // ESP in UDP, behind the headers of Ethernet, IPv4 and UDP.
        let udp = frame.get(12..14) == Some(&[8, 0]) && frame.get(23) == Some(&17);
        if let Some(esp) = frame.get(42..50).filter(|esp| udp && esp[..4] != [0; 4]) {
            *seen.entry(esp).or_default() += 1;
        }
    }
    assert!(!seen.is_empty() && seen.values().all(|times| *times <= LOOKS), "{seen:?}");
}

/// Another host has the board, from a reset on.
fn stolen(board: &Served) {
    board.with_board(|board| {
        let thief = Session::new([2, 0, 0, 0, 0, 9], wire::BOARD, 99, Duration::ZERO);
        let (mut thief, mut batch) = (thief, Batch::default());
        thief.output(&mut batch, Duration::ZERO);
        board.reset();
        // Its clock is the board's; a session that is older than it looks ends sooner.
        batch.frames().for_each(|frame| board.input(frame, Duration::from_secs(3600)));
        while board.output().is_some() {}
    });
}

/// A board that goes away and comes back, as it is or as another one. With `board` what it cannot do is dropped, with `auto`
/// this processor does it.
fn goes_away(
    kind: &str,
    why: &str,
    act: impl FnOnce(&World, &Served) + Send,
    back: impl FnOnce(&World, &Served, &str) -> Option<Served> + Send,
) {
    let Some(model) = slot("slot.so") else { return };
    let Some(world) = World::new() else { return };
    let machine = cable(&world);
    let board = plug(&world, &model, Description::default());
    let aes = |who| sas(who, 0, "aes-128-cbc");
    let on_board = if kind == "auto" { "on_board = [\"aes\"]\n" } else { "" };
    gateway(&world, 1, &(engine(&world, kind) + on_board), &aes(1));
    gateway(&world, 2, "kind = \"cpu\"\n", &aes(2));
    let ((), seen) = world.watch(|| {
        assert_eq!(world.ping("a", B, 3), 3);
        act(&world, &board);
        if kind == "auto" {
            assert_eq!(world.ping("a", B, 3), 3, "{}", world.read("a.log"));
            assert!(ask(&world, "a", "slots")["taken_over"].as_u64() >= Some(1));
        } else {
            assert_eq!(world.ping_in_vain("a", B, 2), 0, "what the board cannot do is dropped");
            until("it fails by name", || {
                let slots = ask(&world, "a", "slots");
                let loss = slots["board"]["link"]["loss"].as_str().is_some_and(|loss| loss.contains(why));
                loss && slots["board"]["failed"].as_u64() > Some(0)
            });
        }
        let _board = back(&world, &board, &machine);
        until("there is a session", || ask(&world, "a", "slots")["board"]["link"]["loss"] == Value::Null);
        let before = ask(&world, "a", "slots")["board"]["completed"].as_u64();
        assert_eq!(world.ping("a", B, 3), 3, "{}", world.read("a.log"));
        let slots = ask(&world, "a", "slots");
        assert!(slots["board"]["completed"].as_u64() > before, "the board computes again: {slots}");
        assert!(slots["board"]["link"]["sessions_lost"].as_u64() >= Some(1), "{slots}");
    });
    assert_eq!(shown(&seen), 0, "in clear");
    once(&seen);
}

#[test]
fn another_host_has_the_board_and_packets_are_dropped_or_computed_here() {
    for kind in ["board", "auto"] {
        goes_away(
            kind,
            "another host",
            |_, board| stolen(board),
            |_, board, _| {
                board.with_board(|board| board.reset());
                None
            },
        );
    }
}

#[test]
fn the_interface_is_down_and_packets_are_dropped_or_computed_here() {
    for kind in ["board", "auto"] {
        let set = |world: &World, to: &str| world.ip("a", &format!("link set cable {to}")).expect("root may");
        goes_away(
            kind,
            "interface is down",
            |world, _| set(world, "down"),
            |world, _, _| {
                set(world, "up");
                None
            },
        );
    }
}

/// An adapter that is pulled out of its socket comes back as another device, with the same name.
#[test]
fn the_interface_is_gone_and_the_gateway_finds_the_one_that_comes_in_its_place() {
    let Some(model) = slot("slot.so") else { return };
    for kind in ["board", "auto"] {
        let gone = |world: &World, _: &Served| world.ip("a", "link delete cable").expect("root may");
        goes_away(kind, "gone", gone, |world, _, machine| {
            lay(world, machine);
            Some(plug(world, &model, Description::default()))
        });
    }
}
