// SPDX-License-Identifier: Apache-2.0
//! What one read of a TUN device gives, cut into packets: each goes at once where it is sealed, behind room for headers.

use std::io;

use ace_engine::Buffer;
use ace_ipsec::HEADROOM;
use tun_rs::{VIRTIO_NET_HDR_LEN, VirtioNetHdr, checksum, gso_split};

/// linux/virtio_net.h: the checksum is that of the pseudo-header alone so far.
const NEEDS_CHECKSUM: u8 = 1;
/// As there: one packet.
const ONE: u8 = 0;
/// As there: datagrams of one length, but for the last.
const DATAGRAMS: u8 = 5;
/// A UDP header.
const UDP: usize = 8;

pub struct Segments {
    /// Whether frames begin with a virtio header.
    headed: bool,
    /// Empty buffers, and how long what was cut into them is.
    pieces: Vec<Piece>,
    sizes: Vec<usize>,
}

/// All of a buffer.
#[derive(Default)]
struct Piece(Buffer);

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Piece {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Segments {
    pub fn new(headed: bool) -> Self {
        Self { headed, pieces: vec![Piece::default()], sizes: Vec::new() }
    }

    /// Whether frames begin with a virtio header, and may be pieces.
    pub fn headed(&self) -> bool {
        self.headed
    }

    /// Takes a frame; `take` gets its packets and gives an empty buffer for each. How many there were.
    ///
    /// # Errors
    /// It is no frame: not one of the system's errors.
    pub fn cut(&mut self, frame: &mut [u8], mut take: impl FnMut(Buffer) -> Buffer) -> io::Result<usize> {
        let (header, packet) = match self.headed {
            true => {
                let Some((header, packet)) = frame.split_at_mut_checked(VIRTIO_NET_HDR_LEN) else {
                    return Err(io::Error::other("shorter than a virtio header"));
                };
                (VirtioNetHdr::decode(header)?, packet)
            }
            false => (VirtioNetHdr::default(), frame),
        };
        let Some(first) = packet.first() else { return Err(io::Error::other("a frame without a packet")) };
        let six = first >> 4 == 6;
        if header.gso_type == ONE {
            if header.flags & NEEDS_CHECKSUM != 0 {
                finish_checksum(packet, header.csum_start.into(), header.csum_offset.into())
                    .ok_or_else(|| io::Error::other("a checksum behind its packet"))?;
            }
            self.give(0, packet.len()).0.copy_from_slice(packet);
            self.pass(0, packet.len(), &mut take);
            return Ok(1);
        }
        let (header, count) = measured(header, packet)?;
        let len = usize::from(header.hdr_len) + usize::from(header.gso_size);
        for at in 0..count {
            self.give(at, len);
        }
        self.sizes.resize(self.sizes.len().max(count), 0);
        let (pieces, sizes) = (self.pieces.get_mut(..count), self.sizes.get_mut(..count));
        let (Some(pieces), Some(sizes)) = (pieces, sizes) else { return Ok(0) };
        let count = gso_split(packet, header, pieces, sizes, 0, six)?;
        for at in 0..count {
            let size = self.sizes.get(at).copied().unwrap_or(0);
            self.pass(at, size, &mut take);
        }
        Ok(count)
    }

    /// A place with so many bytes of packet.
    fn give(&mut self, at: usize, len: usize) -> &mut Piece {
        if self.pieces.len() <= at {
            self.pieces.resize_with(at + 1, Piece::default);
        }
        let piece = &mut self.pieces[at];
        piece.0.reset(HEADROOM);
        piece.0.push_back(len);
        piece
    }

    fn pass(&mut self, at: usize, size: usize, take: &mut impl FnMut(Buffer) -> Buffer) {
        let Some(Piece(piece)) = self.pieces.get_mut(at) else { return };
        piece.truncate(size);
        *piece = take(std::mem::take(piece));
    }
}

/// Puts the whole checksum in the place of that of the pseudo-header. 0 would say that there is none.
fn finish_checksum(packet: &mut [u8], start: usize, offset: usize) -> Option<()> {
    let covered = packet.get_mut(start..)?;
    let place = covered.get_mut(offset..offset + 2)?;
    let begun = u16::from_be_bytes(std::mem::take(place.first_chunk_mut::<2>()?));
    let sum = match !checksum(covered, begun.into()) {
        0 => u16::MAX,
        sum => sum,
    };
    covered.get_mut(offset..offset + 2)?.copy_from_slice(&sum.to_be_bytes());
    Some(())
}

/// The length of the headers, which the kernel does not always say, and how many packets there are.
fn measured(mut header: VirtioNetHdr, packet: &[u8]) -> io::Result<(VirtioNetHdr, usize)> {
    let start = usize::from(header.csum_start);
    let transport = match header.gso_type {
        DATAGRAMS => UDP,
        _ => usize::from(packet.get(start + 12).copied().unwrap_or(0) >> 4) * 4,
    };
    let headers = start + transport;
    let checksum = start + usize::from(header.csum_offset);
    let payload = packet.len().checked_sub(headers).filter(|len| *len > 0 && checksum + 2 <= headers);
    let (Some(payload), Ok(hdr_len), 1..) = (payload, u16::try_from(headers), header.gso_size) else {
        return Err(io::Error::other("a piece whose parts do not fit each other"));
    };
    if header.gso_type != DATAGRAMS && transport < 20 {
        return Err(io::Error::other("a TCP header that is too short"));
    }
    header.hdr_len = hdr_len;
    Ok((header, payload.div_ceil(header.gso_size.into())))
}

#[cfg(test)]
mod tests;
