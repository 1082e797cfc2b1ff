// SPDX-License-Identifier: Apache-2.0
//! System calls of a packet socket (packet(7)), and the memory that the kernel shares with it. All unsafe code of the crate
//! is here.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::wire::Address;

/// Frames that one system call sends.
const TOGETHER: usize = 64;
/// Bytes of a frame's place in the ring: its header of the kernel and an Ethernet frame with a tag.
const PLACE: usize = 2048;
const BLOCK: usize = 1 << 16;

/// The number of an interface of this network namespace.
pub fn index(interface: &str) -> Option<i32> {
    let name = CString::new(interface).ok()?;
    // SAFETY: the name ends with 0 and lives beyond the call, which keeps nothing of it.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    i32::try_from(index).ok().filter(|index| *index > 0)
}

/// What there is to know of an interface.
pub struct About {
    pub address: Address,
    pub up: bool,
    pub ethernet: bool,
}

/// A packet socket.
pub struct Raw {
    fd: OwnedFd,
    /// Whoever binds this name has the interface.
    _claim: Option<UnixListener>,
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl Raw {
    /// One that takes no frame yet.
    pub fn new() -> io::Result<Self> {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no pointers.
        let fd = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
        // SAFETY: the descriptor was just made and nobody else has it.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, _claim: None })
    }

    /// Takes a name of this network namespace, which one program at a time has.
    pub fn claim(&mut self, name: &str) -> io::Result<()> {
        let address = SocketAddr::from_abstract_name(name)?;
        self._claim = Some(UnixListener::bind_addr(&address)?);
        Ok(())
    }

    /// Address and state of an interface.
    pub fn about(&self, interface: &str) -> io::Result<About> {
        // SAFETY: a structure of numbers, which may all be zero.
        let mut request: libc::ifreq = unsafe { zeroed() };
        for (to, from) in
            request.ifr_name.iter_mut().zip(interface.as_bytes().iter().take(libc::IFNAMSIZ - 1))
        {
            *to = *from as libc::c_char;
        }
        let fd = self.fd.as_raw_fd();
        // SAFETY: the request is one for these two calls, whose names end with 0, and lives beyond them.
        checked(unsafe { libc::ioctl(fd, libc::SIOCGIFFLAGS, &mut request) })?;
        // SAFETY: this call writes the flags.
        let flags = unsafe { request.ifr_ifru.ifru_flags };
        // SAFETY: as above.
        checked(unsafe { libc::ioctl(fd, libc::SIOCGIFHWADDR, &mut request) })?;
        // SAFETY: this call writes the address.
        let hardware = unsafe { request.ifr_ifru.ifru_hwaddr };
        let mut address = Address::default();
        address.iter_mut().zip(hardware.sa_data).for_each(|(to, from)| *to = from as u8);
        let up = libc::c_int::from(flags) & libc::IFF_UP != 0;
        Ok(About { address, up, ethernet: hardware.sa_family == libc::ARPHRD_ETHER })
    }

    fn option<T>(&self, name: libc::c_int, value: &T) -> io::Result<()> {
        let (fd, len) = (self.fd.as_raw_fd(), size_of::<T>() as libc::socklen_t);
        let value: *const T = value;
        // SAFETY: so many bytes are there, and the call keeps none of them.
        checked(unsafe { libc::setsockopt(fd, libc::SOL_PACKET, name, value.cast(), len) }).map(drop)
    }

    /// Makes the ring in which frames of at most so many bytes come.
    pub fn ring(&self, frames: usize, longest: usize) -> io::Result<Ring> {
        debug_assert!(longest + 128 <= PLACE, "a frame and the kernel's header fit a place");
        self.option(libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))?;
        // What we send is not to come back, and no queue is to hold it. Older kernels know the first one not.
        let _ = self.option(libc::PACKET_IGNORE_OUTGOING, &1_i32);
        self.option(libc::PACKET_QDISC_BYPASS, &1_i32)?;
        let bytes = (frames * PLACE).next_multiple_of(BLOCK);
        let request = libc::tpacket_req {
            tp_block_size: BLOCK as u32,
            tp_block_nr: (bytes / BLOCK) as u32,
            tp_frame_size: PLACE as u32,
            tp_frame_nr: (bytes / PLACE) as u32,
        };
        self.option(libc::PACKET_RX_RING, &request)?;
        let (read_write, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: new memory of the length that was just asked for, at a place that the kernel chooses.
        let memory = unsafe { libc::mmap(null_mut(), bytes, read_write, shared, self.fd.as_raw_fd(), 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Ring { memory, bytes, places: bytes / PLACE, next: 0 })
    }

    /// Lets frames of an EtherType come from an interface.
    pub fn bind(&self, index: i32, ethertype: u16) -> io::Result<()> {
        // SAFETY: a structure of numbers, which may all be zero.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ethertype.to_be();
        address.sll_ifindex = index;
        let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        let place: *const libc::sockaddr_ll = &address;
        // SAFETY: an address of this length, of which the call keeps nothing.
        checked(unsafe { libc::bind(self.fd.as_raw_fd(), place.cast(), len) }).map(drop)
    }

    /// Sends frames, many with each call. What there is no room for is lost.
    pub fn send<'a>(&self, mut frames: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
        loop {
            let mut parts: [libc::iovec; TOGETHER] =
                [libc::iovec { iov_base: null_mut(), iov_len: 0 }; TOGETHER];
            let mut count = 0;
            for (part, frame) in parts.iter_mut().zip(frames.by_ref()) {
                // The kernel reads it alone.
                *part = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
                count += 1;
            }
            if count == 0 {
                return Ok(());
            }
            // SAFETY: structures of numbers and pointers, which may all be zero.
            let mut messages: [libc::mmsghdr; TOGETHER] = unsafe { zeroed() };
            for (message, part) in messages.iter_mut().zip(&mut parts).take(count) {
                (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (part, 1);
            }
            let mut done = 0;
            while let Some(rest) = messages.get_mut(done..count).filter(|rest| !rest.is_empty()) {
                let (fd, len) = (self.fd.as_raw_fd(), rest.len() as libc::c_uint);
                // SAFETY: so many messages of one part each, which points at a frame that lives as long as `frames`.
                match checked(unsafe { libc::sendmmsg(fd, rest.as_mut_ptr(), len, 0) }) {
                    Ok(sent) => done += (sent as usize).max(1),
                    Err(error) => match error.raw_os_error() {
                        Some(libc::EINTR) => {}
                        // No room: the frame is lost, and comes again.
                        Some(libc::EAGAIN | libc::ENOBUFS) => done += 1,
                        _ => return Err(error),
                    },
                }
            }
            if count < TOGETHER {
                return Ok(());
            }
        }
    }

    /// What has gone wrong since, such as an interface that went down.
    fn error(&self) -> io::Result<()> {
        let (mut error, mut len) = (0, size_of::<libc::c_int>() as libc::socklen_t);
        let place: *mut libc::c_int = &mut error;
        let fd = self.fd.as_raw_fd();
        // SAFETY: a place for a number, which lives beyond the call.
        checked(unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, place.cast(), &mut len) })?;
        if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
    }

    /// Waits for a frame.
    pub fn wait(&self, patience: Duration) -> io::Result<()> {
        let mut wanted = libc::pollfd { fd: self.fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let time = libc::timespec {
            tv_sec: patience.as_secs() as libc::time_t,
            tv_nsec: patience.subsec_nanos() as libc::c_long,
        };
        // SAFETY: one entry and a time, which live beyond the call.
        match checked(unsafe { libc::ppoll(&mut wanted, 1, &time, std::ptr::null()) }) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ if wanted.revents & libc::POLLERR != 0 => self.error(),
            _ => Ok(()),
        }
    }
}

/// Places that the kernel fills in turn.
pub struct Ring {
    memory: NonNull<u8>,
    bytes: usize,
    places: usize,
    next: usize,
}

// SAFETY: the mapping belongs to no thread, and `&mut self` lets one look at a time.
unsafe impl Send for Ring {}

impl Ring {
    /// Hands the next frame over and gives its place back. False if there is none.
    pub fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> bool {
        // SAFETY: `next` is below the number of places, each of which has `PLACE` bytes of the mapping.
        let place = unsafe { self.memory.add(self.next * PLACE) };
        // SAFETY: a place begins with the kernel's header, whose first word is its status; places are aligned to 16 bytes, and
        // the kernel writes that word as a whole.
        let status = unsafe { AtomicU32::from_ptr(place.as_ptr().cast()) };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the status says that the kernel has written the header and will not until the place is given back.
        let header = unsafe { place.cast::<libc::tpacket2_hdr>().as_ptr().read() };
        let (at, len) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        if at + len <= PLACE {
            // SAFETY: within the place, which is ours until it is given back.
            take(unsafe { std::slice::from_raw_parts(place.add(at).as_ptr(), len) });
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.places;
        true
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is of this length, and nobody has anything of it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}
