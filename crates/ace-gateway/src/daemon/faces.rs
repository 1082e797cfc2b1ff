// SPDX-License-Identifier: Apache-2.0
//! Devices inside are opened, each in its network namespace, with its routes and who guards them.

use std::io;
use std::path::PathBuf;

use ace_config::gateway::{Device, GatewayConfig};
use tracing::info;

use super::error::GatewayError;
use super::worker::Face;
use crate::io::guard::Guard;
use crate::io::netns::within;
use crate::io::setup::{self, SetupError};
use crate::io::tun::Tun;

/// All of them.
pub struct Faces {
    /// For each core a queue of each device.
    pub of_cores: Vec<Vec<Face>>,
    /// In the order of the devices.
    pub guards: Vec<Guard>,
    /// The kernel's numbers of those that are where the gateway is.
    pub indices: Vec<u32>,
}

impl Faces {
    /// For so many cores.
    ///
    /// # Errors
    /// As the system says.
    pub fn open(config: &GatewayConfig, cores: usize) -> Result<Self, GatewayError> {
        let of_cores = (0..cores).map(|_| Vec::new()).collect();
        let mut all = Self { of_cores, guards: Vec::new(), indices: Vec::new() };
        for device in config.devices() {
            let netns = device.netns.map(PathBuf::as_path);
            let there = within(netns, || one(device, cores));
            let (queues, index, guard) = there.map_err(|why| no_netns(device, why))??;
            let inside = device.inside;
            if let Some(first) = queues.first() {
                let (tun, offload, count) = (&inside.tun, first.offload(), queues.len());
                info!(tun, if_id = device.if_id, offload, queues = count, "the inside is open");
            }
            let clamp = inside.clamp_mss.then_some(inside.mtu);
            let faces = queues.into_iter().map(|tun| Face { if_id: device.if_id, tun, clamp });
            all.of_cores.iter_mut().zip(faces).for_each(|(core, face)| core.push(face));
            all.indices.extend(device.netns.is_none().then_some(index));
            all.guards.push(guard);
        }
        Ok(all)
    }
}

fn one(
    Device { inside, table, .. }: Device<'_>,
    cores: usize,
) -> Result<(Vec<Tun>, u32, Guard), GatewayError> {
    let open = |what: String, remedy| move |why| GatewayError::Open { what, why, remedy };
    let remedy = "; this needs CAP_NET_ADMIN and /dev/net/tun, and one process alone has a device";
    let queues = match cores {
        1 => Tun::open(inside).map(|one| vec![one]),
        _ => Tun::open_queues(inside, cores),
    };
    let queues = queues.map_err(open(format!("the TUN device {}", inside.tun), remedy))?;
    setup::configure(inside, table)?;
    let first = queues.first().ok_or_else(|| io::ErrorKind::NotFound.into());
    let guarded = first.and_then(|first| Ok((first.index()?, Guard::open(inside, first, table)?)));
    let (index, guard) = guarded.map_err(open("a netlink socket".to_owned(), ""))?;
    Ok((queues, index, guard))
}

/// Of a device whose namespace is not to be had.
pub fn no_netns(device: Device<'_>, why: io::Error) -> SetupError {
    SetupError::Netns(device.netns.cloned().unwrap_or_default(), why)
}
