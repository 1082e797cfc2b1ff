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
use crate::io::udp::{How, Udp};
use crate::io::{BATCH, Losses};

/// The way to the outside.
pub enum Outside {
    Udp(Box<Udp>),
    Raw(Box<Raw>),
}

/// What comes from outside.
pub enum Arrived<'a> {
    Udp { source: SocketAddr, class: u8, payload: &'a [u8] },
    Raw(&'a [u8]),
}

/// Devices and sockets, or what stands for them in a test.
pub trait Ports: Send {
    /// The numbers of the devices inside, in their order.
    fn inside(&self) -> Vec<u32> {
        vec![0]
    }
    /// Reads some packets of a device inside, by its place: so few that they are still in the processor's cache when they
    /// are computed. `take` gives an empty buffer for each. Whether there may be more.
    ///
    /// # Errors
    /// What is gone or fails for good.
    fn read_inside(
        &mut self,
        device: usize,
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
    /// Somebody wants the DSCP of what comes from outside.
    fn want_class(&mut self) {}
    /// Has the kernel divide what comes among cores, of which this is one. How many SPIs had no room: they are handed over.
    ///
    /// # Errors
    /// As the system says.
    fn divide(&mut self, _homes: &Homes, _me: usize) -> io::Result<usize> {
        Ok(0)
    }
    /// What is readable when something has come: devices inside first, in their order.
    fn fds(&self) -> Vec<BorrowedFd<'_>>;
}

/// A device inside.
pub struct Face {
    /// 0: the one without a number.
    pub if_id: u32,
    pub tun: Tun,
    /// What the MSS of TCP is held to, both ways.
    pub clamp: Option<u16>,
}

pub struct Devices {
    faces: Vec<Face>,
    /// Which one the last packet to the inside went to: the next one mostly goes there too.
    last: usize,
    outside: Outside,
    broken: Option<Broken>,
}

impl Devices {
    pub fn new(faces: Vec<Face>, outside: Outside) -> Self {
        Self { faces, last: 0, outside, broken: None }
    }
}

impl Ports for Devices {
    fn inside(&self) -> Vec<u32> {
        self.faces.iter().map(|face| face.if_id).collect()
    }

    fn read_inside(
        &mut self,
        device: usize,
        losses: &mut Losses,
        take: &mut dyn FnMut(Buffer) -> Buffer,
    ) -> Result<bool, Broken> {
        let Some(Face { tun, clamp, .. }) = self.faces.get_mut(device) else { return Ok(false) };
        let Some(mtu) = *clamp else { return tun.read(losses, take) };
        tun.read(losses, |mut packet| {
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
            Outside::Udp(udp) => udp.read(losses, |source, class, payload| {
                take(Arrived::Udp { source, class, payload });
            }),
            Outside::Raw(raw) => raw.read(losses, |packet| take(Arrived::Raw(packet))),
        }
    }

    fn put(&mut self, losses: &mut Losses, outgoing: Outgoing) -> Buffer {
        match (outgoing, &mut self.outside) {
            (Outgoing::Inside { if_id, mut packet }, _) => {
                // An SA without a device was refused: there is one.
                if self.faces.get(self.last).is_none_or(|face| face.if_id != if_id) {
                    self.last = self.faces.iter().position(|face| face.if_id == if_id).unwrap_or(usize::MAX);
                }
                if let Some(face) = self.faces.get_mut(self.last) {
                    if let Some(mtu) = face.clamp {
                        mss::clamp(&mut packet, mtu);
                    }
                    face.tun.put(&packet);
                }
                packet
            }
            (Outgoing::Udp { to, class, whole, mark, payload }, Outside::Udp(udp)) => {
                let how = How { class, whole, mark };
                self.broken = self.broken.take().or(udp.put(losses, to, how, &payload).err());
                payload
            }
            (Outgoing::Raw { to, mark, packet }, Outside::Raw(raw)) => {
                self.broken = self.broken.take().or(raw.send(losses, to, mark, &packet).err());
                packet
            }
            (Outgoing::Udp { payload: buffer, .. } | Outgoing::Raw { packet: buffer, .. }, _) => buffer,
        }
    }

    fn flush(&mut self, losses: &mut Losses) -> Result<(), Broken> {
        let inside = self.faces.iter_mut().map(|face| face.tun.flush(losses)).fold(Ok(()), Result::and);
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

    fn want_class(&mut self) {
        match &mut self.outside {
            Outside::Udp(udp) => udp.want_class(),
            // It comes with its header.
            Outside::Raw(_) => {}
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
        let mut fds: Vec<BorrowedFd<'_>> = self.faces.iter().map(|face| face.tun.as_fd()).collect();
        match &self.outside {
            Outside::Udp(udp) => fds.push(udp.as_fd()),
            Outside::Raw(raw) => fds.extend(raw.fds()),
        }
        fds
    }
}

/// From one core to another.
pub enum Handoff {
    /// A clear packet of an SA there, with the number of its device.
    Inside(u32, Buffer),
    /// A datagram of an SA there: a network card may have joined it to one of an SA here.
    Udp { source: SocketAddr, class: u8, payload: Buffer },
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
    /// Numbers of the devices inside, in their order.
    pub inside: Vec<u32>,
    /// `None`: it is the only one.
    pub routing: Option<Routing>,
}

/// A side, or a device of it.
#[derive(Clone, Copy)]
enum From {
    Inside(usize),
    Outside,
}

impl Worker {
    /// Of several cores one, or the only one.
    pub fn new(core: Core, ports: Box<dyn Ports>, routing: Option<Routing>) -> Self {
        let inside = ports.inside();
        Self { core, ports, losses: Losses::default(), inside, routing }
    }

    /// Takes what there is from devices inside, by place, and from outside, and sends what becomes of it. Each has its turn,
    /// and each turn is bounded.
    ///
    /// # Errors
    /// What is gone or fails for good; what was taken before is sent.
    pub fn turn(&mut self, now: Duration, inside: &[usize], outside: bool) -> Result<(), Broken> {
        if self.core.copies_class() {
            self.ports.want_class();
        }
        let sides = inside.iter().map(|device| From::Inside(*device));
        for from in sides.chain(outside.then_some(From::Outside)) {
            let mut taken = 0;
            let read = loop {
                let read = match from {
                    From::Inside(device) => self.take_inside(now, device, &mut taken),
                    From::Outside => self.take_outside(now, &mut taken),
                };
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
                Handoff::Inside(if_id, buffer)
                    if routing.steer.inside(if_id, &buffer) == Some(routing.me) =>
                {
                    core.from_inside(now, if_id, buffer);
                }
                Handoff::Udp { source, class, payload }
                    if routing.of_datagram(&payload) == Some(routing.me) =>
                {
                    core.from_udp(now, source, class, payload);
                }
                Handoff::Inside(_, buffer) | Handoff::Udp { payload: buffer, .. } => {
                    routing.misrouted += 1;
                    core.give_back(buffer);
                }
            }
        }
        self.send(now)
    }

    /// Takes some packets of a device inside and counts them.
    fn take_inside(&mut self, now: Duration, device: usize, taken: &mut usize) -> Result<bool, Broken> {
        let Self { core, ports, losses, routing, inside } = self;
        let if_id = inside.get(device).copied().unwrap_or(0);
        ports.read_inside(device, losses, &mut |packet| {
            *taken += 1;
            match routing {
                None => core.from_inside(now, if_id, packet),
                Some(routing) => match routing.steer.inside(if_id, &packet) {
                    Some(owner) if owner != routing.me => routing.put(owner, Handoff::Inside(if_id, packet)),
                    // What no SA is for is dropped and counted here.
                    _ => core.from_inside(now, if_id, packet),
                },
            }
            core.buffer()
        })
    }

    /// Takes some of what comes from outside and counts it.
    fn take_outside(&mut self, now: Duration, taken: &mut usize) -> Result<bool, Broken> {
        let Self { core, ports, losses, routing, .. } = self;
        ports.read_outside(losses, &mut |arrived| {
            *taken += 1;
            let mut buffer = core.buffer();
            match arrived {
                Arrived::Raw(packet) => {
                    buffer.extend_from_slice(packet);
                    core.from_raw(now, buffer);
                }
                Arrived::Udp { source, class, payload } => {
                    buffer.extend_from_slice(payload);
                    match routing.as_mut().and_then(|routing| Some((routing.of_datagram(payload)?, routing)))
                    {
                        Some((owner, routing)) if owner != routing.me => {
                            routing.put(owner, Handoff::Udp { source, class, payload: buffer });
                        }
                        _ => core.from_udp(now, source, class, buffer),
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
