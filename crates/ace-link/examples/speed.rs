// SPDX-License-Identifier: Apache-2.0
//! What a packet costs this processor on its way to a board and back: `cargo run --release -p ace-link --example speed`.
//!
//! First without a wire: a board on the same thread that answers at once, whose own time is counted, too. Then, as root, over
//! a veth pair in a network namespace of its own, with a board in software on another thread; there the kernel's part is
//! counted, too, and with it what it does for the board's end of the pair.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use ace_board::array::Loadable;
use ace_board::frame;
use ace_board::model::{Frame as SlotFrame, Options, RunError, SlotModel, Stopped};
use ace_engine::algorithm::{AES, SHA1};
use ace_engine::{Action, Buffer, Direction, Engine, Iv, Job, Key, Mac, Mode, Operation, Suffix, Tag};
use ace_link::socket::Socket;
use ace_link::soft::{Board, Description, Served};
use ace_link::wire::{self, Address, BOARD, Frame, Header, Kind};
use ace_link::{Batch, Identity, LinkEngine, Wire};
use nix::sched::{CloneFlags, unshare};

const HOST: Address = [2, 0, 0, 0, 0, 7];
const PACKETS: usize = 50_000;
/// Jobs that are with the engine at a time.
const TOGETHER: usize = 64;
/// The board's queue: a full window for the cable, as an image would have.
const QUEUE: u16 = 4096;

/// A response of the length that a request asks for, of zeros.
fn response(request: &[u8], out: &mut Vec<u8>) {
    let header = frame::Header::from_bytes(request).unwrap_or_default();
    let len = match header.op {
        0x51 | 0x52 => 0,
        frame::op::HASH | frame::op::HMAC_STATES => usize::from(header.result_len),
        _ => header.payload_len as usize,
    };
    out.resize(frame::padded(len), 0);
    out.extend_from_slice(&(len as u32).to_le_bytes());
    out.extend_from_slice(&header.tag.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
}

/// A slot that answers at once.
#[derive(Default)]
struct AtOnce(VecDeque<(u64, SlotFrame)>);

impl SlotModel for AtOnce {
    fn run(&mut self, _: &mut [SlotFrame], _: &Options) -> Result<(), RunError> {
        Err(RunError::BadFrame)
    }

    fn join(&mut self, number: u64, mut frame: SlotFrame) -> u64 {
        response(&frame.request, &mut frame.response);
        self.0.push_back((number, frame));
        0
    }

    fn go(&mut self, _: u64, _: u64) -> Result<Option<(u64, SlotFrame)>, Stopped> {
        Ok(self.0.pop_front())
    }

    fn reset(&mut self) {
        self.0.clear();
    }

    fn clocks(&self) -> u64 {
        0
    }
}

/// A board behind no wire.
#[derive(Default)]
struct Mirror {
    request: Vec<u8>,
    back: Vec<u8>,
    ends: Vec<usize>,
    number: u16,
}

impl Mirror {
    fn add(&mut self, header: Header, beats: &[u8]) {
        header.write(beats, &mut self.back);
        self.ends.push(self.back.len());
    }
}

impl Wire for Mirror {
    fn address(&self) -> Address {
        HOST
    }

    fn send(&mut self, batch: &Batch) -> io::Result<()> {
        for bytes in batch.frames() {
            let Ok(frame) = Frame::parse(bytes) else { continue };
            let header = frame.header;
            if header.kind == Kind::Hello {
                let about = Identity {
                    version: 1,
                    slots: 1,
                    queue: QUEUE,
                    host: HOST,
                    session: header.session,
                    ..Identity::default()
                };
                self.add(header.answer(Kind::Identity), &about.to_beats());
                continue;
            }
            if frame.is_first() {
                self.request.clear();
            }
            self.request.extend_from_slice(frame.beats);
            if frame.is_last() {
                let mut answer = Vec::new();
                response(&self.request, &mut answer);
                for (flags, beats) in wire::cut(&answer) {
                    self.number = self.number.wrapping_add(1);
                    let number = self.number;
                    self.add(Header { flags, number, from: BOARD, ..header.answer(Kind::Answer) }, beats);
                }
            }
        }
        Ok(())
    }

    fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
        let mut start = 0;
        for end in &self.ends {
            take(&self.back[start..*end]);
            start = *end;
        }
        let count = self.ends.len();
        self.back.clear();
        self.ends.clear();
        Ok(count)
    }

    fn wait(&mut self, _: Duration) -> io::Result<()> {
        Ok(())
    }
}

/// Packets of four associations in turn, with or without a MAC.
fn packets(bytes: usize, mac: bool) -> Vec<Operation> {
    let one = |at: u8| {
        let cipher = Key::cipher(&AES, Mode::Cbc, &[at; 16]).expect("a key");
        let packet = vec![at; 24 + bytes + 12];
        let (text, end) = ((24..24 + bytes).into(), 24 + bytes);
        let iv = Iv::new(&[at; 16]).expect("an IV");
        let direction = Direction::Encrypt;
        let action = if mac {
            let mac = Key::mac(Mac::Hmac(&SHA1), &[at; 20]).expect("a key");
            let tag = Tag::Write((end..end + 12).into());
            Action::CipherMac {
                cipher,
                iv,
                direction,
                text,
                mac,
                over: (0..end).into(),
                suffix: Suffix::EMPTY,
                tag,
            }
        } else {
            Action::Cipher { key: cipher, direction, iv, text }
        };
        Operation { action, buffer: Buffer::from_packet(&packet, 0, 0) }
    };
    (0..4).map(one).collect()
}

/// Sends packets through an engine.
fn run<W: Wire>(engine: &mut LinkEngine<W>, packets: &[Operation], count: usize) {
    let (mut jobs, mut done, mut next, mut answered) = (VecDeque::new(), Vec::new(), 0, 0);
    let mut spare: Vec<Vec<Buffer>> = vec![Vec::new(); packets.len()];
    while answered < count {
        while next < count && next - answered < TOGETHER {
            let of = &packets[next % packets.len()];
            let buffer = spare[next % packets.len()].pop().unwrap_or_else(|| of.buffer.clone());
            let operation = Operation { action: of.action.clone(), buffer };
            let id = next as u64;
            jobs.push_back(Job { id, flow: (next % packets.len()) as u32, packet: id, operation });
            next += 1;
        }
        engine.try_submit(&mut jobs);
        engine.wait(&mut done);
        answered += done.len();
        for one in done.drain(..) {
            one.result.expect("it computes");
            spare[one.id as usize % packets.len()].push(one.buffer);
        }
    }
}

/// Nanoseconds that this thread has had the processor.
fn on_processor() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("a number")
}

/// Microseconds of the processor for a packet without a wire, with what the mirror takes.
fn alone(packets: &[Operation]) -> f64 {
    let mut engine = LinkEngine::open(Mirror::default(), "none", sets()).expect("a board");
    run(&mut engine, packets, PACKETS / 10);
    let since = on_processor();
    run(&mut engine, packets, PACKETS);
    (on_processor() - since) as f64 / 1e3 / PACKETS as f64
}

fn sets() -> Vec<Loadable> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/array/sets");
    let set = |name: &str| {
        let bytes =
            fs::read(folder.join(name).join(format!("{name}.set"))).expect("`ace array build` makes it");
        Loadable::new(name, bytes).expect("a set")
    };
    ["aes128_encrypt", "sha1"].map(set).into()
}

fn main() {
    println!(
        "us of this processor for a packet, {PACKETS} packets of four associations, {TOGETHER} at a time"
    );
    println!("{:28} {:>6} {:>10} {:>12} {:>10}", "", "bytes", "no wire", "veth, all", "kpps");
    let namespace = unshare(CloneFlags::CLONE_NEWNET).is_ok() && {
        let ip = |arguments: &str| {
            Command::new("ip").args(arguments.split(' ')).status().is_ok_and(|it| it.success())
        };
        ip("link add host type veth peer name board") && ip("link set host up") && ip("link set board up")
    };
    for (name, mac) in [("aes-128-cbc", false), ("aes-128-cbc, hmac-sha1-96", true)] {
        for bytes in [64, 1424] {
            let packets = packets(bytes, mac);
            let own = alone(&packets);
            let (mut over, mut kpps) = ("-".to_owned(), "-".to_owned());
            if namespace {
                let is = Description { queue: QUEUE, ..Description::default() };
                let board = Board::new(is, vec![Box::new(AtOnce::default())]);
                let _board =
                    Served::start(board, Socket::board("board").expect("a socket")).expect("a thread");
                let socket = Socket::open("host").expect("a socket");
                let mut engine = LinkEngine::open(socket, "host", sets()).expect("a board");
                run(&mut engine, &packets, PACKETS / 10);
                let (wall, since) = (Instant::now(), on_processor());
                run(&mut engine, &packets, PACKETS);
                over = format!("{:.2}", (on_processor() - since) as f64 / 1e3 / PACKETS as f64);
                kpps = format!("{:.0}", PACKETS as f64 / wall.elapsed().as_secs_f64() / 1e3);
            }
            println!("{name:28} {bytes:>6} {own:>10.2} {over:>12} {kpps:>10}");
        }
    }
}
