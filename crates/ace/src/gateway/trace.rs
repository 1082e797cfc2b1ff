// SPDX-License-Identifier: Apache-2.0
//! `ace gateway trace`: what becomes of each packet, as lines, JSON or a capture.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ace_gateway::trace::Event;
use ace_pcap::{CaptureWriter, DataLink, Format, Note, TsResolution};
use ace_report::Outcome;
use anyhow::{Context, Result, bail};
use serde::Deserialize;

#[derive(clap::Args)]
pub struct Trace {
    /// The gateway's socket: `control` of its configuration
    #[arg(long, value_name = "PATH", default_value = "/run/ace/gateway.sock")]
    control: PathBuf,
    /// Of this SPI alone: 0x1001, or 4097
    #[arg(long, value_parser = spi)]
    spi: Option<u32>,
    /// Write a capture (pcapng) instead of lines, with a comment on each packet; `-` is standard output. ESP and AH stand in it
    /// as they are outside, without UDP; of a clear packet that is dropped its headers
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Put clear packets into the capture, with all that is in them
    #[arg(long, requires = "pcap")]
    inner: bool,
    /// Print an object of JSON for each packet
    #[arg(long, conflicts_with = "pcap")]
    json: bool,
    /// End behind so many packets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
}

fn spi(text: &str) -> Result<u32, std::num::ParseIntError> {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u32::from_str_radix(digits, 16))
}

/// What a gateway says instead of packets.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

type Capture = CaptureWriter<Shared>;

/// A file that a capture is written into, and that is flushed beside it.
#[derive(Clone)]
struct Shared(Rc<RefCell<BufWriter<Box<dyn Write>>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

impl Trace {
    pub fn run(&self) -> Result<Outcome> {
        let mut question = "trace".to_owned();
        question += match (&self.pcap, self.inner) {
            (None, _) => " all",
            (Some(_), false) => " packets",
            (Some(_), true) => " inner",
        };
        if let Some(spi) = self.spi {
            question += &format!(" spi={spi:#x}");
        }
        let control = &self.control;
        let none = || format!("no gateway answers at {}; --control names another", control.display());
        let mut stream = UnixStream::connect(control).with_context(none)?;
        stream.write_all(format!("{question}\n").as_bytes()).with_context(none)?;
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        lines.read_line(&mut line).with_context(none)?;
        if line.is_empty() {
            bail!("the gateway answers root and who started it, nobody else");
        }
        if let Ok(Refusal { error }) = serde_json::from_str(&line) {
            bail!("the gateway says: {error}");
        }
        let mut capture = self.pcap.as_deref().map(begin).transpose()?;
        let (mut count, mut lost) = (0, 0);
        let mut out = io::stdout().lock();
        while self.count.is_none_or(|most| count < most) {
            line.clear();
            if lines.read_line(&mut line)? == 0 {
                eprintln!("ace: the gateway has ended");
                return Ok(Outcome::Wrong);
            }
            let event: Event =
                serde_json::from_str(&line).context("the gateway's answer is not of this version of ace")?;
            count += 1;
            if event.lost > lost {
                eprintln!(
                    "ace: {} packets were not shown: they came faster than they were read",
                    event.lost - lost
                );
                lost = event.lost;
            }
            match &mut capture {
                Some((capture, _)) => put(capture, &event)?,
                None if self.json => out.write_all(line.as_bytes())?,
                None => writeln!(out, "{}", words(&event))?,
            }
            // Whoever looks sees all of it before it waits.
            if lines.buffer().is_empty() {
                out.flush()?;
                if let Some((_, file)) = &mut capture {
                    file.flush()?;
                }
            }
        }
        out.flush()?;
        if let Some((_, file)) = &mut capture {
            file.flush()?;
        }
        Ok(Outcome::Well)
    }
}

fn begin(path: &Path) -> Result<(Capture, Shared)> {
    let out: Box<dyn Write> = match path.to_str() {
        Some("-") => Box::new(io::stdout()),
        _ => {
            use std::os::unix::fs::OpenOptionsExt;
            let mut options = File::options();
            // Who talks to whom is in it: it is its owner's alone.
            options.write(true).create(true).truncate(true).mode(0o600);
            Box::new(options.open(path).with_context(|| path.display().to_string())?)
        }
    };
    let file = Shared(Rc::new(RefCell::new(BufWriter::new(out))));
    let begun = CaptureWriter::new(file.clone(), Format::PcapNg, DataLink::RAW, TsResolution::NanoSecond, 0)?;
    Ok((begun, file))
}

fn put(capture: &mut Capture, event: &Event) -> Result<()> {
    let bytes = event.packet.as_deref().map(hex::decode).transpose()?.unwrap_or_default();
    let time = Duration::try_from_secs_f64(event.time).unwrap_or_default();
    let comment = fate(event);
    let note = Note {
        comment: &comment,
        outbound: event.direction == "out",
        original_len: event.packet_bytes.unwrap_or(event.bytes),
    };
    Ok(capture.write_noted(DataLink::RAW, time, &bytes, note)?)
}

/// What became of it, and by which SA.
fn fate(event: &Event) -> String {
    let mut text = event.verdict.clone();
    if let (Some(cause), Some(why)) = (&event.cause, &event.why) {
        text += &format!(" {cause}: {why}");
    }
    if let Some(name) = &event.sa {
        text += &format!("; SA {name}");
    }
    if let Some(spi) = event.spi {
        text += &format!(", SPI {spi:#x}");
    }
    if let Some(sequence) = event.sequence {
        text += &format!(", number {sequence}");
    }
    text
}

fn words(event: &Event) -> String {
    let end = |address: Option<std::net::IpAddr>, port: Option<u16>| match (address, port) {
        (None, _) => "?".to_owned(),
        (Some(address), None) => address.to_string(),
        (Some(address), Some(port)) => std::net::SocketAddr::new(address, port).to_string(),
    };
    let has_ports = matches!(event.protocol, Some(6 | 17 | 132 | 136));
    let ports = event.ports.filter(|_| has_ports).unzip();
    let protocol = match event.protocol {
        Some(1) => "icmp".to_owned(),
        Some(6) => "tcp".to_owned(),
        Some(17) => "udp".to_owned(),
        Some(50) => "esp".to_owned(),
        Some(51) => "ah".to_owned(),
        Some(58) => "icmpv6".to_owned(),
        Some(other) => other.to_string(),
        None => "?".to_owned(),
    };
    let left = event.left.map_or_else(String::new, |left| format!(" -> {left}"));
    format!(
        "{:.6} {:<3} {} > {} {protocol} {}{left} bytes {}",
        event.time,
        event.direction,
        end(event.source, ports.0),
        end(event.destination, ports.1),
        event.bytes,
        fate(event)
    )
}
