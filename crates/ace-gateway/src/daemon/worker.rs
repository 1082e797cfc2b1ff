// SPDX-License-Identifier: Apache-2.0
//! A core with its way to the inside and to the outside: what is read from one side is sent to the other.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use ace_engine::Buffer;
use ace_ipsec::Protocol;

use crate::core::{Core, Homes, Outgoing, Steer, TooBig};
use crate::io::broken::Broken;
use crate::io::mss;
use crate::io::raw::Raw;
use crate::io::tun::Tun;
use crate::io::udp::Udp;
use crate::io::{BATCH, Losses};

/// The way to the outside.
pub enum Outside {
    Udp(Box<Udp>),
    Raw(Box<Raw>),
}

/// What comes from outside.
pub enum Arrived<'a> {
    Udp { source: SocketAddr, ecn: u8, payload: &'a [u8] },
    Raw(&'a [u8]),
}

/// Devices and sockets, or what stands for them in a test.
pub trait Ports: Send {
    /// Reads some packets of the inside: so few that they are still in the processor's cache when they are computed. `take`
    /// gives an empty buffer for each. Whether there may be more.
    ///
    /// # Errors
    /// What is gone or fails for good.
    fn read_inside(
        &mut self,
        losses: &mut Losses,
        take: &mut dyn FnMut(Buffer) -> Buffer,
    ) -> Result<bool, Broken>;
    /// Reads some of what comes from outside, as above.
    ///
    /// # Errors
    /// As above.
    fn read_outside(
        &mut self,
        losses: &mut Losses,
        take: &mut dyn FnMut(Arrived<'_>),
    ) -> Result<bool, Broken>;
    /// Takes something to be sent; the buffer comes back.
    fn put(&mut self, losses: &mut Losses, outgoing: Outgoing) -> Buffer;
    /// Sends what was put.
    ///
    /// # Errors
    /// As above, also of what was sent since the last time.
    fn flush(&mut self, losses: &mut Losses) -> Result<(), Broken>;
    /// What our own kernel found too long, of what was sent since the last time.
    fn poll_too_big(&mut self) -> Option<TooBig> {
        None
    }
    /// Has the kernel divide what comes among cores, of which this is one. How many SPIs had no room: they are handed over.
    ///
    /// # Errors
    /// As the system says.
    fn divide(&mut self, _homes: &Homes, _me: usize) -> io::Result<usize> {
        Ok(0)
    }
    /// What is readable when something has come: the inside first.
    fn fds(&self) -> Vec<BorrowedFd<'_>>;
}

pub struct Devices {
    pub tun: Tun,
    pub outside: Outside,
    /// What the MSS of TCP is held to, both ways.
    clamp: Option<u16>,
    broken: Option<Broken>,
}

impl Devices {
    pub fn new(tun: Tun, outside: Outside, clamp: Option<u16>) -> Self {
        Self { tun, outside, clamp, broken: None }
    }
}

impl Ports for Devices {
    fn read_inside(
        &mut self,
        losses: &mut Losses,
        take: &mut dyn FnMut(Buffer) -> Buffer,
    ) -> Result<bool, Broken> {
        let Some(mtu) = self.clamp else { return self.tun.read(losses, take) };
        self.tun.read(losses, |mut packet| {
            mss::clamp(&mut packet, mtu);
            take(packet)
        })
    }

    fn read_outside(
        &mut self,
        losses: &mut Losses,
        take: &mut dyn FnMut(Arrived<'_>),
    ) -> Result<bool, Broken> {
        match &mut self.outside {
            Outside::Udp(udp) => udp.read(losses, |source, ecn, payload| {
                take(Arrived::Udp { source, ecn, payload });
            }),
            Outside::Raw(raw) => raw.read(losses, |packet| take(Arrived::Raw(packet))),
        }
    }

    fn put(&mut self, losses: &mut Losses, outgoing: Outgoing) -> Buffer {
        match (outgoing, &mut self.outside) {
            (Outgoing::Inside(mut packet), _) => {
                if let Some(mtu) = self.clamp {
                    mss::clamp(&mut packet, mtu);
                }
                self.tun.put(&packet);
                packet
            }
            (Outgoing::Udp { to, class, whole, payload }, Outside::Udp(udp)) => {
                self.broken = self.broken.take().or(udp.put(losses, to, (class, whole), &payload).err());
                payload
            }
            (Outgoing::Raw { to, packet }, Outside::Raw(raw)) => {
                self.broken = self.broken.take().or(raw.send(losses, to, &packet).err());
                packet
            }
            (Outgoing::Udp { payload: buffer, .. } | Outgoing::Raw { packet: buffer, .. }, _) => buffer,
        }
    }

    fn flush(&mut self, losses: &mut Losses) -> Result<(), Broken> {
        let inside = self.tun.flush(losses);
        let outside = match &mut self.outside {
            Outside::Udp(udp) => udp.flush(losses),
            Outside::Raw(_) => Ok(()),
        };
        self.broken.take().map_or(Ok(()), Err).and(inside).and(outside)
    }

    fn poll_too_big(&mut self) -> Option<TooBig> {
        match &mut self.outside {
            Outside::Udp(udp) => udp.too_big.pop(),
            Outside::Raw(raw) => raw.too_big.pop(),
        }
    }

    fn divide(&mut self, homes: &Homes, me: usize) -> io::Result<usize> {
        match &self.outside {
            // All of them have one program.
            Outside::Udp(udp) if me == 0 => udp.divide(&homes.odd(Protocol::Esp), homes.count()),
            Outside::Udp(_) => Ok(0),
            Outside::Raw(raw) => raw.divide(me, homes.count(), |protocol| homes.odd(protocol)),
        }
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let mut fds = vec![self.tun.as_fd()];
        match &self.outside {
            Outside::Udp(udp) => fds.push(udp.as_fd()),
            Outside::Raw(raw) => fds.extend(raw.fds()),
        }
        fds
    }
}

/// From one core to another.
pub enum Handoff {
    /// A clear packet of an SA there.
    Inside(Buffer),
    /// A datagram of an SA there: a network card may have joined it to one of an SA here.
    Udp { source: SocketAddr, ecn: u8, payload: Buffer },
    /// A peer has moved.
    Moved(IpAddr, SocketAddr),
    /// A packet of an SA there was too long for its way.
    TooBig(TooBig),
}

/// Of several cores: which this is, and whose packets are whose.
pub struct Routing {
    pub me: usize,
    pub steer: Steer,
    pub homes: Arc<Homes>,
    /// For each core what is to be handed over.
    pub handoffs: Vec<Vec<Handoff>>,
    /// Packets that came here and were for nobody, or for another core after a change of SAs.
    pub misrouted: u64,
}

pub struct Worker {
    pub core: Core,
    pub ports: Box<dyn Ports>,
    pub losses: Losses,
    /// `None`: it is the only one.
    pub routing: Option<Routing>,
}

/// Takes some of what one side has, and counts it.
type Take = fn(&mut Worker, Duration, &mut usize) -> Result<bool, Broken>;

impl Worker {
    /// Takes what there is from both sides and sends what becomes of it. Both sides have their turn, and each turn is
    /// bounded.
    ///
    /// # Errors
    /// What is gone or fails for good; what was taken before is sent.
    pub fn turn(&mut self, now: Duration, inside: bool, outside: bool) -> Result<(), Broken> {
        let sides: [(bool, Take); 2] = [(inside, Self::take_inside), (outside, Self::take_outside)];
        for (_, take) in sides.into_iter().filter(|(ready, _)| *ready) {
            let mut taken = 0;
            let read = loop {
                let read = take(self, now, &mut taken);
                self.compute(now);
                match read {
                    Ok(true) if taken < BATCH => {}
                    read => break read.map(drop),
                }
            };
            self.flush(now).and(read)?;
        }
        self.core.tick(now);
        self.send(now)?;
        if let Some(routing) = &mut self.routing {
            while let Some((peer, endpoint)) = self.core.poll_move() {
                let others = (0..routing.handoffs.len()).filter(|other| *other != routing.me);
                others.for_each(|other| routing.handoffs[other].push(Handoff::Moved(peer, endpoint)));
            }
        }
        Ok(())
    }

    /// Takes what other cores have handed over. Were its SA no longer here, it is dropped: nothing is handed on twice.
    ///
    /// # Errors
    /// As [`Worker::send`].
    pub fn take(&mut self, now: Duration, handoffs: impl IntoIterator<Item = Handoff>) -> Result<(), Broken> {
        for handoff in handoffs {
            let Self { core, routing: Some(routing), .. } = self else { break };
            match handoff {
                Handoff::Moved(peer, endpoint) => core.moved(peer, endpoint),
                Handoff::TooBig(about) => core.too_big(now, about),
                Handoff::Inside(buffer) if routing.steer.inside(&buffer) == Some(routing.me) => {
                    core.from_inside(now, buffer);
                }
                Handoff::Udp { source, ecn, payload }
                    if routing.of_datagram(&payload) == Some(routing.me) =>
                {
                    core.from_udp(now, source, ecn, payload);
                }
                Handoff::Inside(buffer) | Handoff::Udp { payload: buffer, .. } => {
                    routing.misrouted += 1;
                    core.give_back(buffer);
                }
            }
        }
        self.send(now)
    }

    /// Takes some packets of the inside and counts them.
    fn take_inside(&mut self, now: Duration, taken: &mut usize) -> Result<bool, Broken> {
        let Self { core, ports, losses, routing } = self;
        ports.read_inside(losses, &mut |packet| {
            *taken += 1;
            match routing {
                None => core.from_inside(now, packet),
                Some(routing) => match routing.steer.inside(&packet) {
                    Some(owner) if owner != routing.me => routing.put(owner, Handoff::Inside(packet)),
                    // What no SA is for is dropped and counted here.
                    _ => core.from_inside(now, packet),
                },
            }
            core.buffer()
        })
    }

    /// Takes some of what comes from outside and counts it.
    fn take_outside(&mut self, now: Duration, taken: &mut usize) -> Result<bool, Broken> {
        let Self { core, ports, losses, routing } = self;
        ports.read_outside(losses, &mut |arrived| {
            *taken += 1;
            let mut buffer = core.buffer();
            match arrived {
                Arrived::Raw(packet) => {
                    buffer.extend_from_slice(packet);
                    core.from_raw(now, buffer);
                }
                Arrived::Udp { source, ecn, payload } => {
                    buffer.extend_from_slice(payload);
                    match routing.as_mut().and_then(|routing| Some((routing.of_datagram(payload)?, routing)))
                    {
                        Some((owner, routing)) if owner != routing.me => {
                            routing.put(owner, Handoff::Udp { source, ecn, payload: buffer });
                        }
                        _ => core.from_udp(now, source, ecn, buffer),
                    }
                }
            }
        })
    }

    /// Computes, and sends what comes of it.
    ///
    /// # Errors
    /// What is gone or fails for good.
    pub fn send(&mut self, now: Duration) -> Result<(), Broken> {
        self.compute(now);
        self.flush(now)
    }

    /// Computes, and puts what comes of it: it goes out with what follows, and at the latest with [`Worker::flush`].
    fn compute(&mut self, now: Duration) {
        let Self { core, ports, losses, .. } = self;
        core.work(now);
        while let Some(outgoing) = core.poll() {
            let buffer = ports.put(losses, outgoing);
            core.give_back(buffer);
        }
    }

    fn flush(&mut self, now: Duration) -> Result<(), Broken> {
        let Self { core, ports, losses, .. } = self;
        let flushed = ports.flush(losses);
        while let Some(about) = ports.poll_too_big() {
            core.too_big(now, about);
        }
        flushed
    }
}

impl Routing {
    fn put(&mut self, owner: usize, handoff: Handoff) {
        match self.handoffs.get_mut(owner) {
            Some(handoffs) => handoffs.push(handoff),
            None => self.misrouted += 1,
        }
    }

    /// The core of a datagram with ESP.
    fn of_datagram(&self, payload: &[u8]) -> Option<usize> {
        let spi = u32::from_be_bytes(*payload.first_chunk()?);
        // Keepalives and IKE are counted by whoever gets them.
        (payload.len() > 4 && spi != 0).then(|| self.homes.inbound(Protocol::Esp, spi))
    }
}
