// SPDX-License-Identifier: Apache-2.0
//! pcap: a header, then records.

use std::time::Duration;

use pcap_file::{DataLink, TsResolution};
use pcap_parser::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

use super::Found;
use super::blocks::{Blocks, Ended, MAX_BLOCK};

const RECORD_HEADER: usize = 16;

pub(crate) struct Pcap {
    big_endian: bool,
    pub link: DataLink,
    pub resolution: TsResolution,
    pub snapshot_len: u32,
}

impl Pcap {
    /// From the 24 bytes of a file header.
    pub fn new(header: &[u8]) -> Option<Self> {
        let (_, header) = parse_pcap_header(header).ok()?;
        let nanoseconds = header.is_nanosecond_precision();
        Some(Self {
            big_endian: header.is_bigendian(),
            // Above the link type stands the length of frame check sequences.
            link: DataLink::from(header.network.0 as u32 & 0xffff),
            resolution: if nanoseconds { TsResolution::NanoSecond } else { TsResolution::MicroSecond },
            snapshot_len: header.snaplen,
        })
    }

    pub fn find(&mut self, blocks: &mut Blocks) -> Found {
        self.record(blocks).unwrap_or_else(|ended| Found::Damaged(ended.to_string()))
    }

    fn record(&mut self, blocks: &mut Blocks) -> Result<Found, Ended> {
        if !blocks.begin(RECORD_HEADER)? {
            return Ok(Found::End);
        }
        let len = blocks.block().get(8..12).and_then(|len| len.try_into().ok()).unwrap_or_default();
        let len = if self.big_endian { u32::from_be_bytes(len) } else { u32::from_le_bytes(len) };
        if len as usize > MAX_BLOCK {
            blocks.skip(len.into())?;
            return Ok(Found::Unreadable("longer than any frame"));
        }
        blocks.more(len as usize)?;
        let parse = if self.big_endian { parse_pcap_frame_be } else { parse_pcap_frame };
        let Ok((_, record)) = parse(blocks.block()) else { return Ok(Found::Unreadable("not a record")) };
        let fraction = match self.resolution {
            TsResolution::MicroSecond => Duration::from_micros(record.ts_usec.into()),
            TsResolution::NanoSecond => Duration::from_nanos(record.ts_usec.into()),
        };
        Ok(Found::Frame {
            time: Duration::from_secs(record.ts_sec.into()) + fraction,
            link: self.link,
            at: RECORD_HEADER,
            len: record.data.len(),
            wire_len: record.origlen,
        })
    }
}
