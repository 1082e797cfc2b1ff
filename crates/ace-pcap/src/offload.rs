// SPDX-License-Identifier: Apache-2.0
//! What a capture on a host shows before a network card has filled it in: packets that are cut into several later
//! (TSO, "BIG TCP"), whose length field is 0, jumbograms (RFC 2675), and IPv4 headers without their checksum.

const IPV4_MIN: usize = 20;
const IPV6_LEN: usize = 40;
const HOP_BY_HOP: u8 = 0;
const ESP: u8 = 50;
const AH: u8 = 51;
const NO_NEXT: u8 = 59;
/// The option that says the length of a jumbogram (RFC 2675, 2).
const JUMBO: u8 = 0xc2;

/// What a packet's header left to somebody else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offloaded {
    /// The length field is 0, and no option says the length either.
    pub length: bool,
    /// A jumbogram: the length field is 0, and an option says the length.
    pub jumbogram: bool,
    /// The checksum of the IPv4 header is 0, and ESP or AH follows.
    pub checksum: bool,
}

/// How much of a frame an IP packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its bytes. The rest is what the link layer padded it with (Ethernet frames have at least 60 bytes).
    pub len: usize,
    /// What its header does not say.
    pub offloaded: Offloaded,
}

impl Extent {
    /// Of the packet at the beginning of `bytes`. Where the header says no length, that is the frame's. A length that
    /// cannot be right is for the data plane to judge: then all bytes are the packet.
    pub fn of(bytes: &[u8]) -> Self {
        let field = |at: usize| Some(usize::from(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
        let mut offloaded = Offloaded::default();
        let len = match bytes.first().map(|first| first >> 4) {
            Some(4) if bytes.len() > IPV4_MIN => match field(2) {
                Some(0) => {
                    offloaded.length = true;
                    bytes.len()
                }
                len => len.unwrap_or_default(),
            },
            Some(6) if bytes.len() > IPV6_LEN => match (field(4), bytes.get(6)) {
                (Some(0), Some(&NO_NEXT)) => IPV6_LEN,
                (Some(0), _) => {
                    let stated = jumbo_len(bytes).map(|len| IPV6_LEN + len);
                    offloaded.jumbogram = stated.is_some();
                    offloaded.length = stated.is_none();
                    stated.unwrap_or(bytes.len())
                }
                (len, _) => IPV6_LEN + len.unwrap_or_default(),
            },
            _ => bytes.len(),
        };
        let len = if (IPV4_MIN..=bytes.len()).contains(&len) { len } else { bytes.len() };
        offloaded.checksum = matches!(bytes.get(9), Some(&(ESP | AH)))
            && header(bytes)
                .is_some_and(|header| header.get(10..12) == Some(&[0, 0]) && sum(header) != 0xffff);
        Self { len, offloaded }
    }

    /// Whether a length field can say it.
    pub fn is_sayable(&self, packet: &[u8]) -> bool {
        self.len <= longest(packet)
    }
}

/// What a length field can say at most, with the header.
fn longest(packet: &[u8]) -> usize {
    let uncounted = if packet.first().is_some_and(|first| first >> 4 == 6) { IPV6_LEN } else { 0 };
    uncounted + usize::from(u16::MAX)
}

/// The bytes behind the IPv6 header, as an option says that comes first of all (RFC 2675, 2).
fn jumbo_len(packet: &[u8]) -> Option<usize> {
    let options = (*packet.get(6)? == HOP_BY_HOP).then(|| packet.get(IPV6_LEN + 2..))??;
    let len = u32::from_be_bytes(options.strip_prefix(&[JUMBO, 4])?.first_chunk().copied()?);
    usize::try_from(len).ok().filter(|len| *len > usize::from(u16::MAX))
}

/// Puts into a packet what `extent` says that its header lacks. Of a packet that no length field can say, what is longer
/// is cut off: whoever protects it finds it too long, and whoever lets it pass has the frame.
pub fn fill(packet: &mut [u8], extent: &Extent) -> usize {
    let Offloaded { length, jumbogram, checksum } = extent.offloaded;
    let len = packet.len().min(longest(packet));
    let v6 = packet.first().is_some_and(|first| first >> 4 == 6);
    if length || jumbogram {
        let (at, counted) = if v6 { (4, len - IPV6_LEN) } else { (2, len) };
        // At most 65535, as above.
        put(packet, at, counted as u16);
    }
    if !v6 && (length || checksum) {
        set_checksum(packet);
    }
    len
}

/// Whether the checksum of an IPv4 header is right, or left to a network card.
pub(crate) fn has_checksum(packet: &[u8]) -> bool {
    let left_out = packet.get(10..12) == Some(&[0, 0]);
    left_out || header(packet).is_some_and(|header| !sum(header) == 0)
}

/// Makes the checksum of an IPv4 header right.
pub(crate) fn set_checksum(packet: &mut [u8]) {
    put(packet, 10, 0);
    if let Some(right) = header(packet).map(|header| !sum(header)) {
        put(packet, 10, right);
    }
}

fn put(packet: &mut [u8], at: usize, value: u16) {
    if let Some(field) = packet.get_mut(at..at + 2) {
        field.copy_from_slice(&value.to_be_bytes());
    }
}

/// An IPv4 header.
fn header(packet: &[u8]) -> Option<&[u8]> {
    let first = packet.first().filter(|first| *first >> 4 == 4)?;
    packet.get(..usize::from(first & 15) * 4).filter(|header| header.len() >= IPV4_MIN)
}

/// The sum of RFC 1071: 0xffff over a header with the right checksum.
fn sum(header: &[u8]) -> u16 {
    let pairs = header.chunks(2).map(|pair| match *pair {
        [a, b] => u32::from(u16::from_be_bytes([a, b])),
        [a] => u32::from(a) << 8,
        _ => 0,
    });
    // A header has at most 60 bytes.
    let all: u32 = pairs.sum();
    let once = (all & 0xffff) + (all >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}
