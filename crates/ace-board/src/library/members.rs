// SPDX-License-Identifier: Apache-2.0
//! Configurations that are stored over one another: what makes each of the others of its domain.

use ace_library::domain::delta;
use ace_library::{Image, ImageError, Library};
use serde::Serialize;

use super::board_image::configurations;
use super::manifest::manifest;
use crate::BoardConfig;
use crate::config::{Port, PortKind};

/// A skeleton that others are stored over, or one of these. Times are modelled: of the port and of the loader in front
/// of it at the clock of `board.toml` as committed, whichever takes longer.
#[derive(Serialize)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it is stored over; nothing for the skeleton itself.
    pub skeleton: Option<String>,
    /// In which it differs from the skeleton.
    pub frames_changed: usize,
    /// In which it differs from the skeleton.
    pub bits: u64,
    /// Whose contents differ.
    pub block_rams: usize,
    /// Those that are written over the others.
    pub frames: usize,
    /// Of the stream of these frames and their runs.
    pub stored_bytes: usize,
    /// Those of the domain that become it by these frames.
    pub partial_over: Vec<String>,
    /// Those over which it is loaded whole.
    pub whole_over: Vec<String>,
    /// Of these frames; nothing if they are written over none.
    pub partial: Option<Load>,
    /// Of all frames that are used.
    pub whole: Load,
    /// Its clock.
    pub fmax_mhz: Option<f64>,
    /// Clock lost because what variants differ in has to be in few frames: against the skeleton placed without that.
    pub fmax_cost_percent: Option<f64>,
}

/// What a load takes.
#[derive(Serialize)]
pub struct Load {
    /// Given to the configuration port.
    pub port_bytes: usize,
    /// Of the loader, if nothing makes it wait.
    pub loader_clocks: u64,
    /// By slave SPI at 60 MHz.
    pub spi_ms: f64,
    /// By the port of `board.toml`.
    pub parallel_ms: f64,
}

impl Load {
    /// Modelled: port and loader work at once, and the slower one counts.
    pub fn of(port_bytes: usize, loader_clocks: u64) -> Self {
        let ms = |configuration_port| {
            let board = BoardConfig { configuration_port, ..BoardConfig::default() };
            board.loading(port_bytes as u64, loader_clocks) as f64 / 1e9
        };
        let spi = Port { kind: PortKind::Spi, width: 1, clock_mhz: 60.0, ..Port::default() };
        Self { port_bytes, loader_clocks, spi_ms: ms(spi), parallel_ms: ms(Port::default()) }
    }
}

/// All of a library, every skeleton in front of what is stored over it.
pub fn members(library: &Library) -> Result<Vec<Member>, ImageError> {
    let mut members = Vec::new();
    for skeleton in configurations(library).filter(|image| image.base().is_none()) {
        let of_skeleton = domain(library, skeleton.name())?;
        if of_skeleton.len() > 1 {
            members.extend(of_skeleton);
        }
    }
    Ok(members)
}

/// A skeleton and what is stored over it.
pub fn domain(library: &Library, skeleton: &str) -> Result<Vec<Member>, ImageError> {
    let above = library.images().iter().filter(|image| image.base() == Some(skeleton));
    let domain: Vec<&Image> = [library.get(skeleton)?].into_iter().chain(above).collect();
    domain.iter().map(|image| member(library, &domain, image)).collect()
}

fn member(library: &Library, domain: &[&Image], image: &Image) -> Result<Member, ImageError> {
    let name = image.name();
    let skeleton = domain.first().map_or(name, |skeleton| skeleton.name());
    let (from, to) = (library.memory(skeleton)?, library.memory(name)?);
    let delta = delta(library.tables(), &from, &to).unwrap_or_default();
    let (mut partial_over, mut whole_over, mut partial) = (Vec::new(), Vec::new(), None);
    for other in domain.iter().map(|other| other.name()).filter(|other| *other != name) {
        match library.partial(other, name)? {
            Some(load) => {
                partial_over.push(other.to_owned());
                partial = Some(Load::of(load.bitstream.len(), load.loader_clocks));
            }
            None => whole_over.push(other.to_owned()),
        }
    }
    let whole = library.whole(name)?;
    let pinned = manifest(library.get(skeleton)?);
    let clocks = pinned["fmax_mhz"].as_f64().zip(pinned["unpinned_fmax_mhz"].as_f64());
    Ok(Member {
        name: name.to_owned(),
        skeleton: image.base().map(str::to_owned),
        frames_changed: delta.frames.len(),
        bits: delta.bits,
        block_rams: delta.blocks,
        frames: image.run_frames(),
        stored_bytes: image.stored_run_bytes(),
        partial_over,
        whole_over,
        partial,
        whole: Load::of(whole.bitstream.len(), whole.loader_clocks),
        fmax_mhz: manifest(image)["fmax_mhz"].as_f64(),
        fmax_cost_percent: clocks.map(|(pinned, free)| 100.0 * (1.0 - pinned / free)),
    })
}
