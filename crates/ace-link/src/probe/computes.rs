// SPDX-License-Identifier: Apache-2.0
//! Whether a board computes, and how fast.

use std::time::Instant;

use ace_board::array::Loadable;
use ace_board::capability::Capability;
use ace_board::frame;
use ace_engine::engine::run_all;
use ace_engine::kat::{self, Check, KnownAnswers, RowMode, Subject};
use ace_engine::{Action, Completion, Direction, Engine, EngineError, Job, Key, Mode, Need, Operation};
use thiserror::Error;

use super::{Answers, ProbeError, SetRate, Wanted};
use crate::wire::{self, BEAT};
use crate::{LinkEngine, Wire};

include!(concat!(env!("OUT_DIR"), "/known.rs"));

/// Preamble, FCS and the gap behind an Ethernet frame, in bytes.
const AROUND: usize = 8 + 4 + 12;

/// Why a set has no rate.
#[derive(Debug, Error)]
enum NoRate {
    #[error("no operation is known for it")]
    Operation,
    #[error("this processor does not compute it: {0}")]
    Processor(EngineError),
    #[error("{0}")]
    Engine(String),
    #[error("an answer is not that of this processor")]
    Wrong,
}

pub struct Computed {
    pub rates: Vec<SetRate>,
    pub answers: Vec<Answers>,
    pub resent: u64,
}

pub fn all<W: Wire>(
    wire: &mut W,
    interface: &str,
    sets: Vec<Loadable>,
    khz: u32,
    wanted: Wanted,
    tell: &mut dyn FnMut(&str),
) -> Result<Computed, ProbeError> {
    // Each set's rate is of an engine that has no other one: of two for the same frames both are measured.
    let rates: Vec<(String, Need, Option<f64>)> = sets
        .iter()
        .filter_map(|set| Some((set.name().to_owned(), typical(set.can())?, set.rate(khz))))
        .map(|(name, need, rate)| Ok((name, need, Some(rate?))))
        .collect::<Result<_, ProbeError>>()?;
    let mut engine = LinkEngine::open(&mut *wire, interface, sets)?;
    // What slots compute by themselves goes first, as sets take its place then.
    let slots: Vec<_> =
        engine.fixed().filter_map(|(name, can)| Some((name.to_owned(), typical(can)?, None))).collect();
    let arrays = engine.identity().arrays != 0;
    let rates = slots.into_iter().chain(rates.into_iter().filter(|_| arrays));
    let mut answers = Vec::new();
    for (subject, file) in KNOWN.iter().filter(|_| wanted.answers) {
        let Some(known) = known(subject, file, &engine) else { continue };
        tell(&format!("known answers of {subject}"));
        let report = kat::run(&known, &mut engine);
        let (passed, skipped) = (report.passed, report.skipped.len());
        answers.push(Answers { subject: (*subject).to_owned(), passed, skipped, failed: report.failed });
    }
    let mut measured = Vec::new();
    for (name, need, slot_mbps) in rates.filter(|_| wanted.packets > 0) {
        tell(&format!("the rate of {name}"));
        engine.only(&name);
        let (mbps, error) = match rate(&mut engine, need, wanted) {
            Ok(mbps) => (Some(mbps), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let (operation, cable_mbps) = (need.to_string(), cable(wanted.bytes));
        measured.push(SetRate { name, operation, mbps, slot_mbps, cable_mbps, error });
    }
    Ok(Computed { rates: measured, answers, resent: engine.counts().resent })
}

/// The known answers of a file that an engine can be asked for, but for chains of thousands.
fn known<W: Wire>(subject: &str, file: &[u8], engine: &LinkEngine<W>) -> Option<KnownAnswers> {
    let subject = Subject::by_name(subject)?;
    let mut known = KnownAnswers::parse(subject, "known answers".as_ref(), file).ok()?;
    known.rows.retain(|row| match &row.check {
        Check::Cipher { mode, .. } => matches!(mode, RowMode::Plain(_)),
        Check::Digest { unit, count, .. } => unit.len().saturating_mul(*count) < 4096,
        Check::Aead { .. } => true,
    });
    let can = |need: &Need| engine.capabilities().can(need);
    let asked = Need::all().into_iter().filter(|need| of(&known.subject, need)).any(|need| can(&need));
    (asked && !known.rows.is_empty()).then_some(known)
}

/// Whether a need is one of a subject's rows.
fn of(subject: &Subject, need: &Need) -> bool {
    match (subject, need) {
        (Subject::Cipher(own), Need::Cipher { algorithm, .. }) => algorithm.name == own.name,
        (Subject::Hash(own), Need::Hash { algorithm }) => algorithm.name == own.name,
        (Subject::Aead(own), Need::Aead { aead, .. }) => own == aead,
        (Subject::Mac(mac, _), need) => match (mac, need) {
            (ace_engine::Mac::Hmac(own), Need::Hmac { algorithm }) => algorithm.name == own.name,
            (ace_engine::Mac::Xcbc, Need::Xcbc) | (ace_engine::Mac::Cmac, Need::Cmac { .. }) => true,
            _ => false,
        },
        _ => false,
    }
}

/// What is asked of what can do this, when its rate is measured: CBC of a cipher, HMAC of a hash.
fn typical(can: &[Capability]) -> Option<Need> {
    let wanted = |need: &Need| match need {
        Need::Cipher { mode, .. } => *mode == Mode::Cbc,
        Need::Hmac { .. } | Need::Aead { .. } => true,
        _ => false,
    };
    Need::all().into_iter().filter(wanted).find(|need| can.iter().any(|can| can.serves(need)))
}

/// Mb/s that a cable of 1 Gb/s carries of data in frames of so many bytes.
fn cable(bytes: usize) -> f64 {
    let frame = frame::HEADER + frame::HEADER + frame::padded(bytes) + BEAT;
    let wire = frame + wire::segments(frame) * (wire::HEADER + AROUND);
    1000.0 * bytes as f64 / wire as f64
}

/// An operation over so many bytes.
fn operation(need: Need, bytes: usize) -> Option<Operation> {
    let key = |len: usize| (0..len).map(|at| 0x40 + at as u8).collect::<Vec<u8>>();
    let bytes = bytes / 16 * 16;
    Some(match need {
        Need::Cipher { algorithm, mode, direction, key_len } => {
            let key = Key::cipher(algorithm, mode, &key(key_len)).ok()?;
            let iv = vec![7; key.iv_len()];
            Operation::cipher(key, direction, &iv, &vec![3; bytes]).ok()?
        }
        Need::Hmac { algorithm } => {
            let key = Key::mac(ace_engine::Mac::Hmac(algorithm), &key(20)).ok()?;
            Operation::mac(key, &vec![3; bytes], 12)
        }
        Need::Aead { aead, direction: Direction::Encrypt, key_len } => {
            let key = Key::aead(aead, &key(key_len)).ok()?;
            Operation::aead(key, &[1; frame::AEAD_NONCE], &[2; 8], &vec![3; bytes], 16)
        }
        // A text that is authentic is one that was encrypted.
        Need::Aead { aead, direction: Direction::Decrypt, key_len } => {
            let sealed = operation(Need::Aead { aead, direction: Direction::Encrypt, key_len }, bytes)?;
            let Action::Aead { key, text, tag, .. } = sealed.action.clone() else { return None };
            let sealed = ace_engine::compute::run(sealed).ok()?;
            let (text, tag) = (sealed.get(text.range())?, sealed.get(tag.range())?);
            Operation::check_aead(key, &[1; frame::AEAD_NONCE], &[2; 8], text, tag)
        }
        _ => return None,
    })
}

/// Mb/s of data, from the first packet that is handed over to the last one that is back; each has to be right.
fn rate<W: Wire>(engine: &mut LinkEngine<W>, need: Need, wanted: Wanted) -> Result<f64, NoRate> {
    let operation = operation(need, wanted.bytes).ok_or(NoRate::Operation)?;
    let right = ace_engine::compute::run(operation.clone()).map_err(NoRate::Processor)?;
    let job = |id: u64| Job { id, flow: 0, packet: id, operation: operation.clone() };
    // The set and the key are there when it begins.
    let check = |engine: &LinkEngine<W>, done: Vec<Completion>| {
        for Completion { buffer, result, .. } in done {
            result.map_err(|error| NoRate::Engine(engine.explain(&error)))?;
            if buffer != right {
                return Err(NoRate::Wrong);
            }
        }
        Ok(())
    };
    let first = run_all(engine, vec![job(0)]);
    check(engine, first)?;
    let jobs: Vec<Job> = (0..wanted.packets as u64).map(job).collect();
    let since = Instant::now();
    let done = run_all(engine, jobs);
    let took = since.elapsed();
    check(engine, done)?;
    Ok(8.0 * (wanted.packets * wanted.bytes) as f64 / took.as_secs_f64() / 1e6)
}
