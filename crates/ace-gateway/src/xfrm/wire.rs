// SPDX-License-Identifier: Apache-2.0
//! Netlink framing (RFC 3549, 2.2) and the fixed structures of XFRM, in the byte order of this machine but for what is
//! an address, an SPI or a port. Takes any bytes and never panics.

use zeroize::Zeroizing;

/// Messages that follow each other. Keys may be in them: they are wiped when they are dropped.
pub type Messages = Zeroizing<Vec<u8>>;

/// Bytes of a message header.
const HEADER: usize = 16;
/// Messages and attributes begin at multiples of it.
const ALIGN: usize = 4;

pub const NLMSG_ERROR: u16 = 2;
pub const NLMSG_DONE: u16 = 3;
/// Types below belong to netlink itself.
pub const FIRST: u16 = 0x10;

pub const F_MULTI: u16 = 2;
/// Of requests that change something.
pub const F_REPLACE: u16 = 0x100;
pub const F_ACK: u16 = 4;
pub const F_CAPPED: u16 = 0x100;
/// Root and match.
pub const F_DUMP: u16 = 0x300;

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    pub kind: u16,
    pub flags: u16,
    pub sequence: u32,
    pub body: &'a [u8],
}

/// The messages of a datagram; what is not whole ends them.
pub fn messages(mut datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let len = usize::try_from(u32_at(datagram, 0)?).ok()?;
        let body = datagram.get(HEADER..len)?;
        let message = Message {
            kind: u16_at(datagram, 4)?,
            flags: u16_at(datagram, 6)?,
            sequence: u32_at(datagram, 8)?,
            body,
        };
        datagram = datagram.get(len.next_multiple_of(ALIGN)..).unwrap_or_default();
        Some(message)
    })
}

/// Attributes, which follow a fixed structure. What is not whole ends them.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(u16_at(bytes, 0)?);
        let (kind, value) = (u16_at(bytes, 2)? & 0x3fff, bytes.get(4..len)?);
        bytes = bytes.get(len.next_multiple_of(ALIGN)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The attribute of a kind; of several the last one, as the kernel has it.
pub fn attribute(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).filter(|(found, _)| *found == kind).last().map(|(_, value)| value)
}

pub fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

pub fn be16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub fn be32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Overwrites bytes that are there.
pub fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at.saturating_add(value.len())) {
        place.copy_from_slice(value);
    }
}

/// Adds bytes. Memory that has become too small is wiped before it is given back, which a vector by itself does not do.
pub fn append(to: &mut Messages, bytes: &[u8]) {
    let needed = to.len().saturating_add(bytes.len());
    if needed > to.capacity() {
        let mut larger = Messages::new(Vec::with_capacity(needed.next_power_of_two()));
        larger.extend_from_slice(to);
        *to = larger;
    }
    to.extend_from_slice(bytes);
}

/// A message that is being made.
pub struct Reply {
    bytes: Messages,
}

impl Reply {
    pub fn new(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Self {
        let mut bytes = Messages::new(Vec::new());
        // The length stands there in the end. From port 0: the kernel's, and that of a client that has none.
        for part in
            [&[0; 4][..], &kind.to_ne_bytes(), &flags.to_ne_bytes(), &sequence.to_ne_bytes(), &[0; 4], body]
        {
            append(&mut bytes, part);
        }
        Self { bytes }.aligned()
    }

    fn aligned(mut self) -> Self {
        let over = self.bytes.len().next_multiple_of(ALIGN) - self.bytes.len();
        append(&mut self.bytes, [0; ALIGN].get(..over).unwrap_or_default());
        self
    }

    /// Adds an attribute; one that is too long for its length field is left out.
    pub fn attribute(mut self, kind: u16, value: &[u8]) -> Self {
        let Ok(len) = u16::try_from(value.len() + 4) else { return self };
        for part in [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), value] {
            append(&mut self.bytes, part);
        }
        self.aligned()
    }

    /// Adds attributes as they came.
    pub fn attributes(mut self, bytes: &[u8]) -> Self {
        append(&mut self.bytes, bytes);
        self.aligned()
    }

    pub fn done(mut self) -> Messages {
        let len = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        put(&mut self.bytes, 0, &len.to_ne_bytes());
        self.bytes
    }
}

/// What says how a request ended: 0, or an errno. The request itself is not sent back: keys may be in it.
pub fn ending(request: &Message<'_>, errno: i32) -> Messages {
    let mut body = (-errno).to_ne_bytes().to_vec();
    body.extend_from_slice(&(HEADER as u32).to_ne_bytes());
    body.extend_from_slice(&request.kind.to_ne_bytes());
    body.extend_from_slice(&request.flags.to_ne_bytes());
    body.extend_from_slice(&request.sequence.to_ne_bytes());
    body.extend_from_slice(&[0; 4]);
    Reply::new(NLMSG_ERROR, F_CAPPED, request.sequence, &body).done()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Reply::new(0x10, F_ACK, 7, b"abcde").attribute(3, b"xyz").attribute(4, b"").done();
        append(&mut bytes, &Reply::new(0x11, 0, 8, &[]).done());
        let read: Vec<_> = messages(&bytes).collect();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].kind, read[0].flags, read[0].sequence), (0x10, F_ACK, 7));
        assert_eq!(attributes(&read[0].body[8..]).collect::<Vec<_>>(), [(3, &b"xyz"[..]), (4, &b""[..])]);
        assert_eq!((read[1].kind, read[1].body), (0x11, &[][..]));
        for cut in 0..bytes.len() {
            assert!(messages(&bytes[..cut]).count() < 2);
        }
        let endless = [[16_u32.to_ne_bytes(); 4].concat(), vec![0; 4]].concat();
        assert_eq!(messages(&endless).count(), 1);
        assert_eq!((messages(&[0; 64]).count(), attributes(&[0; 64]).count()), (0, 0));
        let ended_by = ending(&read[0], 3);
        let ended = messages(&ended_by).next().unwrap();
        assert_eq!(
            (ended.kind, ended.sequence, u32_at(ended.body, 0)),
            (NLMSG_ERROR, 7, Some(-3_i32 as u32))
        );
    }
}
