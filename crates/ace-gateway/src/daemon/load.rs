// SPDX-License-Identifier: Apache-2.0
//! The SA file, taken at the beginning and again.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ace_config::gateway::GatewayConfig;
use ace_config::{SaFile, read_wiped_from};
use tracing::{info, warn};
use zeroize::Zeroizing;

use super::GatewayError;
use crate::core::{CoreError, Reloaded};

/// Takes the SA file, at the beginning and again.
pub fn load(
    config: &GatewayConfig,
    load: impl FnOnce(&SaFile) -> Result<Reloaded, CoreError>,
) -> Result<(), GatewayError> {
    let Some(path) = &config.sas else { return Ok(()) };
    let text = read_keys(path, config.open_keys)?;
    let file = SaFile::parse(&path.display().to_string(), &text)?;
    file.warnings().iter().for_each(|warning| warn!("{warning}"));
    circles(config, &file)?;
    let done = load(&file).map_err(|why| GatewayError::Sas { path: path.clone(), why })?;
    let Reloaded { added, removed, kept, edited } = done;
    info!(file = %path.display(), added, removed, kept, edited, "SAs taken");
    Ok(())
}

/// Of the user alone, or to be read by a group as well: others have no business with keys. The file that is looked at is
/// the one that is read.
fn read_keys(path: &Path, open_keys: bool) -> Result<Zeroizing<String>, GatewayError> {
    let read = |why| GatewayError::Read { path: path.to_owned(), why };
    let mut file = File::open(path).map_err(read)?;
    if let Some(mode) = open_mode(&file.metadata().map_err(read)?) {
        if !open_keys {
            return Err(GatewayError::OpenKeys { path: path.to_owned(), mode });
        }
        warn!(file = %path.display(), mode = format!("{mode:03o}"), "others may read or write these keys");
    }
    read_wiped_from(&mut file).map_err(read)
}

/// The permissions of a file that others may read, or that others or its group may write.
pub fn open_mode(about: &Metadata) -> Option<u32> {
    let mode = about.mode() & 0o777;
    (mode & 0o027 != 0).then_some(mode)
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn keys_that_others_may_read_or_write_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sas.toml");
        for mode in 0..0o1000 {
            // Root may read all of them; nobody else reads what it must not.
            let mode = mode | 0o400;
            fs::write(&path, "keys").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let (found, anyway) = (read_keys(&path, false), read_keys(&path, true));
            fs::remove_file(&path).unwrap();
            assert_eq!(*anyway.unwrap(), "keys");
            let private = mode & 0o007 == 0 && mode & 0o020 == 0;
            match found {
                Ok(_) => assert!(private, "{mode:o}"),
                Err(error @ GatewayError::OpenKeys { .. }) => {
                    let words = error.to_string();
                    assert!(!private && words.contains(&format!("mode {mode:03o}")), "{words}");
                    assert!(words.contains(&format!("chmod o=,g-w {}", path.display())), "{words}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}
