// SPDX-License-Identifier: Apache-2.0
//! Where things are looked for that nobody has named.

use std::path::{Path, PathBuf};

/// Name of the variable that names another build folder.
pub const BUILD_VARIABLE: &str = "ACE_BUILD";

/// The build folder of [`crate::Catalogue::find`].
pub fn build_folder(build: Option<&Path>) -> PathBuf {
    if let Some(build) = build {
        return build.into();
    }
    if let Some(build) = std::env::var_os(BUILD_VARIABLE).filter(|b| !b.is_empty()) {
        return build.into();
    }
    let built = places("").into_iter().map(|p| p.join("build"));
    let installed = places("lib/ace").into_iter();
    built.chain(installed).find(|p| p.join("configurations").is_dir()).unwrap_or_else(|| "build".into())
}

/// Folders in which to look, the nearest first: the current one and those above it, that of the executable and those
/// above it, and then `installed` in each of the latter: a prefix is above its `bin`.
pub(crate) fn places(installed: &str) -> Vec<PathBuf> {
    let here = std::env::current_dir().ok();
    let own = std::env::current_exe().ok();
    let above = |path: &Option<PathBuf>| -> Vec<PathBuf> {
        path.iter().flat_map(|p| p.ancestors()).map(Path::to_owned).collect()
    };
    let (here, own) = (above(&here), above(&own));
    let installed: Vec<PathBuf> = own.iter().map(|p| p.join(installed)).collect();
    [here, own, installed].concat()
}
