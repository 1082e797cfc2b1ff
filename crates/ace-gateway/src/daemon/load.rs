// SPDX-License-Identifier: Apache-2.0
//! The SA file, taken at the beginning and again.

use ace_config::gateway::GatewayConfig;
use ace_config::{SaFile, read_wiped};
use tracing::{info, warn};

use super::GatewayError;
use crate::core::{CoreError, Reloaded};

/// Takes the SA file, at the beginning and again.
pub fn load(
    config: &GatewayConfig,
    load: impl FnOnce(&SaFile) -> Result<Reloaded, CoreError>,
) -> Result<(), GatewayError> {
    let Some(path) = &config.sas else { return Ok(()) };
    let text = read_wiped(path).map_err(|why| GatewayError::Read { path: path.clone(), why })?;
    let file = SaFile::parse(&path.display().to_string(), &text)?;
    file.warnings().iter().for_each(|warning| warn!("{warning}"));
    circles(config, &file)?;
    let done = load(&file).map_err(|why| GatewayError::Sas { path: path.clone(), why })?;
    let Reloaded { added, removed, kept, edited } = done;
    info!(file = %path.display(), added, removed, kept, edited, "SAs taken");
    Ok(())
}

/// The gateway's own packets must not be routed into it.
fn circles(config: &GatewayConfig, file: &SaFile) -> Result<(), GatewayError> {
    // What carries the mark does not see these routes.
    if config.outside.mark.is_some() {
        return Ok(());
    }
    let endpoints = config.peers.iter().map(|peer| peer.endpoint.ip());
    let unnamed = file.sas().iter().map(|sa| sa.remote);
    let unnamed = unnamed.filter(|remote| config.peers.iter().all(|peer| peer.address != *remote));
    for end in endpoints.chain(unnamed) {
        if let Some(route) = config.inside.routes.iter().find(|route| route.contains(&end)) {
            return Err(GatewayError::Circle { route: route.to_string(), end });
        }
    }
    Ok(())
}
