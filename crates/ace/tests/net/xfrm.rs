// SPDX-License-Identifier: Apache-2.0
//! `ip xfrm` as it is on every Linux, with the preload library, on `ace gateway` instead of the kernel.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Instant;

use crate::gateway_firewall::{arrives, released};
use crate::netns::{World, shown, until};
use socket2::{Domain, SockAddr, Socket, Type};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 1);
const KEY: &str = "0x0102030405060708090a0b0c0d0e0f1011121314";
const AES: &str = "0x0102030405060708090a0b0c0d0e0f10";
const MAC: &str = "0x0102030405060708090a0b0c0d0e0f100102030405060708090a0b0c0d0e0f10";

/// The preload library, built with the profile of this test.
pub fn library() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--locked", "--package", "ace-xfrm-preload"])
        .current_dir(crate::common::root());
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    assert!(cargo.status().is_ok_and(|status| status.success()), "ace-xfrm-preload does not build");
    PathBuf::from(env!("CARGO_BIN_EXE_ace")).with_file_name("libace_xfrm.so")
}

pub struct Ends {
    pub world: World,
    pub library: PathBuf,
    /// Of the gateways, a and b.
    pub gateways: [u32; 2],
}

impl Ends {
    fn new() -> Option<Ends> {
        let world = World::new()?;
        Ends::with(world, &["".to_owned(), "".to_owned()])
    }

    /// With more in each configuration.
    pub fn with(world: World, more: &[String; 2]) -> Option<Ends> {
        let mut ends = Ends { world, library: library(), gateways: [0; 2] };
        ends.gateways = [ends.start(1, "a", &more[0]), ends.start(2, "b", &more[1])];
        Some(ends)
    }

    pub fn start(&self, who: u8, name: &str, more: &str) -> u32 {
        let config = format!(
            "control = \"{name}.sock\"\n[inside]\ntun = \"ace0\"\naddress = [\"10.0.{who}.1/32\"]\n\
             routes = [\"10.0.{}.0/24\"]\n[outside]\nencapsulation = \"udp\"\n[xfrm]\nsocket = \"{name}.xfrm\"\n{more}",
            3 - who
        );
        let path = self.world.path(&format!("{name}.toml"));
        fs::write(&path, config).expect("it is ours");
        let log = format!("{name}.log");
        let id = self.world.start(name, crate::common::command().arg("gateway").arg(&path), &log);
        until("the gateway is ready", || {
            let logged = self.world.read(&log);
            assert!(!logged.contains("ace: "), "{logged}");
            logged.contains("ready sas=")
        });
        id
    }

    /// `ip`, with the gateway of one end for its kernel.
    pub fn ip(&self, of: &str, arguments: &str) -> Output {
        Command::new("ip")
            .args(arguments.split(' '))
            .env("LD_PRELOAD", &self.library)
            .env("ACE_XFRM", self.world.path(&format!("{of}.xfrm")))
            .output()
            .expect("ip starts")
    }

    pub fn does(&self, of: &str, arguments: &str) -> String {
        let out = self.ip(of, arguments);
        assert!(out.status.success(), "ip {arguments}: {}", crate::common::stderr(&out));
        crate::common::stdout(&out)
    }

    pub fn refuses(&self, of: &str, arguments: &str, why: &str) {
        let out = self.ip(of, arguments);
        assert!(!out.status.success(), "ip {arguments} did it");
        assert!(crate::common::stderr(&out).contains(why), "ip {arguments}: {}", crate::common::stderr(&out));
    }

    /// SAs and policies of a tunnel, at both ends.
    fn tunnel(&self, command: &str, number: u32) {
        for (of, ways) in [("a", ["out", "in"]), ("b", ["in", "out"])] {
            for ((from, to), way) in [(1, 2), (2, 1)].into_iter().zip(ways) {
                let ends = format!("src 192.0.2.{from} dst 192.0.2.{to}");
                let suite = if from == 1 {
                    format!("aead rfc4106(gcm(aes)) {KEY} 128")
                } else {
                    format!("auth-trunc hmac(sha256) {MAC} 128 enc cbc(aes) {AES}")
                };
                let spi = 0x1000 * from + number;
                let sa = format!("{ends} proto esp spi {spi:#x} reqid {number} mode tunnel {suite}");
                self.does(of, &format!("xfrm state add {sa}"));
                let policy = format!("src 10.0.{from}.0/24 dst 10.0.{to}.0/24 dir {way}");
                let template = format!("tmpl {ends} proto esp reqid {number} mode tunnel");
                self.does(of, &format!("xfrm policy {command} {policy} {template}"));
            }
        }
    }
}

#[test]
fn ip_xfrm_configures_the_gateway() {
    let Some(ends) = Ends::new() else { return };
    let world = &ends.world;
    assert_eq!(ends.does("a", "xfrm state list"), "");
    assert_eq!(world.ping_in_vain("a", B, 1), 0);
    ends.tunnel("add", 1);
    let (pings, seen) = world.watch(|| (world.ping("a", B, 3), world.ping("b", A, 3)));
    assert_eq!((pings, shown(&seen)), ((3, 3), 0));

    // What was put in is told, keys too: whoever asks is root.
    let list = ends.does("a", "-s xfrm state list");
    for part in [
        "src 192.0.2.1 dst 192.0.2.2\n\tproto esp spi 0x00001001",
        &format!("aead rfc4106(gcm(aes)) {KEY} (160 bits) 128"),
        &format!("auth-trunc hmac(sha256) {MAC} (256 bits) 128"),
        &format!("enc cbc(aes) {AES}"),
        "6(packets)",
    ] {
        assert!(list.contains(part), "{part}\n{list}");
    }
    assert!(ends.does("a", "xfrm policy list").contains("dir out"));
    assert_eq!(ends.does("a", "xfrm state count").trim(), "SAD count 2");
    assert_eq!(ends.does("a", "xfrm policy count").trim(), "SPD IN  1 OUT 1 FWD 0");
    let get = "xfrm state get src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x1001";
    assert!(ends.does("a", get).contains("reqid 1"));

    // The kernel knows nothing of it.
    let kernel = world.within("a", || Command::new("ip").args(["xfrm", "state", "list"]).output());
    assert_eq!(crate::common::stdout(&kernel.expect("ip starts")), "");

    // A second SA takes over, and the first goes: nothing is lost.
    ends.tunnel("update", 2);
    for (of, number) in [("a", 1), ("b", 1)] {
        for from in [1, 2] {
            let ends_of = format!("src 192.0.2.{from} dst 192.0.2.{}", 3 - from);
            ends.does(
                of,
                &format!("xfrm state delete {ends_of} proto esp spi {:#x}", 0x1000 * from + number),
            );
        }
    }
    assert_eq!((world.ping("a", B, 3), world.ping("b", A, 3)), (3, 3));

    // Without its policy an SA carries nothing, and with it again it goes on where it was.
    let policy = "src 10.0.1.0/24 dst 10.0.2.0/24 dir out";
    ends.does("a", &format!("xfrm policy delete {policy}"));
    let (answered, seen) = world.watch(|| world.ping_in_vain("a", B, 1));
    assert_eq!((answered, shown(&seen)), (0, 0));
    let template = "tmpl src 192.0.2.1 dst 192.0.2.2 proto esp reqid 2 mode tunnel";
    ends.does("a", &format!("xfrm policy add {policy} {template}"));
    assert_eq!(world.ping("a", B, 3), 3);

    // What is not there is refused by its errno.
    let sa = "xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x3000";
    let gcm = format!("aead rfc4106(gcm(aes)) {KEY} 128");
    ends.refuses("a", &format!("{sa} mode beet {gcm}"), "not supported");
    ends.refuses("a", &format!("{sa} mode tunnel enc cbc(blowfish) {AES}"), "not implemented");
    ends.refuses("a", &format!("{sa} mode tunnel enc cbc(aes) {AES}"), "not implemented");
    ends.refuses("a", &format!("{sa} mode tunnel {gcm} if_id 7"), "No such device");
    ends.refuses(
        "a",
        "xfrm state delete src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x3000",
        "No such process",
    );
    ends.refuses("a", &format!("xfrm policy delete {}", policy.replace("10.0", "10.9")), "No such file");
    let elsewhere = sa.replace("192.0.2.1", "198.51.100.1");
    ends.refuses("a", &format!("{elsewhere} mode tunnel {gcm}"), "assign requested address");
    let reserved = "xfrm state allocspi src 192.0.2.2 dst 192.0.2.1 proto esp mode tunnel min 4096 max 4099";
    assert!(ends.does("a", reserved).contains("proto esp spi 0x0000100"));

    // What is done is told, and what is not is refused by its name.
    for (words, told) in [
        ("tfcpad 600", "tfcpad 600"),
        ("flag noecn", "flag noecn"),
        ("output-mark 5", "output-mark 0x5"),
        ("extra-flag dont-encap-dscp", "extra_flag dont-encap-dscp"),
    ] {
        ends.does("a", &format!("{sa} mode tunnel {gcm} {words}"));
        let list = ends.does("a", "-s xfrm state list");
        assert!(list.contains(told), "{words}: {list}");
        ends.does("a", "xfrm state delete src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x3000");
    }
    for words in ["flag icmp", "flag wildrecv", "extra-flag oseq-may-wrap"] {
        ends.refuses("a", &format!("{sa} mode tunnel {gcm} {words}"), "not supported");
    }
    let icmp = "xfrm policy add src 10.7.1.0/24 dst 10.7.2.0/24 proto icmp type 8 code 0 dir out";
    ends.does("a", &format!("{icmp} {template}"));
    assert!(ends.does("a", "xfrm policy list").contains("proto icmp type 8 code 0"));
    ends.refuses("a", &format!("{} flag icmp {template}", icmp.replace("type 8", "type 9")), "not supported");

    // Flushed: nothing flows, nothing shows.
    ends.does("a", "xfrm state flush");
    assert_eq!(ends.does("a", "xfrm state list"), "");
    let (answered, seen) = world.watch(|| world.ping_in_vain("a", B, 1));
    assert_eq!((answered, shown(&seen)), (0, 0));
    ends.does("a", "xfrm policy flush");
    assert_eq!(ends.does("a", "xfrm policy list"), "");
}

/// With policies alone, by their priority, as they come and go.
#[test]
fn policies_keep_out_what_comes_in_clear() {
    let Some(ends) = Ends::new() else { return };
    for of in ["all", "wire"] {
        let path = format!("/proc/sys/net/ipv4/conf/{of}/rp_filter");
        ends.world.within("b", || fs::write(path, "0").expect("root may"));
    }
    // What would leave in clear its own gateway keeps in.
    assert_eq!(ends.world.end(ends.gateways[0], "-TERM"), Some(0));
    released(&ends.world, "a");
    ends.world.ip("a", "address add 10.0.1.1/32 dev lo").expect("root may");
    let arrives = || arrives(&ends.world, "10.0.1.1", B, 9000);
    until("it arrives", arrives);
    let template = "tmpl src 192.0.2.1 dst 192.0.2.2 proto esp reqid 1 mode tunnel";
    for way in ["in", "fwd"] {
        let all = format!("src 10.0.1.0/24 dst 10.0.2.0/24 dir {way}");
        ends.does("b", &format!("xfrm policy add {all} priority 100 {template}"));
        until("it is kept out", || !arrives());
        // A shunt before it, and one behind it.
        let shunt = format!("src 10.0.1.1 dst 10.0.2.0/24 proto udp dir {way}");
        ends.does("b", &format!("xfrm policy add {shunt} priority 50"));
        until("it passes", arrives);
        ends.does("b", &format!("xfrm policy update {shunt} priority 150"));
        until("it is kept out", || !arrives());
        ends.does("b", &format!("xfrm policy delete {all}"));
        until("the shunt is left", arrives);
        ends.does("b", &format!("xfrm policy update {shunt} action block priority 150"));
        until("it is blocked", || !arrives());
        ends.does("b", "xfrm policy flush");
        until("nothing is left", arrives);
    }
}

/// Polls a socket that waits and reads without waiting, as charon does. Its last line is how long ten wakes took.
const POLLS: &str = "import socket, select, time, sys\n\
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 6)\n\
s.bind((0, 3))\n\
print('listens', flush=True)\n\
p = select.poll(); p.register(s, select.POLLIN)\n\
begin = None\n\
for n in range(12):\n\
\x20   p.poll()\n\
\x20   try: s.recv(65536, socket.MSG_DONTWAIT)\n\
\x20   except OSError: pass\n\
\x20   if n == 1: begin = time.monotonic()\n\
print(time.monotonic() - begin)\n";

#[test]
fn a_program_without_its_gateway_does_not_spin() {
    let Some(ends) = Ends::new() else { return };
    let mut command = Command::new("python3");
    command.args(["-c", POLLS]).env("LD_PRELOAD", &ends.library);
    command.env("ACE_XFRM", ends.world.path("a.xfrm")).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("python3 starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("text");
    assert_eq!(line, "listens\n");
    assert_eq!(ends.world.end(ends.gateways[0], "-KILL"), None);
    line.clear();
    output.read_line(&mut line).expect("text");
    assert!(child.wait().expect("it ends").success());
    // The library looks for the gateway four times a second: ten wakes of its clock are no moment, however slow this is.
    let seconds: f64 = line.trim().parse().expect("seconds");
    assert!(seconds > 1.0, "{seconds}");
}

#[test]
fn clients_that_misbehave_harm_nobody_else() {
    let Some(ends) = Ends::new() else { return };
    let connect = || {
        let socket = Socket::new(Domain::UNIX, Type::SEQPACKET, None).expect("a socket");
        let path = ends.world.path("a.xfrm");
        socket.connect(&SockAddr::unix(path).expect("a path")).expect("it listens");
        socket
    };
    ends.tunnel("add", 1);
    // Half a message, none at all, one that says that it is endless, one that goes before its answer.
    let half = connect();
    half.send(&[24, 0, 0, 0, 0x12]).expect("it goes");
    let silent = connect();
    let wrong = connect();
    wrong.send(&[0xff; 60000]).expect("it goes");
    let dump = [20_u32.to_ne_bytes(), [0x12, 0, 5, 3], [1, 0, 0, 0], [0; 4], [0; 4]].concat();
    for _ in 0..100 {
        connect().send(&dump).expect("it goes");
    }
    // A flood whose answers nobody reads.
    let flood = connect();
    flood.set_nonblocking(true).expect("it may");
    while flood.send(&dump).is_ok() {}
    assert_eq!(ends.does("a", "xfrm state count").trim(), "SAD count 2");
    assert_eq!(ends.world.ping("a", B, 2), 2);
    drop((half, silent, wrong, flood));

    // As many SAs as a gateway of a provider has.
    let many = 10_000;
    let lines = (0..many).map(|n| {
        let (to, spi) = (format!("198.51.{}.{}", 100 + n / 250, n % 250 + 1), 0x10_0000 + n);
        let sa = format!("src 192.0.2.1 dst {to} proto esp spi {spi:#x} reqid {spi} mode tunnel");
        format!("xfrm state add {sa} aead rfc4106(gcm(aes)) {KEY} 128\n")
    });
    let batch = ends.world.path("batch");
    fs::write(&batch, lines.collect::<String>()).expect("it is ours");
    let start = Instant::now();
    ends.does("a", &format!("-batch {}", batch.display()));
    let took = start.elapsed();
    assert_eq!(ends.does("a", "xfrm state count").trim(), format!("SAD count {}", many + 2));
    println!("{many} SAs over XFRM by ip -batch: {:.2} s", took.as_secs_f64());
    assert_eq!(ends.does("a", "xfrm state list").matches("proto esp").count(), many + 2);
    assert_eq!(ends.world.ping("a", B, 3), 3);
    ends.does("a", "xfrm state flush");
    assert_eq!(ends.does("a", "xfrm state count").trim(), "SAD count 0");
}

#[test]
fn without_a_gateway_nothing_is_configured() {
    let library = library();
    let out = Command::new("ip")
        .args(["xfrm", "state", "list"])
        .env("LD_PRELOAD", library)
        .env("ACE_XFRM", "/nonexistent/xfrm.sock")
        .output()
        .expect("ip starts");
    assert!(!out.status.success());
    assert!(crate::common::stderr(&out).contains("Connection refused"), "{}", crate::common::stderr(&out));
}

/// `ip xfrm monitor` sees changes, stays over a kill of the gateway, and is told then what the gateway has no more.
#[test]
fn who_listens_finds_a_gateway_again_and_hears_what_is_lost() {
    let Some(ends) = Ends::new() else { return };
    let world = &ends.world;
    let heard = world.path("heard");
    let mut monitor = Command::new("sh");
    monitor
        .args(["-c", &format!("exec ip xfrm monitor > {}", heard.display())])
        .env("LD_PRELOAD", &ends.library)
        .env("ACE_XFRM", world.path("a.xfrm"));
    let monitor = world.start("a", &mut monitor, "monitor.log");
    let hears = |what: &str| {
        until(what, || fs::read_to_string(&heard).is_ok_and(|heard| heard.contains(what)));
    };
    // It may not have begun to listen.
    until("the monitor hears", || {
        ends.does("a", "xfrm policy flush");
        fs::read_to_string(&heard).is_ok_and(|heard| heard.contains("Flushed policy"))
    });
    ends.tunnel("add", 1);
    hears("dir out");
    hears("spi 0x00001001");
    ends.does("a", "xfrm state delete src 192.0.2.2 dst 192.0.2.1 proto esp spi 0x2001");
    hears("Deleted src 192.0.2.2 dst 192.0.2.1");
    // A packet asks for the SA that is gone: at the end that has none for its policy.
    ends.does("a", "xfrm state delete src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x1001");
    assert_eq!(world.ping_in_vain("a", B, 1), 0);
    hears("acquire proto esp");
    ends.tunnel("update", 2);
    assert_eq!(world.ping("a", B, 2), 2);
    assert!(!fs::read_to_string(&heard).expect("it is ours").contains("Expired"));
    world.end(ends.gateways[0], "-KILL");
    ends.start(1, "a", "");
    for spi in ["0x00001002", "0x00002002"] {
        until("the monitor hears what is lost", || {
            let heard = fs::read_to_string(&heard).expect("it is ours");
            heard.split("Expired").skip(1).any(|event| event.contains(spi) && event.contains("hard 1"))
        });
    }
    let all = fs::read_to_string(&heard).expect("it is ours");
    assert!(
        !all.split("Expired").skip(1).any(|event| event.contains("0x00002001")),
        "what was deleted is not lost"
    );
    // And it hears on.
    ends.tunnel("update", 3);
    hears("spi 0x00001003");
    assert_eq!(world.ping("a", B, 2), 2);
    world.end(monitor, "-TERM");
}

/// Asks, and waits for the answer without end, as charon does; looks at it first, as `ip` does.
const ASKS: &str = "import socket, struct, sys\n\
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 6)\n\
s.bind((0, 0))\n\
s.send(struct.pack('=IHHII4x', 20, 0x1d, 5, 77, 0))\n\
print('asked', flush=True)\n\
assert len(s.recv(20, socket.MSG_PEEK)) == 20\n\
m = s.recv(4096)\n\
length, kind, _, number, _, error = struct.unpack_from('=IHHIIi', m)\n\
print(len(m), length, kind, number, error)\n";

#[test]
fn a_request_whose_gateway_goes_is_answered() {
    let Some(ends) = Ends::new() else { return };
    ends.world.signal(ends.gateways[0], "-STOP");
    let mut command = Command::new("python3");
    command.args(["-c", ASKS]).env("LD_PRELOAD", &ends.library);
    command.env("ACE_XFRM", ends.world.path("a.xfrm")).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("python3 starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().and_then(Result::ok).as_deref(), Some("asked"));
    assert_eq!(ends.world.end(ends.gateways[0], "-KILL"), None);
    let answer = lines.next().and_then(Result::ok);
    assert_eq!(answer.as_deref(), Some("36 36 2 77 -111"), "connection refused, of request 77");
    assert!(child.wait().expect("it ends").success());
}
