// SPDX-License-Identifier: Apache-2.0
//! Captures in and out: pcap and pcapng are read, pcap is written.

use std::fs::File;
use std::io::{BufReader, BufWriter, Chain, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapReader, PcapWriter};
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, Endianness, TsResolution};
use tempfile::NamedTempFile;

/// One captured frame, link header included.
#[derive(Debug, Clone)]
pub struct Frame {
    pub time: Duration,
    pub bytes: Vec<u8>,
    /// The capture kept only the beginning of the frame.
    pub cut: bool,
}

/// A capture that ends badly still gave everything before the damage.
#[derive(Debug, thiserror::Error)]
#[error("{path}: packet {number}: {reason}; the {before} packets before it were read")]
pub struct Damaged {
    pub path: String,
    /// Counted from 1.
    pub number: usize,
    pub before: usize,
    pub reason: String,
}

/// Reads a capture frame by frame.
pub struct Capture {
    path: PathBuf,
    link: DataLink,
    resolution: TsResolution,
    source: Source,
    /// What opening the file has already read.
    first: Option<Result<Frame, Damaged>>,
    count: usize,
    ended: bool,
}

type Input = Chain<Cursor<[u8; 4]>, BufReader<File>>;

enum Source {
    Pcap(PcapReader<Input>),
    PcapNg(PcapNgReader<Input>),
}

impl Capture {
    /// Opens a capture; an error means that not even its first block could be read.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let mut input = BufReader::with_capacity(1 << 20, file);
        let mut magic = [0; 4];
        input.read_exact(&mut magic).map_err(|_| {
            anyhow!("{}: not a capture: shorter than the 4 bytes that say pcap or pcapng", path.display())
        })?;
        let input = Cursor::new(magic).chain(input);
        let mut capture = match magic {
            [0x0a, 0x0d, 0x0d, 0x0a] => {
                let reader = PcapNgReader::new(input)
                    .map_err(|e| anyhow!("{}: the pcapng section header is damaged: {e}", path.display()))?;
                Self::new(path, DataLink::ETHERNET, TsResolution::NanoSecond, Source::PcapNg(reader))
            }
            [0xa1, 0xb2, 0xc3, 0xd4]
            | [0xd4, 0xc3, 0xb2, 0xa1]
            | [0xa1, 0xb2, 0x3c, 0x4d]
            | [0x4d, 0x3c, 0xb2, 0xa1] => {
                let reader = PcapReader::new(input)
                    .map_err(|e| anyhow!("{}: the pcap file header is damaged: {e}", path.display()))?;
                let header = reader.header();
                Self::new(path, header.datalink, header.ts_resolution, Source::Pcap(reader))
            }
            [a, b, c, d] => bail!(
                "{}: not a capture: it starts with {a:02x} {b:02x} {c:02x} {d:02x}, neither pcap nor pcapng",
                path.display()
            ),
        };
        // A pcapng file names its link type only in front of its first packet.
        if let Source::PcapNg(_) = capture.source {
            capture.first = capture.read();
            if let Source::PcapNg(reader) = &capture.source
                && let Some(interface) = reader.interfaces().first()
            {
                capture.link = interface.linktype;
            }
        }
        Ok(capture)
    }

    fn new(path: &Path, link: DataLink, resolution: TsResolution, source: Source) -> Self {
        Self { path: path.to_owned(), link, resolution, source, first: None, count: 0, ended: false }
    }

    pub fn link(&self) -> DataLink {
        self.link
    }

    pub fn resolution(&self) -> TsResolution {
        self.resolution
    }

    fn read(&mut self) -> Option<Result<Frame, Damaged>> {
        if self.ended {
            return None;
        }
        let frame = match &mut self.source {
            Source::Pcap(reader) => read_pcap(reader),
            Source::PcapNg(reader) => read_pcapng(reader),
        };
        match frame? {
            Ok(frame) => {
                self.count += 1;
                Some(Ok(frame))
            }
            Err(reason) => {
                self.ended = true;
                let path = self.path.display().to_string();
                Some(Err(Damaged { path, number: self.count + 1, before: self.count, reason }))
            }
        }
    }
}

impl Iterator for Capture {
    /// The end of a capture that is damaged comes as one error, the last item.
    type Item = Result<Frame, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        self.first.take().or_else(|| self.read())
    }
}

fn read_pcap(reader: &mut PcapReader<Input>) -> Option<Result<Frame, String>> {
    Some(match reader.next_packet()? {
        Ok(packet) => Ok(Frame {
            time: packet.timestamp,
            cut: packet.data.len() < packet.orig_len as usize,
            bytes: packet.data.into_owned(),
        }),
        Err(error) => Err(describe(&error)),
    })
}

fn read_pcapng(reader: &mut PcapNgReader<Input>) -> Option<Result<Frame, String>> {
    loop {
        let block = match reader.next_block()? {
            Ok(block) => block.into_owned(),
            Err(error) => return Some(Err(describe(&error))),
        };
        let (interface, frame) = match block {
            Block::EnhancedPacket(p) => {
                let cut = p.data.len() < p.original_len as usize;
                (p.interface_id as usize, Frame { time: p.timestamp, cut, bytes: p.data.into_owned() })
            }
            Block::SimplePacket(p) => {
                let cut = p.data.len() < p.original_len as usize;
                (0, Frame { time: Duration::ZERO, cut, bytes: p.data.into_owned() })
            }
            _ => continue,
        };
        let interfaces = reader.interfaces();
        return Some(match (interfaces.first(), interfaces.get(interface)) {
            (Some(first), Some(this)) if first.linktype == this.linktype => Ok(frame),
            (Some(first), Some(this)) => Err(format!(
                "link type {:?} after {:?}; split the capture by interface first",
                this.linktype, first.linktype
            )),
            _ => Err(format!("it names interface {interface}, which the file lacks")),
        });
    }
}

fn describe(error: &pcap_file::PcapError) -> String {
    use pcap_file::PcapError;
    match error {
        PcapError::IncompleteBuffer => "the file ends in the middle of it".into(),
        other => other.to_string(),
    }
}

/// Writes a capture under a temporary name beside its place and moves it there when it is complete, so that a
/// full disk or an interruption never leaves half a file under the asked-for name.
pub struct Output {
    path: PathBuf,
    writer: PcapWriter<BufWriter<NamedTempFile>>,
}

impl Output {
    pub fn create(path: &Path, link: DataLink, resolution: TsResolution) -> Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = tempfile::Builder::new()
            .prefix(".ace-")
            .suffix(".pcap")
            .tempfile_in(folder)
            .with_context(|| format!("cannot write {}", path.display()))?;
        let header = PcapHeader {
            datalink: link,
            ts_resolution: resolution,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        let writer = PcapWriter::with_header(BufWriter::new(file), header)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path: path.to_owned(), writer })
    }

    pub fn write(&mut self, time: Duration, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len()).context("a packet of over 4 GiB")?;
        self.writer
            .write_packet(&PcapPacket::new(time, length, bytes))
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        Ok(())
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<()> {
        let mut buffer = self.writer.into_writer();
        let problem = || format!("cannot write {}", self.path.display());
        buffer.flush().with_context(problem)?;
        let file = buffer.into_inner().map_err(|e| e.into_error()).with_context(problem)?;
        file.as_file().sync_all().with_context(problem)?;
        let placed = file.persist(&self.path).map_err(|e| e.error).with_context(problem)?;
        // tempfile makes files private; a capture gets the ordinary mode of a new file.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            placed.set_permissions(std::fs::Permissions::from_mode(0o644)).with_context(problem)?;
        }
        Ok(())
    }
}
