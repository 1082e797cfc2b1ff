// SPDX-License-Identifier: Apache-2.0
//! What the loader in hardware (rtl/loader) is told to do: lists of steps in the memory that it reads.
//!
//! A list makes the loader write to the configuration port, byte for byte, what [`ace_ecp5::Emit`] writes: a whole
//! image, or what of it is not blank ([`Memory::whole`]), a few runs of frames over what the device holds
//! ([`Memory::partial`]), or a skeleton and over it the frames in which a variant differs ([`Memory::merged`]).
//! docs/library-format.md has the steps as a table.
//! [`Memory::clocks`] says how long it takes.

mod clocks;
mod list;
mod memory;
mod pipeline;
mod place;
mod step;

pub use memory::Memory;
pub use place::{ADDRESS_BITS, Block, Delta, LoadError, Place, Registers, Run, Whole};
pub use step::{STEP_BYTES, Step};
