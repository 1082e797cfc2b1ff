// SPDX-License-Identifier: Apache-2.0
//! What keeps packets from leaving in clear is put back, where the gateway may do that; else it ends, behind the routes
//! that let nothing pass.

use std::os::unix::net::UnixStream;

use ace_config::gateway::GatewayConfig;
use tracing::warn;

use super::{Daemon, GatewayError};
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
    Ok(setup::release(&config.inside, config.outside.mark)?)
}

impl Daemon {
    /// Takes what the kernel says of links and routes.
    pub(super) fn look(&mut self) -> Result<(), GatewayError> {
        match self.guard.changed().map_err(netlink)? {
            true => self.guard(),
            false => Ok(()),
        }
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
