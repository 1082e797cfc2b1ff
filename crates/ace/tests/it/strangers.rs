// SPDX-License-Identifier: Apache-2.0
//! Whose code runs: what somebody else has put where `ace` looks is neither listed nor loaded.

use std::fs::{Permissions, copy, create_dir_all, set_permissions, write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Output};

use crate::common::stderr;

/// `ace` as it stands alone, in a folder that is not in the repository, and what looks like a checkout above the current
/// folder.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        create_dir_all(place.path().join("bin")).unwrap();
        copy(env!("CARGO_BIN_EXE_ace"), place.path().join("bin/ace")).unwrap();
        for folder in ["shared/here", "shared/build/configurations/des", "shared/flow/ace_flow/prove"] {
            create_dir_all(place.path().join(folder)).unwrap();
        }
        for file in ["build/configurations/des/manifest.json", "flow/ace_flow/__main__.py"] {
            write(place.path().join("shared").join(file), "{}").unwrap();
        }
        Self(place)
    }

    fn shared(&self) -> std::path::PathBuf {
        self.0.path().join("shared")
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(self.0.path().join("bin/ace"));
        let state = self.0.path().join("state");
        command.current_dir(self.shared().join("here")).env("XDG_STATE_HOME", state).env_remove("ACE_BUILD");
        command.args(words).output().unwrap()
    }
}

fn mode(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_checkout_above_the_current_folder_counts_if_nobody_else_can_write_it() {
    let place = Place::new();
    mode(&place.shared(), 0o755);
    let shown = stderr(&place.run(&["configurations"]));
    assert!(shown.contains("is of the current checkout") && shown.contains("des/manifest.json"), "{shown}");

    mode(&place.shared(), 0o777);
    let shown = stderr(&place.run(&["configurations"]));
    assert!(shown.contains("is passed over: others than its owner may write"), "{shown}");
    assert!(!shown.contains("des/manifest.json"), "{shown}");
    // It may be named.
    let named = place.shared().join("build/configurations");
    let shown = stderr(&place.run(&["configurations", "--configurations", named.to_str().unwrap()]));
    assert!(shown.contains("des/manifest.json"), "{shown}");
    // Nor does its flow run.
    let shown = stderr(&place.run(&["new", "algorithm", "toy"]));
    assert!(shown.contains("the flow of"), "{shown}");
}

#[test]
fn a_folder_above_that_is_no_checkout_is_not_looked_at() {
    let place = Place::new();
    mode(&place.shared(), 0o755);
    std::fs::remove_dir_all(place.shared().join("flow")).unwrap();
    let shown = stderr(&place.run(&["configurations"]));
    assert!(shown.contains("no configurations in build/configurations"), "{shown}");
}

#[test]
fn what_somebody_else_owns_is_passed_over() {
    let place = Place::new();
    mode(&place.shared(), 0o755);
    // Only root gives things away.
    if chown(place.shared().join("build"), Some(65_534), None).is_err() {
        return;
    }
    let shown = stderr(&place.run(&["configurations"]));
    assert!(shown.contains("belongs to user 65534"), "{shown}");
    assert!(!shown.contains("des/manifest.json"), "{shown}");
}
