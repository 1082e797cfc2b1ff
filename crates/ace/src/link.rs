// SPDX-License-Identifier: Apache-2.0
//! A board behind a network interface.

use ace_board::array::Loadable;
use ace_engine::Engine;
use anyhow::Result;

/// The engine over the link at an interface, with these context sets.
#[cfg(target_os = "linux")]
pub fn engine(interface: &str, sets: Vec<Loadable>) -> Result<Box<dyn Engine>> {
    let socket = ace_link::socket::Socket::open(interface)?;
    Ok(Box::new(ace_link::LinkEngine::open(socket, interface, sets)?))
}

/// Frames of Ethernet are Linux's alone here.
#[cfg(not(target_os = "linux"))]
pub fn engine(interface: &str, _: Vec<Loadable>) -> Result<Box<dyn Engine>> {
    anyhow::bail!("--engine link:{interface}: a board behind a network interface needs Linux")
}
