// SPDX-License-Identifier: Apache-2.0
//! Reads captures, pcap and pcapng, frame by frame.

mod blocks;
mod pcap;
mod pcapng;
mod secrets;

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use pcap_file::{DataLink, TsResolution};
use thiserror::Error;

pub use blocks::MAX_BLOCK;
use blocks::{Blocks, Ended};
use pcap::Pcap;
use pcapng::PcapNg;
pub(crate) use secrets::SECRETS;
pub use secrets::{Secrets, SecretsError, SecretsKind, is_pcapng, secrets, secrets_from};

/// One captured frame, link header included.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Counted from 1, with those that could not be read.
    pub number: u64,
    /// Since 1970.
    pub time: Duration,
    /// The link type, which in pcapng may differ from frame to frame.
    pub link: DataLink,
    /// What the capture kept of it; valid until the next item is read.
    pub bytes: &'a [u8],
    /// Its length on the wire, in bytes.
    pub wire_len: u32,
}

impl Frame<'_> {
    /// Whether the capture kept only the beginning of it.
    pub fn is_cut(&self) -> bool {
        self.bytes.len() < self.wire_len as usize
    }
}

/// What the next record of a capture is.
#[derive(Clone, Copy, Debug)]
pub enum Item<'a> {
    /// A frame that was read.
    Frame(Frame<'a>),
    /// A record that can be told from its neighbours, of which nothing can be made.
    Unreadable {
        /// Counted from 1, as [`Frame::number`].
        number: u64,
        /// What is wrong with the record, as half a sentence for people.
        why: &'static str,
    },
}

/// A capture that ends badly still gave everything before the damage.
#[derive(Debug, Error)]
#[error("{name}: packet {number}: {why}; the {before} packets before it were read", before = .number - 1)]
pub struct Damage {
    /// The capture's name.
    pub name: String,
    /// Counted from 1.
    pub number: u64,
    /// What is wrong, as half a sentence for people.
    pub why: String,
}

/// Why nothing of a capture could be read.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be opened.
    #[error("cannot open {name}: {error}")]
    Open {
        /// As it was named.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// The file was opened and its first bytes cannot be read.
    #[error("{name}: {error}")]
    Read {
        /// As it was named.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// Less than four bytes; the capture's name is given here.
    #[error("{0}: not a capture: shorter than the 4 bytes that say pcap or pcapng")]
    Short(String),
    /// The first bytes are no capture's.
    #[error("{name}: not a capture: it starts with {}, neither pcap nor pcapng", words(.magic))]
    Magic {
        /// The capture's name.
        name: String,
        /// The first four bytes.
        magic: [u8; 4],
    },
    /// The header in front of the first packet cannot be read.
    #[error("{name}: the {what} is damaged: {why}")]
    Header {
        /// The capture's name.
        name: String,
        /// Which header: `pcap file header` or `pcapng section header`.
        what: &'static str,
        /// What is wrong with it, as half a sentence for people.
        why: String,
    },
}

/// What gzip (RFC 1952) has packed is unpacked as it is read, one member behind the other. True if it was packed.
fn unpacked(mut input: Box<dyn Read + Send>) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let mut start = Vec::new();
    input.by_ref().take(2).read_to_end(&mut start)?;
    let packed = start == [0x1f, 0x8b];
    let input = io::Cursor::new(start).chain(input);
    Ok(if packed { (Box::new(MultiGzDecoder::new(input)), true) } else { (Box::new(input), false) })
}

fn words(magic: &[u8; 4]) -> String {
    magic.map(|byte| format!("{byte:02x}")).join(" ")
}

/// Reads a capture frame by frame.
///
/// ```
/// use ace_pcap::{Capture, CaptureWriter, DataLink, Format, Item, TsResolution};
/// use std::{io::Cursor, time::Duration};
///
/// let mut out =
///     CaptureWriter::new(Vec::new(), Format::PcapNg, DataLink::RAW, TsResolution::NanoSecond, 0)?;
/// out.write(DataLink::RAW, Duration::from_secs(1_000_000_000), &[0x45; 20])?;
///
/// // A file is read by `Capture::open`.
/// let input = Box::new(Cursor::new(out.into_inner()));
/// let mut capture = Capture::read("memory", input, None)?;
/// while let Some(item) = capture.next_item() {
///     match item? {
///         Item::Frame(frame) => assert_eq!((frame.number, frame.bytes.len()), (1, 20)),
///         Item::Unreadable { number, why } => eprintln!("packet {number}: {why}"),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Capture {
    name: String,
    blocks: Blocks,
    format: Format,
    size: Option<u64>,
    packets: u64,
    ended: bool,
    /// Of a pcapng file: the bytes of its first frame were read to find its link type.
    first: Option<Found>,
}

enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

impl Capture {
    /// Opens a capture, `-` for standard input.
    ///
    /// # Errors
    /// When not even its header could be read.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        let name = path.display().to_string();
        if path == Path::new("-") {
            return Self::read("standard input", Box::new(io::stdin()), None);
        }
        let opened = ace_fs::open(path).and_then(|file| Ok((file.metadata()?, file)));
        match opened {
            Ok((about, file)) => Self::read(&name, Box::new(file), about.is_file().then_some(about.len())),
            Err(error) => Err(CaptureError::Open { name, error }),
        }
    }

    /// Reads a capture from anywhere, also one that gzip has packed. `size` is its length in bytes, where that is known.
    ///
    /// # Errors
    /// When not even its header could be read.
    pub fn read(name: &str, input: Box<dyn Read + Send>, size: Option<u64>) -> Result<Self, CaptureError> {
        Self::begin(name, input, size, false)
    }

    /// The same; `collects`: blocks of decryption secrets are not passed over.
    fn begin(
        name: &str,
        input: Box<dyn Read + Send>,
        size: Option<u64>,
        collects: bool,
    ) -> Result<Self, CaptureError> {
        let name = name.to_owned();
        let (input, packed) =
            unpacked(input).map_err(|error| CaptureError::Read { name: name.clone(), error })?;
        let size = size.filter(|_| !packed);
        let mut blocks = Blocks::new(input);
        let magic = match blocks.begin(4) {
            Ok(true) => <[u8; 4]>::try_from(blocks.block()).unwrap_or_default(),
            Ok(false) | Err(Ended::Short) => return Err(CaptureError::Short(name)),
            Err(Ended::Io(error)) => return Err(CaptureError::Read { name, error }),
        };
        let header =
            |what, ended: Ended| CaptureError::Header { name: name.clone(), what, why: ended.to_string() };
        let format = match magic {
            [0x0a, 0x0d, 0x0d, 0x0a] => {
                let mut reader = PcapNg::default();
                reader.secrets = collects.then(secrets::Collected::default);
                reader.section(&mut blocks).map_err(|why| CaptureError::Header {
                    name: name.clone(),
                    what: "pcapng section header",
                    why: why.to_string(),
                })?;
                Format::PcapNg(reader)
            }
            [0xa1, 0xb2, 0xc3, 0xd4]
            | [0xd4, 0xc3, 0xb2, 0xa1]
            | [0xa1, 0xb2, 0x3c, 0x4d]
            | [0x4d, 0x3c, 0xb2, 0xa1] => {
                blocks.more(20).map_err(|ended| header("pcap file header", ended))?;
                match Pcap::new(blocks.block()) {
                    Some(reader) => Format::Pcap(reader),
                    None => return Err(CaptureError::Magic { name, magic }),
                }
            }
            magic => return Err(CaptureError::Magic { name, magic }),
        };
        let mut capture = Self { name, blocks, format, size, packets: 0, ended: false, first: None };
        // A pcapng file names its link type in front of its first packet.
        if let Format::PcapNg(reader) = &mut capture.format {
            capture.first = Some(reader.find(&mut capture.blocks));
        }
        Ok(capture)
    }

    /// The secrets that were passed by.
    fn into_secrets(self) -> Option<secrets::Collected> {
        match self.format {
            Format::Pcap(_) => None,
            Format::PcapNg(reader) => reader.secrets,
        }
    }

    /// The file's name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its length in bytes, where that is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// How many bytes of it were read.
    pub fn position(&self) -> u64 {
        self.blocks.position()
    }

    /// The link type of its first interface; of a pcapng file without one there is none.
    pub fn link(&self) -> Option<DataLink> {
        match &self.format {
            Format::Pcap(reader) => Some(reader.link),
            Format::PcapNg(reader) => reader.first_link,
        }
    }

    /// How fine its times are.
    pub fn resolution(&self) -> TsResolution {
        match &self.format {
            Format::Pcap(reader) => reader.resolution,
            Format::PcapNg(_) => TsResolution::NanoSecond,
        }
    }

    /// The longest frame that it may hold in bytes, as its header says; 0 if that does not say.
    pub fn snapshot_len(&self) -> u32 {
        match &self.format {
            Format::Pcap(reader) => reader.snapshot_len,
            Format::PcapNg(_) => 0,
        }
    }

    /// The next record; nothing after the last one or after damage.
    pub fn next_item(&mut self) -> Option<Result<Item<'_>, Damage>> {
        if self.ended {
            return None;
        }
        let number = self.packets + 1;
        let found = match &mut self.format {
            Format::Pcap(reader) => reader.find(&mut self.blocks),
            Format::PcapNg(reader) => match self.first.take() {
                Some(first) => first,
                None => reader.find(&mut self.blocks),
            },
        };
        match found {
            Found::End => {
                self.ended = true;
                None
            }
            Found::Damaged(why) => {
                self.ended = true;
                Some(Err(Damage { name: self.name.clone(), number, why }))
            }
            Found::Unreadable(why) => {
                self.packets = number;
                Some(Ok(Item::Unreadable { number, why }))
            }
            Found::Frame { time, link, at, len, wire_len } => {
                self.packets = number;
                let bytes = self.blocks.block().get(at..at + len).unwrap_or_default();
                Some(Ok(Item::Frame(Frame { number, time, link, bytes, wire_len })))
            }
        }
    }
}

/// What a reader found; the bytes of a frame are those of the block from `at`.
#[derive(Debug)]
pub(crate) enum Found {
    Frame { time: Duration, link: DataLink, at: usize, len: usize, wire_len: u32 },
    Unreadable(&'static str),
    Damaged(String),
    End,
}
