// SPDX-License-Identifier: Apache-2.0
//! Cores without devices: whose packets are whose, and one that panics.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixDatagram;

use ace_config::gateway::Encapsulation;
use ace_engine::software::CpuEngine;
use ace_engine::{Buffer, Capabilities, Completion, Engine, Job};
use ace_ipsec::OsIvs;
use ace_ipsec::packet::ip::Outer;
use nix::errno::Errno;

use super::*;
use crate::core::{Divider, Interfaces, Outgoing, Settings, Wanted};
use crate::daemon::worker::Arrived;
use crate::io::Losses;

/// What is in every clear packet.
const WORD: &[u8] = b"plaintext that nobody may see";

/// Whoever reads this has lost its device.
const GONE: &[u8] = b"the device is gone";

/// Both ends of a core's ways: datagrams of this process.
struct Pipes {
    inside: UnixDatagram,
    outside: UnixDatagram,
}

fn read(pipe: &UnixDatagram, mut take: impl FnMut(&[u8])) -> Result<bool, Broken> {
    let mut memory = [0; 4096];
    while let Ok(len) = pipe.recv(&mut memory) {
        if memory[..len] == *GONE {
            return Err(Broken::tun("pipe", Errno::EBADFD.into()));
        }
        take(&memory[..len]);
    }
    Ok(false)
}

impl Ports for Pipes {
    fn read_inside(
        &mut self,
        _: usize,
        _: &mut Losses,
        take: &mut dyn FnMut(Buffer) -> Buffer,
    ) -> Result<bool, Broken> {
        read(&self.inside, |packet| drop(take(Buffer::from_packet(packet, 0, 0))))
    }

    fn read_outside(&mut self, _: &mut Losses, take: &mut dyn FnMut(Arrived<'_>)) -> Result<bool, Broken> {
        let source = "192.0.2.2:4500".parse().unwrap();
        read(&self.outside, |payload| take(Arrived::Udp { source, class: 0, payload }))
    }

    fn put(&mut self, _: &mut Losses, outgoing: Outgoing) -> Buffer {
        let (pipe, buffer) = match outgoing {
            Outgoing::Inside { packet, .. } => (&self.inside, packet),
            Outgoing::Udp { payload, .. } => (&self.outside, payload),
            Outgoing::Raw { packet, .. } => (&self.outside, packet),
        };
        pipe.send(&buffer).unwrap();
        buffer
    }

    fn flush(&mut self, _: &mut Losses) -> Result<(), Broken> {
        Ok(())
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.inside.as_fd(), self.outside.as_fd()]
    }
}

/// An engine that panics with the first packet after it was told to.
struct Bomb(CpuEngine, Arc<AtomicBool>);

impl Engine for Bomb {
    fn name(&self) -> &'static str {
        "bomb"
    }
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }
    fn try_submit(&mut self, jobs: &mut VecDeque<Job>) {
        assert!(jobs.is_empty() || !self.1.load(Ordering::Acquire), "as the test wants it");
        self.0.try_submit(jobs);
    }
    fn drain(&mut self, done: &mut Vec<Completion>) -> usize {
        self.0.drain(done)
    }
    fn wait(&mut self, done: &mut Vec<Completion>) -> usize {
        self.0.wait(done)
    }
}

/// Four tunnels; those with an odd number are core 1's.
fn text(ours: u8) -> String {
    let mut text = String::new();
    for n in 0..4 {
        for (from, to) in [(1, 2), (2, 1)] {
            let (direction, other) = if from == ours { ("out", to) } else { ("in", from) };
            text += &format!(
                "[[sa]]\nname = \"{from}-{n}\"\nspi = 0x{from}00{n}\ndirection = \"{direction}\"\nmode = \"tunnel\"\n\
                 local = \"192.0.2.{ours}\"\nremote = \"192.0.2.{other}\"\n\
                 selector = {{ src = \"10.{n}.{from}.0/24\", dst = \"10.{n}.{to}.0/24\" }}\n\
                 cipher = \"aes-128-gcm-16\"\nkey = \"{}\"\n",
                format!("{from}{n}").repeat(20)
            );
        }
    }
    text
}

fn sas(ours: u8) -> Wanted {
    Wanted::of(&text(ours))
}

/// For two cores.
fn plan(wanted: Wanted) -> Plan {
    Plan::new(wanted, &mut Divider::new(2), 2).unwrap()
}

fn core(bomb: &Arc<AtomicBool>) -> Core {
    let settings = Settings {
        encapsulation: Encapsulation::Udp,
        peers: Vec::new(),
        mtu: 1400,
        interfaces: Interfaces::default(),
        marks: false,
        port: 4500,
        keepalive: None,
        xfrm: None,
        keys: None,
    };
    let engine = Bomb(CpuEngine::new(), Arc::clone(bomb));
    Core::new(settings, Box::new(engine), Box::new(OsIvs::default()))
}

/// A clear packet of a tunnel, from the side of `from`.
fn clear(n: u8, from: u8) -> Vec<u8> {
    let mut packet = vec![0; 20];
    let outer = Outer {
        source: &IpAddr::from([10, n, from, 9]),
        destination: &IpAddr::from([10, n, 3 - from, 9]),
        traffic_class: 0,
        flow_label: 0,
        dont_fragment: true,
        identification: 0,
        protocol: 1,
    };
    outer.write(&mut packet, WORD.len()).unwrap();
    packet.extend_from_slice(WORD);
    packet
}

/// Two cores of end 1, what is behind them, and end 2.
struct World {
    pool: WorkerPool,
    inside: Vec<UnixDatagram>,
    outside: Vec<UnixDatagram>,
    bombs: Vec<Arc<AtomicBool>>,
    other: Core,
}

impl World {
    fn new() -> Self {
        let (mut inside, mut outside, mut bombs, mut all) = (vec![], vec![], vec![], vec![]);
        for _ in 0..2 {
            let pair = || {
                let (ours, theirs) = UnixDatagram::pair().unwrap();
                theirs.set_nonblocking(true).unwrap();
                ours.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                (ours, theirs)
            };
            let ((a, theirs_a), (b, theirs_b)) = (pair(), pair());
            let bomb = Arc::<AtomicBool>::default();
            let ports: Box<dyn Ports> = Box::new(Pipes { inside: theirs_a, outside: theirs_b });
            all.push((core(&bomb), ports));
            inside.push(a);
            outside.push(b);
            bombs.push(bomb);
        }
        let pool = WorkerPool::start(all, Instant::now()).unwrap();
        let loaded = pool.load(Duration::ZERO, &mut plan(sas(1))).unwrap();
        assert_eq!((loaded.added, pool.sa_count()), (8, 8));
        let mut other = core(&Arc::default());
        other.load(Duration::ZERO, &sas(2)).unwrap();
        Self { pool, inside, outside, bombs, other }
    }

    /// A packet of a tunnel, read by a core; what leaves the core whose tunnel it is, opened by the other end.
    fn out(&mut self, n: u8, at: usize) {
        self.inside[at].send(&clear(n, 1)).unwrap();
        let mut memory = [0; 4096];
        let len = self.outside[usize::from(n) % 2].recv(&mut memory).expect("its core sends it");
        assert_eq!(memory[..4], [0, 0, 0x10, n]);
        let source = "192.0.2.1:4500".parse().unwrap();
        self.other.from_udp(Duration::ZERO, source, 0, Buffer::from_packet(&memory[..len], 64, 64));
        self.other.work(Duration::ZERO);
        let Some(Outgoing::Inside { packet, .. }) = self.other.poll() else { panic!("it does not open") };
        assert_eq!(packet[..], clear(n, 1));
    }

    /// A packet of the other end, that comes to a core.
    fn back(&mut self, n: u8, at: usize) -> Vec<u8> {
        self.other.from_inside(Duration::ZERO, 0, Buffer::from_packet(&clear(n, 2), 128, 64));
        self.other.work(Duration::ZERO);
        let Some(Outgoing::Udp { payload, .. }) = self.other.poll() else { panic!("it is not sealed") };
        self.outside[at].send(&payload).unwrap();
        payload.to_vec()
    }

    /// Everything that has left, whatever it is.
    fn all(&self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for pipe in self.inside.iter().chain(&self.outside) {
            pipe.set_nonblocking(true).unwrap();
            read(pipe, |packet| found.push(packet.to_vec())).unwrap();
            pipe.set_nonblocking(false).unwrap();
        }
        found
    }
}

#[test]
fn each_core_has_its_own_sas_wherever_packets_come() {
    let mut world = World::new();
    for n in 0..4 {
        for at in [0, 1] {
            world.out(n, at);
            world.back(n, at);
            let mut memory = [0; 4096];
            let len = world.inside[usize::from(n) % 2].recv(&mut memory).expect("its core sends it");
            assert_eq!(memory[..len], clear(n, 2));
        }
    }
    // Sequence numbers are one core's: nothing was sent twice, and a packet that comes again is refused.
    let again = world.back(1, 1);
    let mut memory = [0; 4096];
    world.inside[1].recv(&mut memory).expect("it is new");
    for at in [0, 1] {
        world.outside[at].send(&again).unwrap();
    }
    world.out(1, 0);
    world.pool.stop();
    let (figures, _, cores) = world.pool.figures();
    assert_eq!(figures.packets.dropped.get("replayed"), Some(&2), "{figures:?}");
    assert_eq!(cores.unwrap()[1].sas, Some(4));
    assert!(world.all().is_empty());
    for sa in world.pool.sas() {
        assert!(sa.status.sequence >= 2, "{}", sa.status.name);
    }
}

#[test]
fn what_no_sa_is_for_is_dropped_wherever_it_comes() {
    let mut world = World::new();
    for pipe in &world.inside {
        pipe.send(&clear(9, 1)).unwrap();
        pipe.send(b"no packet").unwrap();
    }
    for pipe in &world.outside {
        pipe.send(&[0, 0, 0x77, 0x77, 0, 0, 0, 1, 0]).unwrap();
        pipe.send(&[0xff]).unwrap();
    }
    (0..4).for_each(|n| world.out(n, 0));
    world.pool.stop();
    let (figures, ..) = world.pool.figures();
    assert_eq!(figures.packets.dropped.get("policy_discard"), Some(&2), "{figures:?}");
    assert_eq!(figures.packets.dropped.get("malformed_packet"), Some(&2), "{figures:?}");
    assert_eq!(figures.gateway.datagrams_unknown_spi, 2, "{figures:?}");
    assert_eq!(figures.gateway.keepalives_received, 2, "{figures:?}");
    assert!(world.all().is_empty());
}

#[test]
fn a_core_that_panics_takes_its_own_sas_along_and_lets_nothing_out() {
    let mut world = World::new();
    (0..4).for_each(|n| world.out(n, 1));
    world.bombs[1].store(true, Ordering::Release);
    world.inside[0].send(&clear(3, 1)).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while world.pool.figures().2.unwrap()[1].alive {
        assert!(Instant::now() < until, "it lives on");
        std::thread::yield_now();
    }
    let event = world.pool.events.recv_timeout(Duration::from_secs(10)).unwrap();
    assert!(event.contains("core 1 has failed"), "{event}");
    // Its memory would work again: it stays away, also with the SAs taken anew.
    world.bombs[1].store(false, Ordering::Release);
    for round in 0..2 {
        for n in [1, 3] {
            for at in [0, 1] {
                world.inside[at].send(&clear(n, 1)).unwrap();
                world.back(n, at);
            }
        }
        // The other core goes on; what is handed over to the dead one was refused before that.
        for _ in 0..10 {
            world.out(0, 0);
            world.out(2, 0);
        }
        assert!(world.all().is_empty());
        assert_eq!(world.pool.sa_count(), 4);
        if round == 0 {
            let loaded = world.pool.load(Duration::ZERO, &mut plan(sas(1))).unwrap();
            assert_eq!((loaded.kept, loaded.added, loaded.removed), (4, 0, 0));
        }
    }
    let cores = world.pool.figures().2.unwrap();
    assert!(cores[1].handed_over_refused >= 4 && cores[0].alive, "{cores:?}");
}

#[test]
fn a_reload_changes_all_cores_or_none() {
    let world = World::new();
    // One of core 1 is not what anybody has.
    let mut odd = Wanted::of(&text(1).replace("key = \"11", "key = \"00"));
    let odd_one = odd.sas.iter_mut().find(|sa| sa.known.spec.name == "1-1").unwrap();
    odd_one.spec = None;
    let refused = world.pool.load(Duration::ZERO, &mut plan(odd));
    assert!(matches!(refused, Err(CoreError::Unknown(_))), "{refused:?}");
    assert_eq!(world.pool.sa_count(), 8);
    let loaded = world.pool.load(Duration::ZERO, &mut plan(sas(1))).unwrap();
    assert_eq!((loaded.kept, loaded.added, loaded.removed), (8, 0, 0));
    let empty = Wanted::of("");
    assert_eq!(world.pool.load(Duration::ZERO, &mut plan(empty)).unwrap().removed, 8);
    assert_eq!(world.pool.sa_count(), 0);
}

#[test]
fn a_core_that_loses_its_device_says_so_once_and_the_others_go_on_until_they_are_stopped() {
    let mut world = World::new();
    assert!(world.pool.broken().is_ok());
    world.inside[1].send(GONE).unwrap();
    let start = Instant::now();
    let broken = loop {
        assert!(start.elapsed() < Duration::from_secs(30), "it says nothing");
        if let Err(broken) = world.pool.broken() {
            break broken.to_string();
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(
        broken.starts_with("the TUN device pipe is gone or fails: ") && broken.contains("; start"),
        "{broken}"
    );
    assert!(world.pool.broken().is_ok());
    world.out(0, 0);
    world.pool.stop();
}
