// SPDX-License-Identifier: Apache-2.0
//! What keeps packets from leaving in clear is put back, where the gateway may do that; else it ends, behind the routes
//! that let nothing pass.

use std::os::unix::net::UnixStream;

use ace_config::gateway::GatewayConfig;
use tracing::warn;

use super::{Daemon, GatewayError};
use crate::firewall::{self, Firewall};
use crate::io::broken::Broken;
use crate::io::setup;

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
    Ok(setup::release(&config.inside, config.outside.mark)?)
}

/// An empty table for a gateway's rules.
pub(super) fn wall(
    config: &GatewayConfig,
    device: u32,
    port: Option<u16>,
) -> Result<Option<Firewall>, GatewayError> {
    if !config.outside.firewall {
        return Ok(None);
    }
    let table = firewall::name(&config.inside.tun);
    let (interfaces, routes) = (config.inside.interfaces.clone(), config.inside.routes.clone());
    let setup = firewall::Setup { table, device, interfaces, routes, port };
    Firewall::start(setup, config.user.as_deref()).map(Some).map_err(GatewayError::Firewall)
}

impl Daemon {
    /// Takes what the kernel says of links and routes.
    pub(super) fn look(&mut self) -> Result<(), GatewayError> {
        match self.guard.changed().map_err(netlink)? {
            true => self.guard(),
            false => Ok(()),
        }
    }

    /// Gives the firewall the rules of the beginning. With XFRM alone there are none yet: those that an earlier gateway has
    /// left hold until whoever negotiates installs policies again.
    pub(super) fn enforce_first(&mut self) -> Result<(), GatewayError> {
        let Some(firewall) = &mut self.firewall else { return Ok(()) };
        let changes = self.front.rule_changes();
        let given = match self.config.sas {
            Some(_) => firewall.begin(changes),
            None => firewall.edit(changes),
        };
        given.and_then(|()| firewall.wait()).map_err(GatewayError::Firewall)
    }

    /// Gives the firewall the rules that came, changed or went.
    pub(super) fn enforce(&mut self) -> Result<(), GatewayError> {
        let Some(firewall) = &mut self.firewall else { return Ok(()) };
        firewall.edit(self.front.rule_changes()).map_err(GatewayError::Unwalled)
    }

    /// Takes what the firewall says.
    pub(super) fn hear(&mut self) -> Result<(), GatewayError> {
        let Some(firewall) = &mut self.firewall else { return Ok(()) };
        if firewall.news().map_err(GatewayError::Unwalled)?.put_back {
            warn!("put back the table that keeps clear packets out, which somebody took away or changed");
        }
        Ok(())
    }

    /// Looks whether all stands, and puts back what is missing.
    pub(super) fn guard(&self) -> Result<(), GatewayError> {
        let missing = self.guard.missing().map_err(netlink)?;
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join(", ");
        let why = match self.guard.has_device().map_err(netlink)? {
            false => "a device that is deleted does not come back by itself".to_owned(),
            true => match setup::configure(&self.config.inside, self.config.outside.mark) {
                Ok(()) if self.guard.missing().map_err(netlink)?.is_empty() => {
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

fn netlink(why: std::io::Error) -> GatewayError {
    Broken::socket("the netlink socket", why).into()
}
