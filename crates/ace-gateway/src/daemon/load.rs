// SPDX-License-Identifier: Apache-2.0
//! The SA file, taken at the beginning and again. A thread of its own reads, parses and compares; packets wait for what
//! has changed alone.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use ace_config::gateway::GatewayConfig;
use ace_config::read_wiped_from;
use tracing::{info, warn};
use zeroize::Zeroizing;

use super::GatewayError;
use super::reader::Reader;
use crate::core::{Can, CoreError, Divider, Division, Reloaded, Steer, Wanted};

/// What a file wants, ready for the cores.
pub struct Plan {
    pub wanted: Wanted,
    /// Whose SAs are whose.
    pub division: Division,
    /// For each of several cores: whose clear packets are whose.
    pub steers: Vec<Steer>,
}

impl Plan {
    /// For so many cores.
    pub fn new(wanted: Wanted, divider: &mut Divider, cores: usize) -> Result<Self, CoreError> {
        let division = divider.divide(&wanted)?;
        let several = if cores > 1 { 0..cores } else { 0..0 };
        let steers = several.map(|me| Steer::new(&wanted, &division, me)).collect();
        Ok(Self { wanted, division, steers })
    }
}

/// Reads the SA file.
pub struct Loader {
    config: GatewayConfig,
    reader: Reader,
    divider: Divider,
}

impl Loader {
    pub fn new(config: &GatewayConfig) -> Result<Self, GatewayError> {
        let reader = Reader::new().map_err(|why| sas(config, why))?;
        Ok(Self { config: config.clone(), reader, divider: Divider::new(cores(config)) })
    }

    /// `None`: the gateway has no file.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn plan(&mut self) -> Result<Option<Plan>, GatewayError> {
        let config = &self.config;
        let Some(path) = &config.sas else { return Ok(None) };
        let text = read_keys(path, config.open_keys)?;
        let (wanted, warnings) = self.reader.read(&path.display().to_string(), &text)?;
        drop(text);
        warnings.iter().for_each(|warning| warn!("{warning}"));
        let checked = circles(config, &wanted)
            .and_then(|()| wanted.check(&Can::of_config(config)).map_err(|why| sas(config, why)));
        let divided = checked.and_then(|()| {
            Plan::new(wanted, &mut self.divider, cores(config)).map_err(|why| sas(config, why))
        });
        if divided.is_err() {
            self.reader.forget();
        }
        divided.map(Some)
    }

    /// Takes the file at once.
    ///
    /// # Errors
    /// As above, or what cannot be installed.
    pub fn load(
        &mut self,
        load: impl FnOnce(&mut Plan) -> Result<Reloaded, CoreError>,
    ) -> Result<(), GatewayError> {
        let Some(mut plan) = self.plan()? else { return Ok(()) };
        let done = load(&mut plan).map_err(|why| sas(&self.config, why));
        if done.is_err() {
            self.reader.forget();
        }
        tell(&self.config, done?);
        Ok(())
    }
}

/// Whether a gateway could take the SA file as it is now.
///
/// # Errors
/// Whatever is wrong with it.
pub fn check_sas(config: &GatewayConfig) -> Result<(), GatewayError> {
    Loader::new(config)?.plan().map(drop)
}

fn cores(config: &GatewayConfig) -> usize {
    config.engine.cores.unwrap_or(1)
}

fn sas(config: &GatewayConfig, why: CoreError) -> GatewayError {
    GatewayError::Sas { path: config.sas.clone().unwrap_or_default(), why }
}

fn tell(config: &GatewayConfig, done: Reloaded) {
    let Reloaded { added, removed, kept, edited } = done;
    let file = config.sas.as_deref().unwrap_or(Path::new("")).display();
    info!(%file, added, removed, kept, edited, "SAs taken");
}

enum Ask {
    Read,
    /// What was read last was not installed.
    Forget,
    /// Ten thousand SAs are freed where no packet waits.
    Drop(Box<Plan>),
}

/// The thread that reads, and what it has read.
pub struct Loading {
    config: GatewayConfig,
    ask: Sender<Ask>,
    plans: Receiver<Result<Option<Plan>, GatewayError>>,
    waked: UnixStream,
    /// Files that were asked for and have not come.
    outstanding: usize,
}

impl Loading {
    /// # Errors
    /// As the system says.
    pub fn start(mut loader: Loader) -> io::Result<Self> {
        let (waked, wake) = UnixStream::pair()?;
        waked.set_nonblocking(true)?;
        let config = loader.config.clone();
        let (ask, asked) = channel();
        let (answer, plans) = channel();
        std::thread::Builder::new().name("reload".into()).spawn(move || {
            while let Ok(ask) = asked.recv() {
                match ask {
                    Ask::Forget => loader.reader.forget(),
                    Ask::Drop(plan) => drop(plan),
                    Ask::Read => {
                        if answer.send(loader.plan()).is_err() || (&wake).write(&[1]).is_err() {
                            return;
                        }
                    }
                }
            }
        })?;
        Ok(Self { config, ask, plans, waked, outstanding: 0 })
    }

    /// Has the file read. The answer comes by [`Loading::take`].
    pub fn ask(&mut self) {
        // It ends with the gateway alone.
        if self.ask.send(Ask::Read).is_ok() {
            self.outstanding += 1;
        }
    }

    /// Readable when a file has been read.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.waked.as_fd()
    }

    pub fn is_idle(&self) -> bool {
        self.outstanding == 0
    }

    /// Takes a file that has been read. `None`: there is none.
    pub fn take(
        &mut self,
        load: impl FnOnce(&mut Plan) -> Result<Reloaded, CoreError>,
    ) -> Option<Result<(), GatewayError>> {
        let mut bytes = [0; 16];
        while (&self.waked).read(&mut bytes).is_ok_and(|count| count > 0) {}
        let plan = self.plans.try_recv().ok()?;
        self.outstanding -= 1;
        let mut plan = match plan {
            Ok(Some(plan)) => plan,
            Ok(None) => return Some(Ok(())),
            Err(error) => return Some(Err(error)),
        };
        let loaded = load(&mut plan);
        let _ = self.ask.send(Ask::Drop(Box::new(plan)));
        match loaded {
            Ok(done) => tell(&self.config, done),
            Err(why) => {
                let _ = self.ask.send(Ask::Forget);
                // All of it is read once more, with the keys of those that were thought to be installed.
                if matches!(why, CoreError::Unknown(_)) {
                    self.ask();
                    return None;
                }
                return Some(Err(sas(&self.config, why)));
            }
        }
        Some(Ok(()))
    }
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

/// The permissions of a file that anybody else may read or write.
pub fn open_to_others(about: &Metadata) -> Option<u32> {
    let mode = about.mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// The gateway's own packets must not be routed into it.
fn circles(config: &GatewayConfig, wanted: &Wanted) -> Result<(), GatewayError> {
    // What carries the mark does not see these routes.
    if config.outside.mark.is_some() {
        return Ok(());
    }
    let endpoints = config.peers.iter().map(|peer| peer.endpoint.ip());
    let unnamed = wanted.specs().map(|sa| sa.remote);
    let unnamed = unnamed.filter(|remote| config.peers.iter().all(|peer| peer.address != *remote));
    for end in endpoints.chain(unnamed) {
        let mut routes =
            config.devices().filter(|device| !device.is_apart()).flat_map(|it| &it.inside.routes);
        if let Some(route) = routes.find(|route| route.contains(&end)) {
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
