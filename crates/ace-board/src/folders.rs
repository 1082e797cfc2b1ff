// SPDX-License-Identifier: Apache-2.0
//! Where things are looked for that nobody has named, and whose they may be: a model is code that runs as who calls `ace`.
//!
//! Nobody has named the folders beside and above the executable and the checkout that the current folder is in. Of those
//! only what nobody else can change counts: every folder on the way belongs to the user, to root, or to the executable's
//! owner, and no group or stranger may write there.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Name of the variable that names another build folder.
pub const BUILD_VARIABLE: &str = "ACE_BUILD";

/// The model of the array's slot, in a build folder: what runs the library's context sets.
pub(crate) const ARRAY_MODEL: &str = "array/slot.so";

/// What shows that a folder is a checkout of ACE.
const CHECKOUT: &str = "flow/ace_flow/__main__.py";

const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Why a folder that was found does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It, or what it is in, belongs to somebody else.
    Owner(PathBuf, u32),
    /// It, or what it is in, is others' to write.
    Writable(PathBuf),
    /// It cannot be looked at.
    Unreadable(PathBuf),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(path, owner) => {
                write!(f, "{} belongs to user {owner}, who could put code there", path.display())
            }
            Self::Writable(path) => {
                write!(f, "others than its owner may write {}, and could put code there", path.display())
            }
            Self::Unreadable(path) => write!(f, "{} cannot be looked at", path.display()),
        }
    }
}

/// Whether nobody but the user, root and the executable's owner can change what a path leads to.
///
/// # Errors
/// What somebody else can change.
pub fn ours(path: &Path) -> Result<(), Refused> {
    let path = path.canonicalize().map_err(|_| Refused::Unreadable(path.into()))?;
    let program = std::env::current_exe().and_then(|exe| exe.metadata()).map(|found| found.uid());
    let users = [0, rustix::process::geteuid().as_raw(), program.unwrap_or_default()];
    for part in path.ancestors() {
        let found = part.metadata().map_err(|_| Refused::Unreadable(part.into()))?;
        if !users.contains(&found.uid()) {
            return Err(Refused::Owner(part.into(), found.uid()));
        }
        // In a sticky folder others make new files, and leave those alone that are there.
        let sticky = found.is_dir() && found.mode() & STICKY != 0 && part != path;
        if found.mode() & (GROUP_WRITES | OTHERS_WRITE) != 0 && !sticky && !alone_in_group(&found) {
            return Err(Refused::Writable(part.into()));
        }
    }
    Ok(())
}

/// Whether a group may write that has the owner's number: the user's own, as Debian makes them.
fn alone_in_group(found: &std::fs::Metadata) -> bool {
    found.mode() & OTHERS_WRITE == 0 && (found.gid() == found.uid() || found.gid() == 0)
}

/// Where configurations were built.
#[derive(Clone, Debug)]
pub struct BuildFolder {
    /// It.
    pub path: PathBuf,
    /// Whether the user has named it, and so answers for what is in it.
    pub named: bool,
}

impl BuildFolder {
    /// `build`, or `$ACE_BUILD`, or the one that is found.
    pub fn find(build: Option<&Path>) -> Self {
        let variable = || std::env::var_os(BUILD_VARIABLE).filter(|b| !b.is_empty()).map(PathBuf::from);
        if let Some(path) = build.map(Path::to_owned).or_else(variable) {
            return Self { path, named: true };
        }
        let made = |p: &Path| p.join("configurations").is_dir() || p.join(ARRAY_MODEL).is_file();
        let found = search(|p| p.join("build"), "lib/ace", made);
        Self { path: found.unwrap_or_else(|| "build".into()), named: false }
    }
}

/// The first folder that has what is wanted, and is [`ours`]: `of` what stands beside or above the executable, `installed`
/// in each of those (a prefix is above its `bin`), and `of` the checkout that the current folder is in. Standard error
/// names what is passed over, and a checkout that is not the executable's own.
pub(crate) fn search(
    of: impl Fn(&Path) -> PathBuf,
    installed: &str,
    wanted: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let own = || own.iter().flat_map(|path| path.ancestors().skip(1));
    let here = checkout();
    let places = own().map(&of).chain(own().map(|place| place.join(installed)));
    let places = places.map(|place| (place, false)).chain(here.iter().map(|place| (of(place), true)));
    for (place, here) in places.filter(|(place, _)| wanted(place)) {
        match ours(&place) {
            Ok(()) if here => note(&format!("{} is of the current checkout", place.display())),
            Ok(()) => {}
            Err(why) => {
                note(&format!(
                    "{} is passed over: {why}; remedy: name it ({BUILD_VARIABLE})",
                    place.display()
                ));
                continue;
            }
        }
        return Some(place);
    }
    None
}

/// The checkout that the current folder is in.
pub fn checkout() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find(|place| place.join(CHECKOUT).is_file()).map(Path::to_owned)
}

/// Once for each process and place.
fn note(text: &str) {
    static NOTED: OnceLock<std::sync::Mutex<Vec<String>>> = OnceLock::new();
    let mut all = NOTED.get_or_init(Default::default).lock().unwrap_or_else(|broken| broken.into_inner());
    if !all.iter().any(|one| one == text) {
        all.push(text.to_owned());
        eprintln!("ace: {text}");
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir_all, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown};

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let all = tempfile::tempdir().unwrap();
        let path = all.path().join("a/b");
        create_dir_all(&path).unwrap();
        (all, path.canonicalize().unwrap())
    }

    fn mode(path: &Path, mode: u32) {
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_may_write_is_refused_wherever_it_is_on_the_way() {
        let (_all, path) = folder();
        let above = path.parent().unwrap().to_owned();
        mode(&path, 0o755);
        mode(&above, 0o755);
        assert_eq!(ours(&path), Ok(()));
        for wrong in [0o777, 0o757] {
            mode(&above, wrong);
            assert_eq!(ours(&path), Err(Refused::Writable(above.clone())), "{wrong:o}");
        }
        // Others cannot move what is in a sticky folder; in it they could put something new.
        mode(&above, 0o1777);
        assert_eq!(ours(&path), Ok(()));
        assert_eq!(ours(&above), Err(Refused::Writable(above)));
        assert!(matches!(ours(&path.join("none")), Err(Refused::Unreadable(_))));
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        let (_all, path) = folder();
        let file = path.join("model.so");
        std::fs::write(&file, "").unwrap();
        // Only root gives things away.
        if chown(&file, Some(65_534), None).is_ok() {
            assert_eq!(ours(&file), Err(Refused::Owner(file, 65_534)));
        }
        if chown(&path, Some(65_534), None).is_ok() {
            assert!(matches!(ours(&path), Err(Refused::Owner(_, 65_534))));
        }
    }

    #[test]
    fn a_link_counts_as_what_it_leads_to() {
        let (_all, path) = folder();
        mode(&path, 0o777);
        let link = path.parent().unwrap().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(ours(&link), Err(Refused::Writable(path)));
    }
}
