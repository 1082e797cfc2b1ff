// SPDX-License-Identifier: Apache-2.0
//! What a connection to the gateway answers so that a program takes it for netlink: addresses.

use std::ffi::c_int;
use std::os::fd::OwnedFd;

use crate::kernel;

/// Bytes of struct sockaddr_nl.
pub const ADDRESS: usize = 12;

/// The address of the kernel's end, and of a client that has asked for none.
pub fn nobody() -> [u8; ADDRESS] {
    let mut address = [0; ADDRESS];
    address[..2].copy_from_slice(&(libc::AF_NETLINK as u16).to_ne_bytes());
    address
}

/// Tells the gateway which groups a client listens to: a no-op of netlink with them behind it.
pub fn listen(fd: &OwnedFd, groups: u32) -> Result<i64, c_int> {
    let mut message = [0_u8; 20];
    message[0..4].copy_from_slice(&20_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&1_u16.to_ne_bytes());
    message[16..20].copy_from_slice(&groups.to_ne_bytes());
    if kernel::send(fd, &message) { Ok(0) } else { Err(libc::ECONNREFUSED) }
}

/// Writes an address where a program wants it, as far as it has room.
pub fn put_address(thread: u32, place: u64, length_at: u64) -> Result<i64, c_int> {
    let mut length = [0; 4];
    kernel::read_memory(thread, length_at, &mut length)?;
    let room = i32::from_ne_bytes(length);
    let room = usize::try_from(room).map_err(|_| libc::EINVAL)?;
    kernel::write_memory(thread, place, &nobody()[..room.min(ADDRESS)])?;
    kernel::write_memory(thread, length_at, &(ADDRESS as u32).to_ne_bytes())?;
    Ok(0)
}

/// The groups that bind(2) asks for.
pub fn groups_of(thread: u32, place: u64, length: u64) -> Result<u32, c_int> {
    let mut address = [0; ADDRESS];
    if (length as u32 as usize) < ADDRESS {
        return Err(libc::EINVAL);
    }
    kernel::read_memory(thread, place, &mut address)?;
    if c_int::from(u16::from_ne_bytes([address[0], address[1]])) != libc::AF_NETLINK {
        return Err(libc::EINVAL);
    }
    Ok(u32::from_ne_bytes([address[8], address[9], address[10], address[11]]))
}
