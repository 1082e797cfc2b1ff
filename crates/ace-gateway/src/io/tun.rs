// SPDX-License-Identifier: Apache-2.0
//! The inside: a TUN device. With offload the kernel hands over TCP, and UDP of programs that ask for that, in pieces of
//! up to 64 KiB, which are cut into packets here, and takes packets that follow each other as one piece.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use ace_config::gateway::Inside;
use ace_engine::Buffer;
use nix::libc::{EBADF, EBADFD, ENODEV};
use tun_rs::{DeviceBuilder, GROTable, SyncDevice, VIRTIO_NET_HDR_LEN};

use super::broken::{Broken, Row};
use super::segments::Segments;
use super::{FEW, Losses};

/// Room for a packet with what is joined to it: less than what the length of an IP packet can say.
const JOINED: usize = 65_000;

pub struct Tun {
    device: SyncDevice,
    name: String,
    reads: Row,

    gro: GROTable,
    /// What one read gives.
    memory: Vec<u8>,
    segments: Segments,
    /// Packets to be written, each behind room for its virtio header and in front of room for others that follow it:
    /// tun-rs joins none where memory would have to grow.
    waiting: Vec<Vec<u8>>,
    used: usize,
}

impl Tun {
    /// The device stays when the gateway goes: what is routed into it is dropped then, and not sent in clear by
    /// another way.
    pub fn open(config: &Inside) -> io::Result<Self> {
        let device = DeviceBuilder::new().name(config.tun.clone()).offload(config.offload).build_sync()?;
        device.persist()?;
        Self::of(device, config)
    }

    /// As [`Tun::open`], with so many queues. Packets of one connection come from one of them: where the last one of
    /// its other direction was written.
    pub fn open_queues(config: &Inside, count: usize) -> io::Result<Vec<Self>> {
        let builder = DeviceBuilder::new().name(config.tun.clone()).offload(config.offload);
        let first = builder.multi_queue(true).build_sync()?;
        first.persist()?;
        let others = (1..count).map(|_| first.try_clone()).collect::<io::Result<Vec<_>>>()?;
        std::iter::once(first).chain(others).map(|device| Self::of(device, config)).collect()
    }

    fn of(device: SyncDevice, config: &Inside) -> io::Result<Self> {
        device.set_nonblocking(true)?;
        let room = usize::from(u16::MAX);
        Ok(Self {
            device,
            name: config.tun.clone(),
            reads: Row::default(),
            gro: GROTable::default(),
            memory: vec![0; VIRTIO_NET_HDR_LEN + room],
            segments: Segments::new(config.offload),
            waiting: Vec::new(),
            used: 0,
        })
    }

    /// What kernel and gateway hand each other in pieces, in words.
    pub fn offload(&self) -> &'static str {
        match (self.segments.headed(), self.device.udp_gso()) {
            (false, _) => "none",
            (true, false) => "TSO",
            (true, true) => "TSO and USO",
        }
    }

    /// The kernel's number of it.
    ///
    /// # Errors
    /// As the system says.
    pub fn index(&self) -> io::Result<u32> {
        self.device.if_index()
    }

    /// Reads some of what there is, about [`FEW`] packets; `take` gives an empty buffer for each. Whether there may be more.
    ///
    /// # Errors
    /// The device is gone.
    pub fn read(
        &mut self,
        losses: &mut Losses,
        mut take: impl FnMut(Buffer) -> Buffer,
    ) -> Result<bool, Broken> {
        let mut taken = 0;
        while taken < FEW {
            let read = match self.device.recv(&mut self.memory) {
                Ok(len) => self.segments.cut(self.memory.get_mut(..len).unwrap_or_default(), &mut take),
                Err(error) => Err(error),
            };
            match read {
                Ok(count) => {
                    taken += count.max(1);
                    self.reads.well();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.reads.well();
                    return Ok(false);
                }
                Err(error) => {
                    losses.inside_unreadable += 1;
                    taken += 1;
                    self.reads.failed(error).map_err(|why| Broken::tun(&self.name, why))?;
                }
            }
        }
        Ok(true)
    }

    /// Takes a packet to be written by [`Tun::flush`].
    pub fn put(&mut self, packet: &Buffer) {
        if self.used == self.waiting.len() {
            self.waiting.push(Vec::with_capacity(JOINED));
        }
        if let Some(place) = self.waiting.get_mut(self.used) {
            place.clear();
            place.resize(VIRTIO_NET_HDR_LEN, 0);
            place.extend_from_slice(packet);
            self.used += 1;
        }
    }

    /// Writes what was put.
    ///
    /// # Errors
    /// The device is gone.
    pub fn flush(&mut self, losses: &mut Losses) -> Result<(), Broken> {
        let packets = self.waiting.get_mut(..self.used).unwrap_or_default();
        self.used = 0;
        if packets.is_empty() {
            return Ok(());
        }
        let Err(error) = self.device.send_multiple(&mut self.gro, packets, VIRTIO_NET_HDR_LEN) else {
            return Ok(());
        };
        losses.inside_failed += 1;
        // Only a device that is gone: EIO says that it is down, and others are about one packet.
        match error.raw_os_error() {
            Some(EBADF | EBADFD | ENODEV) => Err(Broken::tun(&self.name, error)),
            _ => Ok(()),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
