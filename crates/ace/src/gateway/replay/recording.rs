// SPDX-License-Identifier: Apache-2.0
//! A recording, read: which packet comes at an instant of its own, and which one because another has left.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use ace_board::trace::Picos;
use ace_gateway::record::{Flow, Line, Packet, Sa, VERSION};
use anyhow::{Context, Result, bail};

const TCP: u8 = 6;
const UDP: u8 = 17;
const PICOS_PER_NANO: u64 = 1000;
/// Longer than any line: what is no recording may have no lines and no end.
const LINE: u64 = 64 << 10;
/// What an IP packet can be: no shorter than its header, no longer than its length field says.
const SIZES: std::ops::RangeInclusive<u32> = 40..=65_535;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tcp,
    Udp,
    Other,
}

/// A packet that is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Since the first one.
    pub at: Picos,
    /// Place of its SA.
    pub sa: usize,
    pub kind: Kind,
    pub bytes: usize,
    pub data: u32,
    /// The packet that it answers: it comes when that one has left. `None`: it comes when it came.
    pub cause: Option<usize>,
}

pub struct Recording {
    pub sas: Vec<Sa>,
    pub steps: Vec<Step>,
    /// Packets of TCP that were sent again: played, nothing is lost.
    pub sent_again: usize,
}

/// What is known of one direction of a connection.
#[derive(Default)]
struct Sent {
    /// The end of each packet with data, in the order of the stream, and its place.
    ends: Vec<(u32, usize)>,
    last: Option<usize>,
}

/// Whether one sequence number is at or before another (RFC 9293, 3.4).
fn reaches(end: u32, acknowledged: u32) -> bool {
    acknowledged.wrapping_sub(end) < 1 << 31
}

impl Sent {
    /// The packet that an acknowledgement is about, or the last one before it.
    fn acknowledged(&self, number: u32) -> Option<usize> {
        let of = self.ends.iter().rev().find(|(end, _)| reaches(*end, number));
        of.map(|(_, at)| *at).or(self.last)
    }
}

impl Recording {
    /// The first `most` packets.
    pub fn read(path: &Path, most: usize) -> Result<Self> {
        let name = path.display();
        let file = File::open(path).with_context(|| name.to_string())?;
        let (mut sas, mut flows, mut packets) = (Vec::<Sa>::new(), Vec::<Flow>::new(), Vec::new());
        let (mut reader, mut line) = (BufReader::new(file), Vec::new());
        for number in 0usize.. {
            line.clear();
            let read = reader.by_ref().take(LINE).read_until(b'\n', &mut line);
            if read.with_context(|| name.to_string())? == 0 {
                break;
            }
            // A gateway that is killed writes the last line in part.
            if number > 0 && !line.ends_with(b"\n") && (line.len() as u64) < LINE {
                eprintln!("ace: warning: {name}:{}: cut short, and left out", number + 1);
                break;
            }
            let what = || format!("{name}:{}: this is no line of a gateway's recording", number + 1);
            let line: Line = serde_json::from_slice(&line).with_context(what)?;
            match (number, line) {
                (0, Line::Recording(VERSION)) => {}
                (0, Line::Recording(version)) => {
                    bail!("{name}: version {version} of the format; this ace plays version {VERSION}")
                }
                (0, _) | (_, Line::Recording(_)) => bail!("{}; its first line says `recording`", what()),
                (_, Line::Sa(sa)) if sa.number as usize == sas.len() => sas.push(sa),
                (_, Line::Flow(flow)) if flow.number as usize == flows.len() => flows.push(flow),
                (_, Line::Packet(packet)) => {
                    let Packet(_, sa, flow, bytes, data, ..) = packet;
                    let known = (sa as usize) < sas.len() && (flow as usize) < flows.len();
                    if !known || bytes > *SIZES.end() || data > bytes {
                        bail!("{}: of no SA or flow before it, or of no possible length", what());
                    }
                    packets.push(packet);
                }
                (_, Line::Full(_)) => {}
                _ => bail!("{}: SAs and flows are numbered in their order", what()),
            }
            if packets.len() == most {
                break;
            }
        }
        if packets.is_empty() {
            bail!("{name}: there is no packet in it");
        }
        Ok(Self::of(sas, &flows, &packets))
    }

    fn of(sas: Vec<Sa>, flows: &[Flow], packets: &[Packet]) -> Self {
        let ends = |flow: &Flow| (flow.protocol, flow.source, flow.destination);
        let known: HashMap<_, usize> = flows.iter().enumerate().map(|(at, flow)| (ends(flow), at)).collect();
        let reverse: Vec<Option<usize>> = flows
            .iter()
            .map(|flow| known.get(&(flow.protocol, flow.destination, flow.source)).copied())
            .collect();
        let begin = packets.iter().map(|packet| packet.0).min().unwrap_or_default();
        let mut sent: Vec<Sent> = flows.iter().map(|_| Sent::default()).collect();
        let (mut steps, mut sent_again) = (Vec::<Step>::new(), 0);
        for &Packet(at, sa, flow, bytes, data, sequence, acknowledged) in packets {
            let flow = flow as usize;
            let kind = match flows[flow].protocol {
                TCP => Kind::Tcp,
                UDP => Kind::Udp,
                _ => Kind::Other,
            };
            let (place, mut cause) = (steps.len(), None);
            if kind == Kind::Tcp {
                let end = sequence.wrapping_add(data);
                if data > 0 {
                    if sent[flow].ends.last().is_some_and(|(last, _)| reaches(end, *last)) {
                        sent_again += 1;
                        continue;
                    }
                    sent[flow].ends.push((end, place));
                }
                let other = reverse[flow].map(|at| &sent[at]);
                cause = other.and_then(|it| if data > 0 { it.last } else { it.acknowledged(acknowledged) });
                sent[flow].last = Some(place);
            }
            let bytes = bytes.max(*SIZES.start()) as usize;
            let at = (at - begin).saturating_mul(PICOS_PER_NANO);
            steps.push(Step { at, sa: sa as usize, kind, bytes, data, cause });
        }
        Self { sas, steps, sent_again }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(number: u32, protocol: u8, from: &str, to: &str) -> Line {
        Line::Flow(Flow { number, protocol, source: from.parse().unwrap(), destination: to.parse().unwrap() })
    }

    fn sa(number: u32, out: bool) -> Line {
        let (cipher, auth) = ("3des-cbc".into(), "hmac-md5-96".into());
        Line::Sa(Sa { number, name: "x".into(), out, ah: false, tunnel: true, esn: false, cipher, auth })
    }

    fn written(lines: &[Line]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text: String = lines.iter().map(|l| serde_json::to_string(l).unwrap() + "\n").collect();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn what_answers_waits_for_what_it_answers() {
        let (a, b) = ("10.0.1.1:4000", "10.0.2.1:80");
        let packet = |at, sa, flow, data, sequence, acknowledged| {
            Line::Packet(Packet(at, sa, flow, 40 + data, data, sequence, acknowledged))
        };
        // Sequence numbers pass 2^32.
        let start = u32::MAX - 1500;
        let after = |n: u32| start.wrapping_add(1000 * n);
        let file = written(&[
            Line::Recording(1),
            sa(0, true),
            flow(0, 6, a, b),
            packet(5_000, 0, 0, 1000, start, 7),
            packet(5_001, 0, 0, 1000, after(1), 7),
            packet(5_002, 0, 0, 1000, after(2), 7),
            sa(1, false),
            flow(1, 6, b, a),
            packet(6_000, 1, 1, 0, 7, after(2)),
            packet(6_010, 0, 0, 1000, after(3), 7),
            packet(6_020, 0, 0, 1000, after(2), 7),
            flow(2, 17, a, b),
            packet(6_030, 0, 2, 500, 0, 0),
        ]);
        let recording = Recording::read(file.path(), 100).unwrap();
        let causes: Vec<Option<usize>> = recording.steps.iter().map(|step| step.cause).collect();
        // The acknowledgement is about the second packet, the fourth came behind it, and the third was sent again.
        assert_eq!(causes, [None, None, None, Some(1), Some(3), None]);
        assert_eq!((recording.sent_again, recording.steps[3].at), (1, 1_000_000));
        assert_eq!(recording.steps[5].kind, Kind::Udp);
        assert_eq!(Recording::read(file.path(), 2).unwrap().steps.len(), 2);
    }

    #[test]
    fn a_last_line_that_is_cut_short_is_left_out() {
        let packet = Line::Packet(Packet(0, 0, 0, 100, 60, 0, 0));
        let flow = flow(0, 17, "10.0.1.1:1", "10.0.2.1:2");
        let file = written(&[Line::Recording(1), sa(0, true), flow, packet.clone(), packet]);
        let whole = std::fs::read(file.path()).unwrap();
        std::fs::write(file.path(), &whole[..whole.len() - 4]).unwrap();
        assert_eq!(Recording::read(file.path(), 9).unwrap().steps.len(), 1);
    }

    #[test]
    fn what_is_no_recording_is_named() {
        let packet = Line::Packet(Packet(0, 0, 0, 100, 60, 0, 0));
        let flow = flow(0, 17, "10.0.1.1:1", "10.0.2.1:2");
        let no_sa = [Line::Recording(1), flow.clone(), packet.clone()];
        let too_long = [Line::Recording(1), sa(0, true), flow, Line::Packet(Packet(0, 0, 0, 100, 101, 0, 0))];
        for (lines, why) in [
            (&[Line::Recording(2)][..], "version 2"),
            (&[sa(0, true)], ":1: "),
            (&[Line::Recording(1), sa(1, true)], "numbered"),
            (&[Line::Recording(1)], "no packet"),
            (&no_sa, ":3: "),
            (&too_long, ":4: "),
        ] {
            let error = Recording::read(written(lines).path(), 9).err().unwrap().to_string();
            assert!(error.contains(why), "{error}");
        }
        let error = Recording::read(Path::new("/dev/zero"), 9).err().unwrap().to_string();
        assert!(error.contains("/dev/zero:1: "), "{error}");
    }
}
