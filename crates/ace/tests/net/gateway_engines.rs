// SPDX-License-Identifier: Apache-2.0
//! The board behind `ace gateway`: live traffic through configurations that are loaded, whoever costs less, and a newer
//! library in the field while traffic flows.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::netns::{World, shown, until};
use serde_json::Value;

pub const B: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 1);
const D: Ipv4Addr = Ipv4Addr::new(10, 1, 2, 1);
/// An octet less than a key: the last one is the SA's, as no two have the same.
const KEY: &str = "00112233445566778899aabbccddee";

/// Two SAs between the nets 10.N.1.0 and 10.N.2.0, with a cipher and HMAC-SHA-1.
pub fn sas(who: u8, net: u8, cipher: &str) -> String {
    let auth = |from| format!("auth = \"hmac-sha1-96\"\nauth_key = \"{KEY}{from}{net}00000000\"\n");
    pair(who, net, cipher, "", auth)
}

pub fn pair(who: u8, net: u8, cipher: &str, salt: &str, auth: impl Fn(u8) -> String) -> String {
    let one = |from: u8, to: u8| {
        let direction = if from == who { "out" } else { "in" };
        format!(
            "[[sa]]\nname = \"{cipher}-{from}-to-{to}\"\nspi = 0x{from}0{net}0\ndirection = \"{direction}\"\n\
             mode = \"tunnel\"\nlocal = \"192.0.2.{who}\"\nremote = \"192.0.2.{}\"\nfresh_key = true\n\
             selector = {{ src = \"10.{net}.{from}.0/24\", dst = \"10.{net}.{to}.0/24\" }}\n\
             cipher = \"{cipher}\"\nkey = \"{KEY}{from}{net}{salt}\"\n{}",
            3 - who,
            auth(from)
        )
    };
    format!("{}{}", one(1, 2), one(2, 1))
}

pub fn gateway(world: &World, who: u8, engine: &str, sas: &str) -> u32 {
    let name = ["a", "b"][usize::from(who) - 1];
    write_sas(world, name, sas);
    let other = 3 - who;
    let config = format!(
        "sas = \"{name}-sas.toml\"\ncontrol = \"{name}.sock\"\n[inside]\ntun = \"ace0\"\n\
         address = [\"10.0.{who}.1/32\", \"10.1.{who}.1/32\"]\nroutes = [\"10.0.{other}.0/24\", \"10.1.{other}.0/24\"]\n\
         [outside]\nencapsulation = \"udp\"\n[engine]\n{engine}"
    );
    let path = world.path(&format!("{name}.toml"));
    fs::write(&path, config).expect("it is ours");
    let log = format!("{name}.log");
    let id = world.start(name, crate::common::command().arg("gateway").arg(&path), &log);
    until("the gateway is ready", || {
        let logged = world.read(&log);
        assert!(!logged.contains("ace: "), "{logged}");
        logged.contains("ready sas=")
    });
    // Each net has its own SAs.
    world.ip(name, &format!("route replace 10.1.{other}.0/24 dev ace0 src 10.1.{who}.1")).expect("it may");
    id
}

/// SM4 has no RFC that defines it for ESP.
pub fn write_sas(world: &World, name: &str, sas: &str) {
    world.write_keys(&format!("{name}-sas.toml"), &format!("allow_legacy = true\n{sas}"));
}

pub fn ask(world: &World, name: &str, question: &str) -> Value {
    let socket = world.path(&format!("{name}.sock"));
    let out = crate::common::ace(&["gateway", question, "--json", "--control"], &[&socket]);
    assert_eq!(out.status.code(), Some(0), "{}", crate::common::stderr(&out));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// Hands gateway `a` a library: whether it was taken, and what was said.
fn hand(world: &World, file: &Path) -> (bool, String) {
    let out = crate::common::ace(&["gateway", "library", "--control"], &[&world.path("a.sock"), file]);
    (out.status.code() == Some(0), crate::common::stdout(&out) + &crate::common::stderr(&out))
}

/// Two libraries of one key, the newer one with SM4, a board for them, and a library of somebody else.
fn libraries(world: &World) {
    let at = |name: &str| world.path(name);
    let run = |arguments: &[&str], paths: &[&Path]| {
        // What is made here has not been seen by the gateways.
        let mut ace = crate::common::command();
        ace.current_dir(crate::common::root()).env("XDG_STATE_HOME", world.path("state")).arg("library");
        let out = ace.args(arguments).args(paths).output().expect("ace starts");
        assert_eq!(out.status.code(), Some(0), "{}", crate::common::stderr(&out));
    };
    for key in ["key", "other"] {
        run(&["keygen"], &[&at(key)]);
    }
    let (old, new) = (at("old.lib"), at("new.lib"));
    run(&["build", "aes", "sha1", "--secret"], &[&at("key"), "--library".as_ref(), &old]);
    fs::copy(&old, &new).expect("it is there");
    run(&["add", "sm4", "--secret"], &[&at("key"), "--library".as_ref(), &new]);
    run(
        &["build", "aes", "sha1", "sm4", "--secret"],
        &[&at("other"), "--library".as_ref(), &at("foreign.lib")],
    );
    let mut bytes = fs::read(&new).expect("it is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(at("damaged.lib"), bytes).expect("it is ours");
    fs::write(at("board.toml"), "[controller]\nlibrary = \"old.lib\"\n").expect("it is ours");
    fs::copy(at("key.pub"), at("trusted.keys")).expect("it is there");
}

fn ready() -> bool {
    let models = ["aes", "sha1", "sm4"];
    let built = |name: &&str| {
        crate::common::root().join("build/configurations").join(name).join("manifest.json").exists()
    };
    crate::common::built() && models.iter().all(built) || {
        eprintln!("sm4 is not built; nothing was checked");
        false
    }
}

fn board(kind: &str) -> String {
    let configurations = crate::common::root().join("build/configurations");
    format!(
        "kind = \"{kind}\"\nboard = \"board.toml\"\nlibrary_key = \"trusted.keys\"\nconfigurations = \"{}\"\n",
        configurations.display()
    )
}

#[test]
fn a_newer_library_is_taken_while_traffic_flows() {
    if !ready() {
        return;
    }
    let Some(world) = World::new() else { return };
    libraries(&world);
    let aes = |who| sas(who, 0, "aes-128-cbc");
    let both = |who| aes(who) + &sas(who, 1, "sm4-cbc");
    let id = gateway(&world, 1, &board("board"), &aes(1));
    gateway(&world, 2, "kind = \"cpu\"\n", &both(2));
    let (stop, sent, lost) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let (outcome, seen) = world.watch(|| {
        std::thread::scope(|scope| {
            // Pings all the while, each of which the board computes both ways.
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    sent.fetch_add(1, Ordering::Relaxed);
                    lost.fetch_add(1 - world.ping("a", B, 1), Ordering::Relaxed);
                }
            });
            // The thread that pings ends whatever becomes of the rest.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                field(&world, id, &aes(1), &both(1))
            }));
            stop.store(true, Ordering::Relaxed);
            outcome
        })
    });
    let took = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let (sent, lost) = (sent.into_inner(), lost.into_inner());
    assert!(sent > 20 && lost == 0, "{lost} of {sent} pings were lost");
    assert_eq!(shown(&seen), 0, "in clear");
    let slots = ask(&world, "a", "slots");
    let used = slots["board"]["configurations"].as_array().expect("a list").iter();
    let names: Vec<&str> = used.filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["aes", "sha1", "sm4"]);
    assert_eq!((&slots["switched"], &slots["refused"]), (&1.into(), &0.into()));
    assert!(slots["board"]["timeline"].as_array().is_some_and(|loads| loads.len() >= 4), "{slots}");
    eprintln!("{sent} pings, {lost} lost; SM4 after {took:?}");
}

/// Everything that may be handed over, wrong ones first. How long it took from the right one to a packet in SM4.
fn field(world: &World, id: u32, aes: &str, both: &str) -> Duration {
    until("the board computes", || ask(world, "a", "slots")["board"]["completed"].as_u64() > Some(8));
    let since = Instant::now();
    // SM4 is unknown: an SA file that wants it changes nothing.
    write_sas(world, "a", both);
    world.signal(id, "-HUP");
    until("SM4 is refused", || {
        let logged = world.read("a.log");
        assert!(!logged.contains("kept=2") && since.elapsed().as_secs() < 50, "{logged}");
        logged.contains("not reloaded") && logged.contains("sm4")
    });
    write_sas(world, "a", aes);
    for (file, why) in [
        ("damaged.lib", "altered"),
        ("foreign.lib", "not by the key that is trusted"),
        ("old.lib", "only a newer one is taken"),
        ("nothing.lib", "No such file"),
        ("key.pub", "no ACE library"),
    ] {
        let (taken, logged) = hand(world, &world.path(file));
        assert!(!taken && logged.contains(why), "{file}: {logged}");
    }
    let status = ask(world, "a", "slots");
    assert!(status["board"]["library"].as_str().is_some_and(|words| words.contains("version 1")), "{status}");
    assert_eq!(world.ping_in_vain("a", D, 1), 0, "no SA");
    // The right one, and with it the SA file that is there by now.
    write_sas(world, "a", both);
    let since = Instant::now();
    let (taken, logged) = hand(world, &world.path("new.lib"));
    assert!(taken && logged.contains("version 2"), "{logged}");
    assert_eq!(world.ping("a", D, 1), 1, "SM4 works");
    let took = since.elapsed();
    assert_eq!(world.ping("a", D, 5), 5);
    let (taken, logged) = hand(world, &world.path("old.lib"));
    assert!(!taken && logged.contains("version 1"), "{logged}");
    assert_eq!(world.ping("a", D, 1), 1, "SM4 works");
    took
}

#[test]
fn the_cheaper_one_computes_and_a_slot_works_beside_it() {
    if !ready() {
        return;
    }
    let Some(world) = World::new() else { return };
    libraries(&world);
    fs::copy(world.path("new.lib"), world.path("old.lib")).expect("it is ours");
    let both = |who| sas(who, 0, "aes-128-cbc") + &sas(who, 1, "sm4-cbc");
    gateway(&world, 1, &(board("auto") + "on_board = [\"sm4\"]\n"), &both(1));
    gateway(&world, 2, "kind = \"cpu\"\n", &both(2));
    assert_eq!((world.ping("a", B, 200), world.ping("a", D, 20)), (200, 20));
    until("the board was measured", || {
        let slots = ask(&world, "a", "slots");
        let costs = slots["costs"].as_array().cloned().unwrap_or_default();
        let of = |name: &str| {
            costs.iter().find(|cost| cost["operation"].as_str().is_some_and(|of| of.contains(name))).cloned()
        };
        let (Some(aes), Some(sm4)) = (of("aes"), of("sm4")) else { return false };
        // What the simulation takes is more than what this processor does; SM4 was given to the board whatever it costs.
        aes["at"] == "cpu"
            && aes["by_cpu"].as_u64() >= Some(200)
            && aes["by_board"] == 0
            && aes["board_ns"].as_f64() > aes["cpu_ns"].as_f64()
            && (&sm4["at"], &sm4["barred"]) == (&"board".into(), &false.into())
            && sm4["by_board"].as_u64() >= Some(20)
            && sm4["by_cpu"] == 0
    });
    let out = crate::common::ace(&["gateway", "slots", "--control"], &[&world.path("a.sock")]);
    assert!(crate::common::stdout(&out).contains("sm4"), "{}", crate::common::stdout(&out));
    // Shown again and again until nobody reads any more.
    let mut watch = crate::common::command();
    watch.args(["gateway", "status", "--json", "--watch", "0.1", "--control"]).arg(world.path("a.sock"));
    let mut watch = watch.stdout(std::process::Stdio::piped()).spawn().expect("ace starts");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(watch.stdout.take().expect("a pipe")));
    let three: Vec<Value> =
        lines.take(3).map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON")).collect();
    assert!(three[0]["seconds"].as_f64() < three[2]["seconds"].as_f64());
    watch.kill().expect("it runs");
    watch.wait().expect("it ends");
}

#[test]
fn the_page_and_the_metrics_show_what_happens() {
    if !ready() {
        return;
    }
    let Some(world) = World::new() else { return };
    libraries(&world);
    // A name that would be markup, were it not text.
    let evil = sas(1, 0, "aes-128-cbc").replace("name = \"aes", "name = \"<img src=x onerror=alert(1)>aes");
    let page = "on_board = [\"aes\"]\n[page]\nlisten = \"127.0.0.1:9450\"\n";
    gateway(&world, 1, &(board("auto") + page), &evil);
    gateway(&world, 2, "kind = \"cpu\"\n", &sas(2, 0, "aes-128-cbc"));
    assert_eq!(world.ping("a", B, 20), 20);
    let get = |path: &str, host: &str| {
        world.within("a", || {
            let mut stream = TcpStream::connect("127.0.0.1:9450").expect("it listens");
            let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("it takes it");
            let mut logged = String::new();
            stream.read_to_string(&mut logged).expect("it answers");
            logged
        })
    };
    let metrics = get("/metrics", "localhost");
    for line in
        ["ace_gateway_packets_total{what=\"protected\"} 20", "ace_slot_holds{slot=\"0\",configuration="]
    {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    assert!(get("/metrics", "somebody.example").starts_with("HTTP/1.1 403"));
    if !crate::common::installed("chromium") {
        return;
    }
    let pictures = crate::common::root().join("build/screenshots");
    fs::create_dir_all(&pictures).expect("a folder");
    let pictures = pictures.canonicalize().expect("a folder");
    for width in [1200, 500] {
        let mut chromium = std::process::Command::new("chromium");
        chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]);
        chromium.arg(format!("--user-data-dir={}", world.path("profile").display()));
        // Three turns of the page.
        chromium.args([&format!("--window-size={width},1600"), "--virtual-time-budget=3500", "--dump-dom"]);
        chromium.arg(format!("--screenshot={}", pictures.join(format!("gateway-{width}.png")).display()));
        let out = world.run("a", chromium.arg("http://127.0.0.1:9450/"));
        let dom = crate::common::stdout(&out);
        for part in [
            "engine auto, up ",
            ">2 SAs, ",
            " Mb/s protected and ",
            "data-wide=\"false\"",
            ">aes</td>",
            "&lt;img src=x onerror=alert(1)&gt;aes-128-cbc-1-to-2",
            "aria-sort=\"descending\"",
            "all 2 SAs",
            "<canvas",
            "of modelled time",
        ] {
            assert!(dom.contains(part), "{part} is not in\n{dom}\n{}", crate::common::stderr(&out));
        }
        let turns = dom.split("data-turns=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse().ok());
        assert!(turns >= Some(2), "it goes on: {turns:?}");
    }
}

#[test]
fn a_service_manager_hears_how_it_is() {
    let Some(world) = World::new() else { return };
    let socket = UnixDatagram::bind(world.path("notify")).expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(world.path("notify"), open).expect("it is ours");
    let sas = sas(1, 0, "aes-128-cbc");
    write_sas(&world, "a", &sas);
    let config = "sas = \"a-sas.toml\"\nuser = \"nobody\"\ncontrol = \"a.sock\"\n[inside]\n[outside]\nencapsulation = \"udp\"\n";
    fs::write(world.path("a.toml"), config).expect("it is ours");
    // The service manager says which process is meant.
    let mut ace = std::process::Command::new("sh");
    ace.args(["-c", "WATCHDOG_PID=$$ exec \"$0\" gateway \"$1\"", env!("CARGO_BIN_EXE_ace")])
        .arg(world.path("a.toml"));
    ace.env("NOTIFY_SOCKET", world.path("notify")).env("WATCHDOG_USEC", "300000");
    let id = world.start("a", &mut ace, "a.log");
    let hear = |wanted: &str| {
        let mut heard = Vec::new();
        let mut bytes = [0; 256];
        while let Ok(len) = socket.recv(&mut bytes) {
            let logged = String::from_utf8_lossy(&bytes[..len]).into_owned();
            if logged.contains(wanted) {
                return;
            }
            heard.push(logged);
        }
        panic!("{wanted} was not said, but {heard:?}; {}", world.read("a.log"));
    };
    hear("READY=1");
    (0..3).for_each(|_| hear("WATCHDOG=1"));
    world.signal(id, "-HUP");
    hear("RELOADING=1");
    hear("READY=1");
    assert_eq!(world.end(id, "-TERM"), Some(0));
    hear("STOPPING=1");
}
