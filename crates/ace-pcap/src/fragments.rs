// SPDX-License-Identifier: Apache-2.0
//! Fragments of IP (RFC 791, 3.2, and RFC 8200, 4.5) are put together, for ESP and AH have to be whole.
//!
//! etherparse has this too: of bytes that come twice it takes the later ones. Here what overlaps is refused in both
//! families (RFC 5722; RFC 8200, 4.5), because who chooses between two packets chooses for an attacker, and
//! everything is bounded: datagrams, bytes, fragments, time.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use thiserror::Error;

use crate::headers::{self, AH, ESP, FRAGMENT_LEN, Header, Part, UDP};
use crate::nat::{self, Carries};
use crate::offload::set_checksum;
use crate::pieces::Pieces;

/// Datagrams that wait for their other fragments.
pub const MOST_DATAGRAMS: usize = 1024;
/// Bytes that all of them have together.
pub const MOST_BYTES: usize = 16 << 20;
/// Fragments of one: the longest datagram over the smallest MTU of IPv4 (68) has fewer.
const MOST_FRAGMENTS: usize = 2048;
/// RFC 8200, 4.5, by the clock of the capture.
pub const LIFETIME: Duration = Duration::from_secs(60);
/// The end of the longest packet.
const LONGEST: usize = 65_535;
/// What a fragment that waits takes beside its bytes.
const ENTRY: usize = 64;

/// Why fragments came to nothing, as half a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Why {
    /// Some are not in the capture, or came too late.
    #[error("fragments of ESP whose others did not come within 60 seconds")]
    Incomplete,
    /// RFC 5722.
    #[error("fragments of ESP that overlap (RFC 5722)")]
    Overlap,
    /// Two last ones, or a last one in front of others.
    #[error("fragments of ESP that disagree on where their datagram ends")]
    End,
    /// A fragment that is none.
    #[error("fragments of ESP that are empty, or no multiple of 8 bytes, or end behind the longest packet")]
    Size,
    /// The bounds.
    #[error("fragments of ESP, of more than may wait")]
    Many,
}

impl Why {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Incomplete, Self::Overlap, Self::End, Self::Size, Self::Many];
}

/// What fragments of one datagram share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    source: IpAddr,
    destination: IpAddr,
    /// Of IPv6 the number alone counts.
    protocol: u8,
    id: u32,
}

/// What became of fragments with one that came, or with time. `T` is what came with each of them.
#[derive(Debug)]
pub enum Settled<T> {
    /// A datagram is whole.
    Whole {
        /// The packet, without a sign of its fragments.
        packet: Vec<u8>,
        /// What came with them; the last one has made it whole.
        frames: Vec<T>,
    },
    /// They are not of ESP, nor of UDP that may hold it.
    NotEsp(Vec<T>),
    /// They are of UDP at ESP's port, and hold none.
    BesideEsp(Vec<T>),
    /// One that came before, as of two interfaces of one capture: nothing is missing.
    Again,
    /// Nothing comes of so many fragments.
    Lost(Why, u64),
}

#[derive(Debug)]
struct Datagram<T> {
    since: Duration,
    protocol: u8,
    pieces: Pieces,
    frames: Vec<T>,
    /// Bytes of what came, as far as it is here.
    bytes: usize,
    /// Headers in front of the first fragment.
    header: Option<Vec<u8>>,
    end: Option<usize>,
    congested: bool,
    fate: Fate,
}

/// What is known of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// UDP whose ports have not been seen.
    Unknown,
    /// Of ESP: what is missing is missed.
    Esp,
    /// UDP of ESP's port with something else in it.
    Beside,
    /// What comes of it passes by.
    Other,
    /// What comes of it is lost.
    Refused(Why),
}

/// Fragments that wait for others.
#[derive(Debug)]
pub struct Fragments<T> {
    table: HashMap<Key, Datagram<T>>,
    /// In the order of their ends. Who comes again under a used number stands here twice.
    ends: VecDeque<(Duration, Key)>,
    size: usize,
    whole: WereWhole,
}

/// The last ones that were put together: a capture of two interfaces has every fragment twice.
#[derive(Debug, Default)]
struct WereWhole {
    /// Where fragments began, and what they hash to. Numbers are used again, and then the bytes are others.
    fragments: HashMap<Key, Vec<(u64, u64)>>,
    order: VecDeque<Key>,
    hash: RandomState,
}

impl WereWhole {
    fn take(&mut self, key: Key, pieces: &Pieces) {
        while self.order.len() >= MOST_DATAGRAMS {
            self.order.pop_front().inspect(|oldest| drop(self.fragments.remove(oldest)));
        }
        let hashes = pieces.iter().map(|(at, bytes)| (at, self.hash.hash_one(bytes))).collect();
        if self.fragments.insert(key, hashes).is_none() {
            self.order.push_back(key);
        }
    }

    fn has(&self, key: &Key, at: usize, bytes: &[u8]) -> bool {
        let these = self.fragments.get(key);
        these.is_some_and(|these| these.contains(&(at as u64, self.hash.hash_one(bytes))))
    }
}

impl<T> Default for Fragments<T> {
    fn default() -> Self {
        Self { table: HashMap::new(), ends: VecDeque::new(), size: 0, whole: WereWhole::default() }
    }
}

/// Where a fragment of ESP, AH or UDP goes.
pub fn destination(packet: &[u8]) -> Option<IpAddr> {
    let header = Header::of(packet).filter(|header| header.fragment.is_some())?;
    matches!(header.protocol, ESP | AH | UDP).then_some(header.destination)
}

impl<T> Fragments<T> {
    /// Takes a fragment that [`destination`] tells, and what came with it. `now` is the clock of the capture.
    pub fn take(&mut self, now: Duration, packet: &[u8], frame: T, settled: &mut Vec<Settled<T>>) {
        self.expire(now, settled);
        let Some((header, part)) = Header::of(packet).and_then(|header| Some((header, header.fragment?)))
        else {
            settled.push(Settled::NotEsp(vec![frame]));
            return;
        };
        let v6 = header.destination.is_ipv6();
        let Header { source, destination, protocol, .. } = header;
        let key = Key { source, destination, protocol: if v6 { 0 } else { protocol }, id: part.id };
        if !self.table.contains_key(&key) {
            if self.whole.has(&key, part.offset, packet.get(header.at..).unwrap_or_default()) {
                settled.push(Settled::Again);
                return;
            }
            if self.table.len() >= MOST_DATAGRAMS || self.size >= MOST_BYTES {
                self.end_oldest(settled);
            }
            let fate = if protocol == UDP { Fate::Unknown } else { Fate::Esp };
            self.ends.push_back((now, key));
            self.table.insert(key, Datagram::new(now, protocol, fate));
        }
        let Some(datagram) = self.table.get_mut(&key) else { return };
        let before = datagram.bytes;
        let is_over = datagram.take(&header, part, packet, frame, settled);
        self.size = self.size + datagram.bytes - before;
        if is_over {
            self.size -= datagram.bytes;
            self.whole.take(key, &datagram.pieces);
            self.table.remove(&key);
        }
    }

    /// Ends what waits for too long.
    pub fn expire(&mut self, now: Duration, settled: &mut Vec<Settled<T>>) {
        while self.ends.front().is_some_and(|(since, _)| now.saturating_sub(*since) > LIFETIME) {
            self.end_front(Why::Incomplete, settled);
        }
    }

    /// Ends all: nothing more comes.
    pub fn end(&mut self, settled: &mut Vec<Settled<T>>) {
        while !self.ends.is_empty() {
            self.end_front(Why::Incomplete, settled);
        }
    }

    fn end_oldest(&mut self, settled: &mut Vec<Settled<T>>) {
        while self.table.len() >= MOST_DATAGRAMS || self.size >= MOST_BYTES {
            if self.ends.is_empty() {
                return;
            }
            self.end_front(Why::Many, settled);
        }
    }

    fn end_front(&mut self, why: Why, settled: &mut Vec<Settled<T>>) {
        let Some((since, key)) = self.ends.pop_front() else { return };
        // Another one may have come under its number.
        if self.table.get(&key).is_some_and(|datagram| datagram.since == since)
            && let Some(datagram) = self.table.remove(&key)
        {
            self.size -= datagram.bytes;
            datagram.end(why, settled);
        }
    }
}

impl<T> Datagram<T> {
    fn new(since: Duration, protocol: u8, fate: Fate) -> Self {
        let (pieces, frames) = (Pieces::default(), Vec::new());
        Self { since, protocol, pieces, frames, bytes: 0, header: None, end: None, congested: false, fate }
    }

    /// True when it is whole.
    fn take(
        &mut self,
        header: &Header,
        part: Part,
        packet: &[u8],
        frame: T,
        settled: &mut Vec<Settled<T>>,
    ) -> bool {
        match self.fate {
            Fate::Other => {
                settled.push(Settled::NotEsp(vec![frame]));
                return false;
            }
            Fate::Refused(why) => {
                settled.push(Settled::Lost(why, 1));
                return false;
            }
            _ => {}
        }
        let payload = packet.get(header.at..).unwrap_or_default();
        let again = self.pieces.get(part.offset as u64) == Some(payload)
            && (part.more || self.end == Some(part.offset + payload.len()));
        if again && self.fate == Fate::Esp {
            settled.push(Settled::Again);
            return false;
        }
        self.frames.push(frame);
        self.bytes += payload.len() + ENTRY;
        let put = if again { Ok(()) } else { self.put(header, part, packet, payload) };
        if let Err(why) = put.and(if self.frames.len() > MOST_FRAGMENTS { Err(Why::Many) } else { Ok(()) }) {
            self.refuse(why, settled);
            return false;
        }
        if part.offset == 0 && self.protocol == UDP {
            match nat::starts(payload) {
                Some(Carries::Esp) => self.fate = Fate::Esp,
                Some(_) => self.fate = Fate::Beside,
                None => {
                    self.refuse(Why::End, settled);
                    return false;
                }
            }
        }
        let (Some(end), Some(front)) = (self.end, &self.header) else { return false };
        let Some(payload) = self.pieces.whole(end as u64) else { return false };
        let uncounted = if header.destination.is_ipv6() { 40 } else { 0 };
        if front.len() + payload.len() > LONGEST + uncounted {
            self.refuse(Why::Size, settled);
            return false;
        }
        let frames = std::mem::take(&mut self.frames);
        // A first fragment need not have shown more than the ports.
        if self.protocol == UDP && nat::starts(&payload) != Some(Carries::Esp) {
            settled.push(Settled::BesideEsp(frames));
        } else {
            settled.push(Settled::Whole { packet: whole(front, &payload, self.congested), frames });
        }
        true
    }

    fn put(&mut self, header: &Header, part: Part, packet: &[u8], payload: &[u8]) -> Result<(), Why> {
        let end = part.offset + payload.len();
        if payload.is_empty() || (part.more && !payload.len().is_multiple_of(8)) || end > LONGEST {
            return Err(Why::Size);
        }
        if self.pieces.meets(part.offset as u64, end as u64) {
            return Err(Why::Overlap);
        }
        let last = if part.more { self.end } else { Some(end) };
        if (!part.more && self.end.is_some_and(|other| other != end))
            || last.is_some_and(|last| end > last || self.pieces.meets(last as u64, LONGEST as u64 + 1))
        {
            return Err(Why::End);
        }
        if self.pieces.len() >= MOST_FRAGMENTS {
            return Err(Why::Many);
        }
        self.end = last;
        self.congested |= headers::congestion(packet) == 3;
        self.pieces.put(part.offset as u64, payload).map_err(|_| Why::Overlap)?;
        if part.offset == 0 {
            self.header = Some(unfragmented(header, part, packet));
        }
        Ok(())
    }

    /// What is left of it has the same fate, until its time is over.
    fn refuse(&mut self, why: Why, settled: &mut Vec<Settled<T>>) {
        let frames = std::mem::take(&mut self.frames);
        (self.pieces, self.bytes) = (Pieces::default(), 0);
        if self.fate == Fate::Esp {
            self.fate = Fate::Refused(why);
            settled.push(Settled::Lost(why, frames.len() as u64));
        } else {
            self.fate = Fate::Other;
            settled.push(Settled::NotEsp(frames));
        }
    }

    fn end(self, why: Why, settled: &mut Vec<Settled<T>>) {
        let count = self.frames.len() as u64;
        match self.fate {
            _ if self.frames.is_empty() => {}
            Fate::Unknown | Fate::Other => settled.push(Settled::NotEsp(self.frames)),
            Fate::Beside => settled.push(Settled::BesideEsp(self.frames)),
            Fate::Esp => settled.push(Settled::Lost(why, count)),
            Fate::Refused(why) => settled.push(Settled::Lost(why, count)),
        }
    }
}

/// The headers in front of a first fragment, without what says that it is one.
fn unfragmented(header: &Header, part: Part, packet: &[u8]) -> Vec<u8> {
    let mut front = packet.get(..header.at).unwrap_or_default().to_vec();
    if header.destination.is_ipv6() {
        front.truncate(header.at - FRAGMENT_LEN);
        if let Some(byte) = front.get_mut(part.named_by) {
            *byte = header.protocol;
        }
    } else if let Some(flags) = front.get_mut(6..8) {
        flags.fill(0);
    }
    front
}

fn whole(front: &[u8], payload: &[u8], congested: bool) -> Vec<u8> {
    let mut packet = [front, payload].concat();
    // A sender that does not understand it is not told (RFC 3168, 5.3).
    if congested && headers::congestion(&packet) != 0 {
        headers::mark_congestion(&mut packet);
    }
    let v4 = packet.first().is_some_and(|first| first >> 4 == 4);
    let (at, counted) = if v4 { (2, packet.len()) } else { (4, packet.len().saturating_sub(40)) };
    // As long as a packet may be.
    let counted = u16::try_from(counted).unwrap_or(u16::MAX).to_be_bytes();
    if let Some(field) = packet.get_mut(at..at + 2) {
        field.copy_from_slice(&counted);
    }
    if v4 {
        set_checksum(&mut packet);
    }
    packet
}
