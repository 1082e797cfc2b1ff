// SPDX-License-Identifier: Apache-2.0
//! pcapng (draft-ietf-opsawg-pcapng): sections, in each of them interfaces, of each of them packets.

use std::time::Duration;

use pcap_file::DataLink;
use pcap_parser::pcapng::{Block, PcapNGOption};
use pcap_parser::{OptionCode, parse_block_be, parse_block_le};
use thiserror::Error;

use super::Found;
use super::blocks::{Blocks, Ended, MAX_BLOCK};
use super::secrets::{Collected, SECRETS};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// Obsolete, and still found in old files.
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Interfaces of one section: more are nobody's.
const MAX_INTERFACES: usize = 1 << 16;

/// One interface of the current section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: DataLink,
    snapshot_len: u32,
    /// Ticks of its clock in a second; none if there are more than a u128 counts.
    ticks: Option<u128>,
    /// Seconds to add to every time.
    offset: i64,
}

/// What is wrong with a section header.
#[derive(Debug, Error)]
pub(crate) enum SectionError {
    #[error(transparent)]
    Ended(#[from] Ended),
    #[error("no byte order")]
    ByteOrder,
    #[error("a length of {0}")]
    Length(usize),
    #[error("version {0}")]
    Version(u16),
    #[error("not a section header")]
    Other,
}

#[derive(Default)]
pub(crate) struct PcapNg {
    big_endian: bool,
    /// `None` for one whose description cannot be read: the others keep their numbers.
    interfaces: Vec<Option<Interface>>,
    pub first_link: Option<DataLink>,
    /// What is there to decrypt by, where somebody wants it.
    pub secrets: Option<Collected>,
}

impl PcapNg {
    /// Reads a section header, of which the first 4 bytes have been read.
    pub fn section(&mut self, blocks: &mut Blocks) -> Result<(), SectionError> {
        blocks.more(8)?;
        self.big_endian = match blocks.block().get(8..12) {
            Some([0x1a, 0x2b, 0x3c, 0x4d]) => true,
            Some([0x4d, 0x3c, 0x2b, 0x1a]) => false,
            _ => return Err(SectionError::ByteOrder),
        };
        self.interfaces.clear();
        let len = self.word(blocks.block(), 4) as usize;
        if !(28..=MAX_BLOCK).contains(&len) || !len.is_multiple_of(4) {
            return Err(SectionError::Length(len));
        }
        blocks.more(len - 12)?;
        match self.parse(blocks.block()) {
            Some(Block::SectionHeader(header)) if header.major_version == 1 => Ok(()),
            Some(Block::SectionHeader(header)) => Err(SectionError::Version(header.major_version)),
            _ => Err(SectionError::Other),
        }
    }

    /// Goes on to the next packet.
    pub fn find(&mut self, blocks: &mut Blocks) -> Found {
        loop {
            match self.block(blocks) {
                Ok(Some(found)) => return found,
                Ok(None) => {}
                Err(ended) => return Found::Damaged(ended.to_string()),
            }
        }
    }

    /// Reads a block; nothing if it is no packet's.
    fn block(&mut self, blocks: &mut Blocks) -> Result<Option<Found>, Ended> {
        if !blocks.begin(4)? {
            return Ok(Some(Found::End));
        }
        let kind = self.word(blocks.block(), 0);
        if kind == SECTION {
            return Ok(self
                .section(blocks)
                .err()
                .map(|why| Found::Damaged(format!("section header: {why}"))));
        }
        blocks.more(4)?;
        let len = self.word(blocks.block(), 4);
        if len < 12 || !len.is_multiple_of(4) {
            return Ok(Some(Found::Damaged(format!("a block of {len} bytes"))));
        }
        if kind == SECRETS
            && let Some(secrets) = &mut self.secrets
            && secrets.has_room(len as usize)
        {
            blocks.more(len as usize - 8)?;
            let is_good = secrets.take(blocks.block(), self.big_endian);
            blocks.wipe();
            return Ok(
                (!is_good).then(|| Found::Damaged("decryption secrets longer than their block".into()))
            );
        }
        let is_packet = matches!(kind, PACKET | SIMPLE_PACKET | ENHANCED_PACKET);
        if !is_packet && kind != INTERFACE {
            blocks.skip(u64::from(len) - 8)?;
            return Ok(None);
        }
        if len as usize > MAX_BLOCK {
            blocks.skip(u64::from(len) - 8)?;
            if kind == INTERFACE {
                self.interfaces.push(None);
            }
            return Ok(is_packet.then_some(Found::Unreadable("longer than any frame")));
        }
        blocks.more(len as usize - 8)?;
        if self.word(blocks.block(), len as usize - 4) != len {
            return Ok(Some(Found::Damaged("a block whose two lengths differ".into())));
        }
        if kind == INTERFACE {
            if self.interfaces.len() == MAX_INTERFACES {
                return Ok(Some(Found::Damaged(format!("more than {MAX_INTERFACES} interfaces"))));
            }
            let interface = self.interface(blocks.block());
            self.first_link = self.first_link.or(interface.map(|i| i.link));
            self.interfaces.push(interface);
            return Ok(None);
        }
        Ok(Some(self.packet(kind, blocks.block()).unwrap_or(Found::Unreadable("not a packet block"))))
    }

    fn word(&self, bytes: &[u8], at: usize) -> u32 {
        let bytes = bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn parse<'a>(&self, block: &'a [u8]) -> Option<Block<'a>> {
        let parse = if self.big_endian { parse_block_be } else { parse_block_le };
        parse(block).ok().map(|(_, block)| block)
    }

    fn interface(&self, block: &[u8]) -> Option<Interface> {
        let Some(Block::InterfaceDescription(about)) = self.parse(block) else { return None };
        let option = |code| about.options.iter().find(|o| o.code == code);
        let ticks = match option(OptionCode::IfTsresol).map(PcapNGOption::as_bytes) {
            None => Some(1_000_000),
            Some(Ok([power])) if power >> 7 == 1 => 2u128.checked_pow(u32::from(power & 0x7f)),
            Some(Ok([power])) => 10u128.checked_pow(u32::from(*power)),
            Some(_) => return None,
        };
        let offset = match option(OptionCode::IfTsoffset).map(PcapNGOption::as_bytes) {
            None => 0,
            Some(Ok(bytes)) => {
                let bytes = bytes.try_into().ok()?;
                if self.big_endian { i64::from_be_bytes(bytes) } else { i64::from_le_bytes(bytes) }
            }
            Some(Err(_)) => return None,
        };
        let link = DataLink::from(about.linktype.0 as u32);
        Some(Interface { link, snapshot_len: about.snaplen, ticks, offset })
    }

    /// The frame of a packet block, if that is one.
    fn packet(&self, kind: u32, block: &[u8]) -> Option<Found> {
        let word = |at| self.word(block, at);
        let (interface, ticks, at, len, wire_len) = match kind {
            ENHANCED_PACKET => {
                let Some(Block::EnhancedPacket(p)) = self.parse(block) else { return None };
                let ticks = (u64::from(p.ts_high) << 32) | u64::from(p.ts_low);
                (p.if_id as usize, ticks, 28, p.caplen as usize, p.origlen)
            }
            PACKET => {
                // Interface and drops, 16 bits each, share a word.
                let first = word(8);
                let interface = if self.big_endian { first >> 16 } else { first & 0xffff };
                let ticks = (u64::from(word(12)) << 32) | u64::from(word(16));
                (interface as usize, ticks, 28, word(20) as usize, word(24))
            }
            _ => {
                let Some(Block::SimplePacket(p)) = self.parse(block) else { return None };
                (0, 0, 12, p.data.len().min(p.origlen as usize), p.origlen)
            }
        };
        let Some(interface) = self.interfaces.get(interface).copied().flatten() else {
            return Some(Found::Unreadable("of an interface that is not described"));
        };
        // A simple packet says how long it was, and its interface how much was kept.
        let limit = match interface.snapshot_len {
            0 => usize::MAX,
            limit => limit as usize,
        };
        let len = if kind == SIMPLE_PACKET { len.min(limit) } else { len };
        if at + len > block.len().saturating_sub(4) {
            return Some(Found::Unreadable("longer than its block"));
        }
        let Some(time) = interface.time(ticks) else {
            return Some(Found::Unreadable("of a time before 1970"));
        };
        Some(Found::Frame { time, link: interface.link, at, len, wire_len })
    }
}

impl Interface {
    fn time(&self, count: u64) -> Option<Duration> {
        let (seconds, nanoseconds) = match self.ticks {
            Some(ticks) => {
                let count = u128::from(count);
                (count / ticks, count % ticks * 1_000_000_000 / ticks)
            }
            // So fast a clock that 2^64 ticks are not a nanosecond.
            None => (0, 0),
        };
        let seconds = i128::try_from(seconds).ok()? + i128::from(self.offset);
        Some(Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?))
    }
}
