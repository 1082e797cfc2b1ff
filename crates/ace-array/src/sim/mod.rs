// SPDX-License-Identifier: Apache-2.0
//! A tile clock by clock, what a host does with it, and its traces for the RTL.

pub mod aead;
pub mod host;
mod lines;
pub mod tile;
pub mod trace;
