// SPDX-License-Identifier: Apache-2.0
//! What keeps packets from leaving in clear is put back, where the gateway may do that; else it ends, behind the routes
//! that let nothing pass.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use ace_config::gateway::{Device, GatewayConfig};
use tracing::{info, warn};

use super::faces::no_netns;
use super::{Daemon, GatewayError};
use crate::firewall::{self, Firewall};
use crate::io::broken::Broken;
use crate::io::netns::within;
use crate::io::setup::{self, SetupError};

/// Takes away what a gateway leaves behind: device, routes and rules. What was routed into it leaves as the kernel has it
/// from then on.
///
/// # Errors
/// A gateway that runs, or what the system says.
pub fn release(config: &GatewayConfig) -> Result<(), GatewayError> {
    if UnixStream::connect(&config.control).is_ok() {
        return Err(GatewayError::Runs(config.control.clone()));
    }
    if config.outside.firewall {
        firewall::release(&config.inside.tun).map_err(GatewayError::Firewall)?;
    }
    for device in config.devices() {
        // What was in a namespace that is gone went with it.
        if device.netns.is_none_or(|netns| netns.exists()) {
            let netns = device.netns.map(PathBuf::as_path);
            let done = within(netns, || setup::release(device.inside, device.table));
            done.map_err(|why| no_netns(device, why))??;
        }
    }
    Ok(())
}

/// An empty table for a gateway's rules.
pub(super) fn wall(
    config: &GatewayConfig,
    devices: Vec<u32>,
    port: Option<u16>,
) -> Result<Option<Firewall>, GatewayError> {
    if !config.outside.firewall {
        return Ok(None);
    }
    let table = firewall::name(&config.inside.tun);
    let interfaces = config.inside.interfaces.clone();
    // Others may have the nets of a device that is apart.
    let here = config.devices().filter(|device| !device.is_apart());
    let routes = here.flat_map(|device| device.inside.routes.iter().copied()).collect();
    let setup = firewall::Setup { table, devices, interfaces, routes, port };
    Firewall::start(setup, config.user.as_deref()).map(Some).map_err(GatewayError::Firewall)
}

impl Daemon {
    /// Takes what the kernel says of links and routes.
    pub(super) fn look(&mut self) -> Result<(), GatewayError> {
        for (number, guard) in self.guards.iter_mut().enumerate() {
            if guard.changed().map_err(netlink)? {
                self.due.push(number);
            }
        }
        for number in std::mem::take(&mut self.due) {
            self.guard(number)?;
        }
        Ok(())
    }

    /// Looks whether all stands of every device inside.
    pub(super) fn guard_all(&self) -> Result<(), GatewayError> {
        (0..self.guards.len()).try_for_each(|number| self.guard(number))
    }

    /// Gives the firewall the rules of the beginning. With XFRM those that an earlier gateway has left hold besides, until
    /// whoever negotiates installs policies again.
    pub(super) fn enforce_first(&mut self) -> Result<(), GatewayError> {
        let Some(firewall) = &mut self.firewall else { return Ok(()) };
        let changes = self.front.rule_changes();
        let given = match self.config.xfrm {
            None => firewall.begin(changes),
            Some(_) => firewall.edit(changes, false),
        };
        given.and_then(|()| firewall.wait()).map_err(GatewayError::Firewall)
    }

    /// Gives the firewall the rules that came, changed or went.
    pub(super) fn enforce(&mut self) -> Result<(), GatewayError> {
        let Some(firewall) = &mut self.firewall else { return Ok(()) };
        let (changes, policies) = (self.front.rule_changes(), self.front.has_policies());
        firewall.edit(changes, policies).map_err(GatewayError::Unwalled)
    }

    /// Takes what the firewall says.
    pub(super) fn hear(&mut self) -> Result<(), GatewayError> {
        let Some(firewall) = &mut self.firewall else { return Ok(()) };
        if firewall.news().map_err(GatewayError::Unwalled)?.put_back {
            warn!("put back the table that keeps clear packets out, which somebody took away or changed");
        }
        Ok(())
    }

    /// Looks whether all of a device inside stands, and puts back what is missing.
    fn guard(&self, number: usize) -> Result<(), GatewayError> {
        let (Some(guard), Some(device)) = (self.guards.get(number), self.config.devices().nth(number)) else {
            return Ok(());
        };
        let (inside, moved) = (device.inside, guard.has_moved());
        let missing = guard.missing().map_err(netlink)?;
        if !moved && guard.has_moved() {
            let tun = inside.tun.as_str();
            info!(
                tun,
                "somebody moved the device to another network namespace: it works there, and its addresses and routes are his"
            );
        }
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join(", ");
        let why = match guard.has_device().map_err(netlink)? {
            false => "a device that is deleted does not come back by itself".to_owned(),
            true => match put_back(device, guard.has_moved()) {
                Ok(()) if guard.missing().map_err(netlink)?.is_empty() => {
                    warn!(%missing, "put back what somebody took away, so that nothing leaves in clear");
                    return Ok(());
                }
                Ok(()) => "it was put back and is missing again".to_owned(),
                Err(why) => why.to_string(),
            },
        };
        Err(GatewayError::Unguarded { missing, why })
    }
}

/// All that is a device's, or what is left of it where the device is elsewhere.
fn put_back(device: Device<'_>, moved: bool) -> Result<(), SetupError> {
    let put = || match moved {
        true => setup::keep_out(device.inside, device.table),
        false => setup::configure(device.inside, device.table),
    };
    within(device.netns.map(PathBuf::as_path), put).map_err(|why| no_netns(device, why))?
}

fn netlink(why: std::io::Error) -> GatewayError {
    Broken::socket("the netlink socket", why).into()
}
