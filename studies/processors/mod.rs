// SPDX-License-Identifier: Apache-2.0
//! Processors whose rates are stated: of papers, of tables, and of the machine that was measured.

use ace_engine::profile::Processor;

use crate::error::{Context, Result, bail};

/// A file of this folder, its name and its text.
#[derive(Clone, Copy, Debug)]
pub struct Stated {
    /// Where it is in the repository.
    pub file: &'static str,
    /// TOML.
    pub text: &'static str,
}

/// The VR5500 of the paper of 2006.
pub const VR5500: Stated =
    Stated { file: "studies/processors/vr5500.toml", text: include_str!("vr5500.toml") };
/// A Cortex-A53, by published rates.
pub const CORTEX_A53: Stated =
    Stated { file: "studies/processors/cortex-a53.toml", text: include_str!("cortex-a53.toml") };
/// The machine on which the figures of the documentation were measured.
pub const THIS_MACHINE: Stated =
    Stated { file: "studies/processors/this-machine.toml", text: include_str!("this-machine.toml") };

impl Stated {
    /// Reads it.
    ///
    /// # Errors
    /// It is not what it should be: a fault of this repository.
    pub fn read(self) -> Result<Processor> {
        let processor: Processor = toml::from_str(self.text).context(self.file)?;
        if let Err(why) = processor.check() {
            bail!("{}: {why}", self.file);
        }
        Ok(processor)
    }
}
