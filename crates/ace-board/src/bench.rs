// SPDX-License-Identifier: Apache-2.0
//! How fast a slot is simulated. Wall time, the only place where it is measured.

use std::time::{Duration, Instant};

use serde::Serialize;
use thiserror::Error;

use crate::board::{ModelSource, Models, SharedObjects};
use crate::catalogue::Catalogue;
use crate::frame::{self, KeySection};
use crate::manifest::Configuration;
use crate::model::{Frame, Options};
use crate::pass::Task;

/// Why there is no measurement.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{configuration}: {reason}")]
pub struct SpeedError {
    /// The configuration that was to be measured.
    pub configuration: String,
    /// What went wrong with it.
    pub reason: String,
}

/// A measurement of one slot's simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Speed {
    /// The configuration's name.
    pub configuration: String,
    /// `aes-128-cbc encrypt`.
    pub operation: String,
    /// Bytes of data per frame.
    pub frame_bytes: usize,
    /// Frames that were answered.
    pub frames: u64,
    /// Clocks simulated.
    pub clocks: u64,
    /// Wall time.
    pub seconds: f64,
    /// Data bytes over wall time, 10^6 bytes a second.
    pub mb_per_second: f64,
    /// Clocks simulated a second of wall time.
    pub clocks_per_second: f64,
    /// What the slot itself would reach: data bits over clocks at the configuration's clock, 10^6 bits a second of
    /// modelled time.
    pub modelled_mbps: f64,
}

/// Runs frames of `task` back to back on the model of `configuration` for about `time`.
///
/// # Errors
/// A task that is illegal or that the slot refuses, or a model that cannot be used.
pub fn slot_speed(
    configuration: &Configuration,
    task: &Task,
    models: Models,
    time: Duration,
) -> Result<Speed, SpeedError> {
    let name = &configuration.name;
    let failed = |reason: String| SpeedError { configuration: name.clone(), reason };
    task.operation().map_err(|e| failed(e.to_string()))?;
    let mut model = SharedObjects.open(configuration, models).map_err(|e| failed(e.to_string()))?;
    let key = task.pass.key().map_or(KeySection::Kept, |key| KeySection::Fresh(key.as_bytes()));
    let capacity = frame::padded(frame::result_len(task)) + frame::BEAT;
    let frame = |key: KeySection<'_>| Frame::new(frame::request(task, key, 0).to_vec(), capacity);
    let mut frames = vec![frame(key)];
    model.run(&mut frames, &Options::default()).map_err(|e| failed(e.to_string()))?;
    let expected = frames[0].response.clone();
    let answer = frame::response(&expected).map_err(|e| failed(e.to_string()))?;
    if answer.status != frame::Status::Ok {
        return Err(failed(answer.status.to_string()));
    }
    // As many frames to a call as make about 64 KiB.
    let batch = (65_536 / task.data.len().max(64)).max(1);
    let mut frames = vec![frame(KeySection::Kept); batch];
    let (before, start) = (model.clocks(), Instant::now());
    let mut count = 0;
    while count == 0 || start.elapsed() < time {
        model.run(&mut frames, &Options::default()).map_err(|e| failed(e.to_string()))?;
        count += batch as u64;
    }
    let seconds = start.elapsed().as_secs_f64().max(1e-9);
    if frames.iter().any(|f| f.response != expected) {
        return Err(failed("an answer that differs from the first one".into()));
    }
    let clocks = model.clocks() - before;
    let bytes = task.data.len() as f64 * count as f64;
    Ok(Speed {
        configuration: name.clone(),
        operation: task.pass.need().to_string(),
        frame_bytes: task.data.len(),
        frames: count,
        clocks,
        seconds,
        mb_per_second: bytes / seconds / 1e6,
        clocks_per_second: clocks as f64 / seconds,
        modelled_mbps: bytes * 8.0 * configuration.clock_hz as f64 / clocks.max(1) as f64 / 1e6,
    })
}

/// As [`slot_speed`] on the configuration that a board for `device` would choose.
///
/// # Errors
/// As [`slot_speed`]; also when no configuration serves.
pub fn speed(
    catalogue: &Catalogue,
    device: &str,
    task: &Task,
    models: Models,
    time: Duration,
) -> Result<Speed, SpeedError> {
    let need = task.pass.need();
    match catalogue.candidates(&need, device).first() {
        Some(at) => slot_speed(&catalogue.configurations[*at], task, models, time),
        None => Err(SpeedError {
            configuration: format!("no configuration for {need}"),
            reason: catalogue.why_none(&need, device),
        }),
    }
}
