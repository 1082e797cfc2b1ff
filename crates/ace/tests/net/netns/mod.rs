// SPDX-License-Identifier: Apache-2.0
//! Two machines and the wire between them, as network namespaces that a test makes and takes away.
#![allow(dead_code)] // each test program uses a part

use std::fs::{self, File};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{MsgFlags, recv};
use nix::unistd::User;
use socket2::{Domain, Protocol, Socket, Type};
use std::os::fd::AsRawFd;

/// All protocols (ETH_P_ALL), in network order.
const EVERYTHING: i32 = 0x0300;

/// Machines `a` (192.0.2.1) and `b` (192.0.2.2) at a bridge in a third namespace, where everything can be seen. Each
/// has the other for its default gateway: what is not caught goes over the wire.
pub struct World {
    prefix: String,
    pub folder: tempfile::TempDir,
    children: Mutex<Vec<Child>>,
    /// Namespaces besides those of `build`.
    spaces: Mutex<Vec<String>>,
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

impl World {
    /// `None`, and why is said, where namespaces or TUN devices are not to be had.
    pub fn new() -> Option<World> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        if let Err(error) = File::options().read(true).write(true).open("/dev/net/tun") {
            eprintln!("skipped, nothing was checked: /dev/net/tun: {error}");
            return None;
        }
        let prefix = format!("ace{}n{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::tempdir().expect("a folder");
        // Gateways that have become somebody else look into it.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("it is ours");
        let world = World { prefix, folder, children: Mutex::default(), spaces: Mutex::default() };
        if let Err(error) = world.build() {
            eprintln!("skipped, nothing was checked: {error}");
            return None;
        }
        Some(world)
    }

    /// With a machine `c` (192.0.2.3) more at the bridge.
    pub fn with_third() -> Option<World> {
        let world = World::new()?;
        world.third().expect("as the first two");
        Some(world)
    }

    fn third(&self) -> Result<(), String> {
        ip(&format!("netns add {}", self.name("c")))?;
        self.ip("c", "link set lo up")?;
        self.join("c", 3, 2)
    }

    /// Puts a machine at the bridge.
    fn join(&self, name: &str, ours: u8, other: u8) -> Result<(), String> {
        self.ip("m", &format!("link add to-{name} type veth peer name wire netns {}", self.name(name)))?;
        self.ip("m", &format!("link set to-{name} master br0 up"))?;
        self.ip(name, "link set wire up")?;
        self.ip(name, &format!("address add 192.0.2.{ours}/24 dev wire"))?;
        self.ip(name, &format!("route add default via 192.0.2.{other}"))
    }

    fn build(&self) -> Result<(), String> {
        for name in ["a", "b", "m"] {
            ip(&format!("netns add {}", self.name(name)))?;
            self.ip(name, "link set lo up")?;
        }
        self.ip("m", "link add br0 type bridge")?;
        self.ip("m", "link set br0 up")?;
        self.join("a", 1, 2)?;
        self.join("b", 2, 1)
    }

    /// One more namespace, with nothing but `lo`. Its name for `ip netns`.
    pub fn space(&self, name: &str) -> String {
        let whole = self.name(name);
        ip(&format!("netns add {whole}")).expect("root may");
        self.spaces.lock().expect("nobody panicked with it").push(whole.clone());
        self.ip(name, "link set lo up").expect("root may");
        whole
    }

    /// Writes below /proc/sys of a namespace.
    pub fn set(&self, of: &str, name: &str, value: &str) {
        self.within(of, || fs::write(format!("/proc/sys/{name}"), value).expect("root may"));
    }

    fn name(&self, of: &str) -> String {
        format!("{}{of}", self.prefix)
    }

    /// `ip`, in a namespace.
    pub fn ip(&self, of: &str, arguments: &str) -> Result<(), String> {
        ip(&format!("-n {} {arguments}", self.name(of)))
    }

    /// Runs something in a namespace; its sockets stay there.
    pub fn within<T: Send>(&self, of: &str, what: impl FnOnce() -> T + Send) -> T {
        let file = File::open(format!("/run/netns/{}", self.name(of))).expect("it was made");
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                setns(&file, CloneFlags::CLONE_NEWNET).expect("root may");
                what()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Starts a program in a namespace; its standard error goes into a file. It ends with the world.
    pub fn start(&self, of: &str, program: &mut Command, log: &str) -> u32 {
        let out = File::create(self.path(log)).expect("a log");
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(of)]).arg(program.get_program()).args(program.get_args());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(out);
        for (key, value) in program.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        let child = command.spawn().expect("ip starts");
        let id = child.id();
        self.children.lock().expect("nobody panicked with it").push(child);
        id
    }

    /// Runs a program in a namespace to its end.
    pub fn run(&self, of: &str, program: &mut Command) -> Output {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name(of)]).arg(program.get_program()).args(program.get_args());
        command.stdin(Stdio::null()).output().expect("ip starts")
    }

    /// Sends a signal to a program.
    pub fn signal(&self, id: u32, signal: &str) {
        let status = Command::new("kill").args([signal, &id.to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()));
    }

    /// Ends a program with a signal and waits for it. Its exit code, if it has one.
    pub fn end(&self, id: u32, signal: &str) -> Option<i32> {
        let mut children = self.children.lock().expect("nobody panicked with it");
        let at = children.iter().position(|child| child.id() == id).expect("it was started here");
        let mut child = children.swap_remove(at);
        let _ = Command::new("kill").args([signal, &id.to_string()]).status();
        until("the program ends", || matches!(child.try_wait(), Ok(Some(_))));
        child.wait().ok().and_then(|status| status.code())
    }

    /// Waits for a program that ends by itself. Its exit code, if it has one.
    pub fn ended(&self, id: u32) -> Option<i32> {
        self.end(id, "-0")
    }

    /// Writes a file with keys, which root and the group of nobody may read.
    pub fn write_keys(&self, name: &str, text: &str) {
        let (path, nobody) =
            (self.path(name), User::from_name("nobody").expect("users").expect("he is there"));
        std::fs::write(&path, text).expect("it is ours");
        std::os::unix::fs::chown(&path, None, Some(nobody.gid.as_raw())).expect("root may");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o640);
        std::fs::set_permissions(path, mode).expect("it is ours");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        let mut text = String::new();
        File::open(self.path(name)).expect("it is there").read_to_string(&mut text).expect("text");
        text
    }

    /// How many of so many echo requests are answered, each in a time that a busy machine keeps as well.
    pub fn ping(&self, from: &str, to: Ipv4Addr, count: u16) -> usize {
        self.pings(from, to, count, Duration::from_secs(20))
    }

    /// The same where no answer is hoped for.
    pub fn ping_in_vain(&self, from: &str, to: Ipv4Addr, count: u16) -> usize {
        self.pings(from, to, count, Duration::from_secs(1))
    }

    fn pings(&self, from: &str, to: Ipv4Addr, count: u16, patience: Duration) -> usize {
        self.within(from, || (0..count).filter(|number| ping(to, *number, patience)).count())
    }

    /// Everything on the wire while something is done.
    pub fn watch<T: Send>(&self, what: impl FnOnce() -> T + Send) -> (T, Vec<Vec<u8>>) {
        let stop = AtomicBool::new(false);
        let socket = self.within("m", || {
            let socket =
                Socket::new(Domain::PACKET, Type::RAW, Some(Protocol::from(EVERYTHING))).expect("root may");
            socket.set_recv_buffer_size(64 << 20).expect("a size");
            socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a time");
            socket
        });
        std::thread::scope(|scope| {
            let seen = scope.spawn(|| {
                let (mut seen, mut frame) = (Vec::new(), vec![0; 1 << 17]);
                loop {
                    match recv(socket.as_raw_fd(), &mut frame, MsgFlags::empty()) {
                        Ok(len) => seen.push(frame[..len].to_vec()),
                        Err(_) if stop.load(Ordering::Relaxed) => return seen,
                        Err(_) => {}
                    }
                }
            });
            // Also when it panics, or nobody would ever hear of it.
            let _stops = Stops(&stop);
            let result = what();
            // What is under way arrives.
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
            (result, seen.join().expect("it watches"))
        })
    }
}

/// Says that it is over.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for child in self.children.get_mut().map(std::mem::take).into_iter().flatten() {
            let mut child = child;
            let _ = child.kill();
            let _ = child.wait();
        }
        let spaces = self.spaces.get_mut().map(std::mem::take).unwrap_or_default();
        for name in ["a", "b", "m", "c"].map(|name| self.name(name)).into_iter().chain(spaces) {
            let _ = ip(&format!("netns delete {name}"));
        }
    }
}

/// One echo request with the word of the tests in it.
fn ping(to: Ipv4Addr, number: u16, patience: Duration) -> bool {
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)).expect("root may");
    socket.set_read_timeout(Some(Duration::from_millis(100))).expect("a time");
    let mut request = vec![8, 0, 0, 0, 0xac, 0xe0];
    request.extend_from_slice(&number.to_be_bytes());
    request.extend_from_slice(WORD);
    let sum =
        request.chunks(2).map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low)));
    let sum = sum.fold(0, |sum, word| (sum + word) % 0xffff);
    request[2..4].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    let (octets, to) = (to.octets(), SocketAddr::from((to, 0)));
    if socket.send_to(&request, &to.into()).is_err() {
        return false;
    }
    let (start, mut answer) = (Instant::now(), [0; 2048]);
    while start.elapsed() < patience {
        if let Ok(len) = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())
            && let Some(icmp) = answer.get(20..len)
            && icmp.first() == Some(&0)
            && answer[12..16] == octets
            && icmp.get(4..) == request.get(4..)
        {
            return true;
        }
    }
    false
}

/// What is in every packet of the tests, and is looked for on the wire.
pub const WORD: &[u8] = b"the word that nobody outside may read.";

/// How many frames show it.
pub fn shown(frames: &[Vec<u8>]) -> usize {
    frames.iter().filter(|frame| frame.windows(WORD.len()).any(|bytes| bytes == WORD)).count()
}

/// Waits for something, not forever.
pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
