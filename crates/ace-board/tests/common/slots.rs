// SPDX-License-Identifier: Apache-2.0
//! Slots that compute in software, and misbehave where a test asks for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ace_board::config::SlotKind;
use ace_board::frame::{self, Header, Status, flag, op};
use ace_board::model::{Frame, ModelError, Options, RunError, SlotModel, Stopped};
use ace_board::pass::{Pass, Task};
use ace_board::{Configuration, ModelSource, Models};
use ace_engine::algorithm::{ALGORITHMS, Algorithm};
use ace_engine::{Aead, Direction, EngineError, Kind, Mode, Secret};

use super::compute;

/// How slots are to misbehave, by configuration: the numbers of the frames (counted from 0 over all slots).
#[derive(Default)]
pub struct Mischief {
    pub silent: Vec<u64>,
    pub status: Vec<u64>,
    pub garbage: Vec<u64>,
    pub frames: BTreeMap<String, u64>,
}

/// Slots in software.
#[derive(Clone, Default)]
pub struct SoftSlots(pub Arc<Mutex<BTreeMap<String, Mischief>>>);

impl ModelSource for SoftSlots {
    fn runs(&self, _: SlotKind) -> bool {
        true
    }

    fn open(&self, configuration: &Configuration, _: Models) -> Result<Box<dyn SlotModel>, ModelError> {
        let codes = configuration.can.iter().map(|c| c.code).collect();
        Ok(Box::new(SoftSlot {
            name: configuration.name.clone(),
            codes,
            key: None,
            clocks: 0,
            in_flight: configuration.in_flight,
            joined: Vec::new(),
            entrance: 0,
            silent: false,
            mischief: Arc::clone(&self.0),
        }))
    }
}

struct SoftSlot {
    name: String,
    codes: Vec<u8>,
    /// What operations it is for, and the key.
    key: Option<(u8, Vec<u8>)>,
    clocks: u64,
    in_flight: usize,
    /// Frames that joined and are not answered, and from when on the next one comes in.
    joined: Vec<(u64, Frame)>,
    entrance: u64,
    silent: bool,
    mischief: Arc<Mutex<BTreeMap<String, Mischief>>>,
}

impl SlotModel for SoftSlot {
    fn run(&mut self, frames: &mut [Frame], _: &Options) -> Result<(), RunError> {
        assert!(frames.len() <= self.in_flight, "more frames than the slot takes");
        let mut end = self.clocks;
        for frame in frames {
            let mischief = Arc::clone(&self.mischief);
            let mut all = mischief.lock().unwrap();
            let mischief = all.entry(self.name.clone()).or_default();
            let count = mischief.frames.entry("all".into()).or_default();
            let number = *count;
            *count += 1;
            if mischief.silent.contains(&number) {
                self.key = None;
                return Err(RunError::Silent);
            }
            if mischief.garbage.contains(&number) {
                frame.response = vec![0xff; 16];
                return Ok(());
            }
            let tag = frame.request[4..6].to_vec();
            let answer = if mischief.status.contains(&number) {
                Err(Status::BadIvLength)
            } else {
                self.answer(&frame.request)
            };
            let (status, result, behind) = match answer {
                Ok((result, behind)) => (Status::Ok, result, behind),
                Err(status) => (status, Vec::new(), 0),
            };
            let len = result.len() as u32;
            let mut response = result[..result.len() - behind].to_vec();
            for more in [&[][..], &result[result.len() - behind..]] {
                response.extend_from_slice(more);
                response.resize(frame::padded(response.len()), 0);
            }
            response.extend_from_slice(&len.to_le_bytes());
            response.extend_from_slice(&tag);
            response.extend_from_slice(&[status as u8, 0]);
            // A clock per beat and eleven per 16 bytes.
            let work = (frame.request.len() / 8 + frame.request.len() / 16 * 11) as u64;
            // All of them overlap; the next one comes when this one is in.
            frame.first_in = self.clocks;
            frame.last_out = self.clocks + work;
            self.clocks += frame.request.len() as u64 / 8;
            end = end.max(frame.last_out + 1);
            assert!(response.len() <= frame.capacity, "no room for the response");
            frame.response = response;
        }
        self.clocks = end;
        Ok(())
    }

    fn join(&mut self, number: u64, mut frame: Frame) -> u64 {
        assert!(self.joined.len() < self.in_flight, "more frames than the slot takes");
        let now = self.clocks;
        self.clocks = now.max(self.entrance);
        self.silent |= self.run(std::slice::from_mut(&mut frame), &Options::default()).is_err();
        if frame.last_out == 0 {
            // What is no answer comes at once.
            (frame.first_in, frame.last_out) = (self.clocks, self.clocks);
        }
        self.entrance = frame.first_in + frame.request.len() as u64 / 8;
        self.clocks = now;
        self.joined.push((number, frame));
        now
    }

    fn go(&mut self, until: u64, max_clocks: u64) -> Result<Option<(u64, Frame)>, Stopped> {
        if self.silent {
            (self.silent, self.joined) = (false, Vec::new());
            return Err(Stopped { error: RunError::Silent, clock: self.clocks + max_clocks });
        }
        let next = (0..self.joined.len()).min_by_key(|at| self.joined[*at].1.last_out);
        match next.filter(|at| self.joined[*at].1.last_out < until) {
            Some(at) => {
                let (number, frame) = self.joined.remove(at);
                self.clocks = self.clocks.max(frame.last_out + 1);
                Ok(Some((number, frame)))
            }
            None => {
                self.clocks = if self.joined.is_empty() { self.clocks } else { self.clocks.max(until) };
                Ok(None)
            }
        }
    }

    fn reset(&mut self) {
        self.key = None;
        self.clocks = 0;
    }

    fn clocks(&self) -> u64 {
        self.clocks
    }
}

impl SoftSlot {
    /// The result, and how many bytes of it are on beats of their own.
    fn answer(&mut self, request: &[u8]) -> Result<(Vec<u8>, usize), Status> {
        let header = Header::from_bytes(request).ok_or(Status::FrameShort)?;
        if !self.codes.contains(&header.algorithm) {
            return Err(Status::UnknownAlgorithm);
        }
        let mut rest = &request[16..];
        let mut section = |len: usize| {
            let (section, tail) = rest.split_at(frame::padded(len));
            rest = tail;
            section[..len].to_vec()
        };
        let key = section(usize::from(header.key_len));
        let iv = section(usize::from(header.iv_len));
        let aead = header.op == op::AEAD;
        let decrypt = header.flags & flag::DECRYPT != 0;
        let aad = section(usize::from(header.aad_len));
        let mut data = section(header.payload_len as usize);
        if aead && decrypt {
            data.extend(section(usize::from(header.result_len)));
        }
        let of = if matches!(header.op, op::HMAC_KEY | op::AEAD) { header.op } else { 0 };
        if header.flags & flag::FRESH_KEY != 0 {
            self.key = Some((of, key));
        }
        let key = match &self.key {
            Some((kind, key)) if *kind == of => key.clone(),
            _ if header.op == op::HASH => Vec::new(),
            _ => return Err(Status::MissingKey),
        };
        let algorithm = |cipher: bool| -> Result<&'static Algorithm, Status> {
            let fits = |a: &&&Algorithm| {
                a.code == header.algorithm
                    && match a.kind {
                        Kind::Cipher { keys, .. } => cipher && keys.contains(&key.len()),
                        Kind::Hash { .. } => !cipher,
                    }
            };
            ALGORITHMS.iter().find(fits).copied().ok_or(Status::BadKeyLength)
        };
        let direction = if decrypt { Direction::Decrypt } else { Direction::Encrypt };
        let cipher = |mode: Mode| -> Result<Pass, Status> {
            let (algorithm, key) = (algorithm(true)?, Secret::new(key.clone()));
            Ok(Pass::Cipher { algorithm, mode, direction, key, iv: iv.clone() })
        };
        let pass = match header.op {
            op::ECB => cipher(Mode::Ecb)?,
            op::CBC => cipher(Mode::Cbc)?,
            op::CTR => cipher(Mode::Ctr)?,
            op::CFB => cipher(Mode::Cfb)?,
            op::CFB8 => cipher(Mode::Cfb8)?,
            op::OFB => cipher(Mode::Ofb)?,
            op::AEAD => Pass::Aead {
                aead: Aead::Gcm,
                algorithm: algorithm(true)?,
                direction,
                key: Secret::new(key.clone()),
                nonce: iv.clone(),
                aad,
                tag_len: usize::from(header.result_len),
            },
            op::HASH => Pass::Hash { algorithm: algorithm(false)? },
            op::HMAC_KEY => Pass::Hmac {
                algorithm: algorithm(false)?,
                key: Secret::new(key.clone()),
                output_len: usize::from(header.result_len),
            },
            _ => return Err(Status::UnknownOperation),
        };
        let task = Task { pass, data };
        let behind = frame::behind(&task);
        compute(task).map(|result| (result, behind)).map_err(|error| match error {
            EngineError::Mismatch => Status::BadTag,
            _ => Status::BadLength,
        })
    }
}
