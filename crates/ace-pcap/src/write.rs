// SPDX-License-Identifier: Apache-2.0
//! Writes captures, pcap and pcapng.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::unknown::UnknownBlock;
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::read::SecretsKind;

/// What readers take from a pcap file (MAXIMUM_SNAPLEN of libpcap).
pub const MAX_PCAP_FRAME: u32 = 262_144;
/// What every reader takes, and what headers say that were written before there were longer frames.
const USUAL_PCAP_FRAME: u32 = 65_535;
/// Nanoseconds, in pcapng's words.
const NANOSECONDS: u8 = 9;
/// Directions, in the flags word of a block.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
/// Bytes of an option, whose length has 16 bits.
const MOST_COMMENT: usize = 65_000;

/// As much of a comment as has a place.
fn shortened(comment: &str) -> &str {
    let end = (0..=MOST_COMMENT.min(comment.len())).rev().find(|end| comment.is_char_boundary(*end));
    end.and_then(|end| comment.get(..end)).unwrap_or_default()
}

/// Which format a capture is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One header, then frames of one link type; times in micro- or nanoseconds.
    Pcap,
    /// Blocks; frames of any length and of several link types (draft-ietf-opsawg-pcapng).
    PcapNg,
}

impl Format {
    /// pcapng for names that end so, else pcap.
    pub fn of(path: &Path) -> Self {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|e| e.to_str()) {
            Some("pcapng" | "ntar") => Format::PcapNg,
            _ => Format::Pcap,
        }
    }
}

/// Why a frame cannot stand in a capture. The capture goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum Lost {
    /// The frame has more bytes than the header of the pcap file allows.
    #[error("longer than a frame of the capture that is written may be; .pcapng has no such limit")]
    TooLong,
    /// In pcap seconds have 32 bits; in pcapng nanoseconds have 64.
    #[error("of a time that pcap cannot say (after February 2106); .pcapng can")]
    Time,
    /// A pcap file has one link type, named in its header.
    #[error("of another link type than the first; .pcapng holds frames of several")]
    OtherLink,
    /// pcap has nothing but frames.
    #[error("with keys beside it, for which pcap has no place; .pcapng has one")]
    Secrets,
    /// pcap has nothing but frames.
    #[error("with a comment, for which pcap has no place; .pcapng has one")]
    Note,
}

impl Lost {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::TooLong, Self::Time, Self::OtherLink, Self::Secrets, Self::Note];
}

/// What stands beside a frame in pcapng.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// For people (`opt_comment`).
    pub comment: &'a str,
    /// Whether the frame went out; else it came in (`epb_flags`).
    pub outbound: bool,
    /// Bytes that the frame had, if more than there are.
    pub original_len: usize,
}

/// Why a frame was not written, or why nothing more can be.
#[derive(Debug, Error)]
pub enum WriteError {
    /// This frame has no place in the capture; the next one may have.
    #[error("a frame is {0}")]
    Frame(#[from] Lost),
    /// The output takes nothing more.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<PcapError> for WriteError {
    fn from(error: PcapError) -> Self {
        WriteError::Io(match error {
            PcapError::IoError(error) => error,
            other => io::Error::other(other),
        })
    }
}

/// Writes a capture. What is written has the order of the calls.
pub struct CaptureWriter<W: Write>(Kind<W>);

enum Kind<W: Write> {
    Pcap {
        writer: PcapWriter<W>,
        link: DataLink,
        resolution: TsResolution,
        longest: u32,
    },
    /// Interfaces by their numbers: one for each link type.
    PcapNg {
        writer: PcapNgWriter<W>,
        interfaces: Vec<DataLink>,
    },
}

impl<W: Write> CaptureWriter<W> {
    /// Starts a capture whose first frames are of `link`. `resolution` and the snapshot length are for pcap alone:
    /// those of the capture that was read, where it was not cut short by them.
    ///
    /// # Errors
    /// When the beginning cannot be written.
    pub fn new(
        output: W,
        format: Format,
        link: DataLink,
        resolution: TsResolution,
        snapshot_len: u32,
    ) -> Result<Self, WriteError> {
        if format == Format::PcapNg {
            let writer = PcapNgWriter::with_endianness(output, Endianness::Little)?;
            return Ok(Self(Kind::PcapNg { writer, interfaces: Vec::new() }));
        }
        let longest = match snapshot_len {
            USUAL_PCAP_FRAME..=MAX_PCAP_FRAME => snapshot_len,
            _ => MAX_PCAP_FRAME,
        };
        let header = PcapHeader {
            datalink: link,
            ts_resolution: resolution,
            endianness: Endianness::Little,
            snaplen: longest,
            ..PcapHeader::default()
        };
        let writer = PcapWriter::with_header(output, header)?;
        Ok(Self(Kind::Pcap { writer, link, resolution, longest }))
    }

    /// Whether frames of `link` have a place in it.
    pub fn takes(&self, link: DataLink) -> bool {
        match &self.0 {
            Kind::Pcap { link: own, .. } => *own == link,
            Kind::PcapNg { .. } => true,
        }
    }

    /// Writes what there is to decrypt the frames behind it by.
    ///
    /// # Errors
    /// As [`CaptureWriter::write`]; [`Lost::Secrets`] in a pcap file.
    pub fn write_secrets(&mut self, kind: SecretsKind, bytes: &[u8]) -> Result<(), WriteError> {
        let Kind::PcapNg { writer, .. } = &mut self.0 else { return Err(Lost::Secrets.into()) };
        let len = u32::try_from(bytes.len()).map_err(|_| Lost::TooLong)?;
        // With its room at once: what a growing buffer leaves behind nobody wipes.
        let mut value = Zeroizing::new(Vec::with_capacity(bytes.len() + 12));
        value.extend([kind.0, len].iter().flat_map(|word| word.to_le_bytes()));
        value.extend_from_slice(bytes);
        let padded = value.len().next_multiple_of(4);
        value.resize(padded, 0);
        let block = UnknownBlock::new(crate::read::SECRETS, 0, &value);
        writer.write_pcapng_block(block)?;
        Ok(())
    }

    /// Writes a whole frame.
    ///
    /// # Errors
    /// [`WriteError::Frame`] when this frame has no place in the capture, which goes on without it.
    pub fn write(&mut self, link: DataLink, time: Duration, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_with(link, time, bytes, None)
    }

    /// Writes a frame, or its beginning, with what there is to say of it.
    ///
    /// # Errors
    /// As [`CaptureWriter::write`]; [`Lost::Note`] in a pcap file.
    pub fn write_noted(
        &mut self,
        link: DataLink,
        time: Duration,
        bytes: &[u8],
        note: Note<'_>,
    ) -> Result<(), WriteError> {
        self.write_with(link, time, bytes, Some(note))
    }

    fn write_with(
        &mut self,
        link: DataLink,
        time: Duration,
        bytes: &[u8],
        note: Option<Note<'_>>,
    ) -> Result<(), WriteError> {
        let len = u32::try_from(bytes.len()).map_err(|_| Lost::TooLong)?;
        match &mut self.0 {
            Kind::Pcap { .. } if note.is_some() => return Err(Lost::Note.into()),
            Kind::Pcap { writer, link: own, resolution, longest } => {
                if link != *own {
                    return Err(Lost::OtherLink.into());
                }
                if len > *longest {
                    return Err(Lost::TooLong.into());
                }
                let ts_frac = match resolution {
                    TsResolution::MicroSecond => time.subsec_micros(),
                    TsResolution::NanoSecond => time.subsec_nanos(),
                };
                writer.write_raw_packet(&RawPcapPacket {
                    ts_sec: u32::try_from(time.as_secs()).map_err(|_| Lost::Time)?,
                    ts_frac,
                    incl_len: len,
                    orig_len: len,
                    data: Cow::Borrowed(bytes),
                })?;
            }
            Kind::PcapNg { writer, interfaces } => {
                if u64::try_from(time.as_nanos()).is_err() {
                    return Err(Lost::Time.into());
                }
                let interface = match interfaces.iter().position(|known| *known == link) {
                    Some(known) => known,
                    None => {
                        writer.write_pcapng_block(InterfaceDescriptionBlock {
                            linktype: link,
                            snaplen: 0,
                            options: vec![InterfaceDescriptionOption::IfTsResol(NANOSECONDS)],
                        })?;
                        interfaces.push(link);
                        interfaces.len() - 1
                    }
                };
                let whole = note.map_or(bytes.len(), |note| note.original_len.max(bytes.len()));
                let original_len = u32::try_from(whole).map_err(|_| Lost::TooLong)?;
                let options = note.into_iter().flat_map(|note| {
                    let way = if note.outbound { OUTBOUND } else { INBOUND };
                    let comment = EnhancedPacketOption::Comment(Cow::Borrowed(shortened(note.comment)));
                    [comment, EnhancedPacketOption::Flags(way)]
                });
                let options = options.collect();
                writer.write_pcapng_block(EnhancedPacketBlock {
                    // There are at most 2^16 link types.
                    interface_id: interface as u32,
                    timestamp: time,
                    original_len,
                    data: Cow::Borrowed(bytes),
                    options,
                })?;
            }
        }
        Ok(())
    }

    /// What was written into.
    pub fn into_inner(self) -> W {
        match self.0 {
            Kind::Pcap { writer, .. } => writer.into_writer(),
            Kind::PcapNg { writer, .. } => writer.into_inner(),
        }
    }
}
