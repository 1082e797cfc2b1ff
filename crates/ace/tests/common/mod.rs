// SPDX-License-Identifier: Apache-2.0
//! What the tests of the command line share.
#![allow(dead_code)] // each test program uses a part

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The demo's capture, relative to the root.
pub const TRAFFIC: &str = "tests/demo/traffic.pcap";

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a program of `.ci/programs` is on this machine, which in CI it has to be; if not, it says what to install.
pub fn installed(program: &str) -> bool {
    let listed = include_str!("../../../../.ci/programs").lines().filter_map(|line| line.split_once(' '));
    let (_, package) = listed
        .into_iter()
        .find(|(name, _)| *name == program)
        .expect("it is in .ci/programs, which CI installs");
    let found = Command::new(program).arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "CI has no {program}: .ci/run installs {package}");
    if !found {
        eprintln!("{program} is not installed (apt-get install {package}): nothing was checked with it");
    }
    found
}

/// `ace`, which sees nothing of whoever runs the tests: no versions that were seen, no keys, no libraries.
pub fn command() -> Command {
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("state-{}", std::process::id()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ace"));
    command.env("XDG_STATE_HOME", state);
    for name in
        ["ACE_LIBRARY", "ACE_LIBRARY_KEY", "ACE_LIBRARY_SECRET", "ACE_LIBRARY_ALLOW_OLDER", "ACE_BUILD"]
    {
        command.env_remove(name);
    }
    command
}

/// Runs `ace` in the repository's root with `args` and then `paths`.
pub fn ace(args: &[&str], paths: &[&Path]) -> Output {
    command().current_dir(root()).args(args).args(paths).output().expect("ace starts")
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether the demo's configurations are built. `make test` builds them and says so with `ACE_REQUIRE_BUILD`; then
/// their absence is a failure, else the test says that it checked nothing.
pub fn built() -> bool {
    let missing: Vec<&str> = ["aes", "3des", "md5", "sha1"]
        .into_iter()
        .filter(|name| !root().join("build/configurations").join(name).join("manifest.json").exists())
        .collect();
    if missing.is_empty() {
        return true;
    }
    assert!(
        std::env::var_os("ACE_REQUIRE_BUILD").is_none(),
        "not built: {}; run `make demo` or `make test`",
        missing.join(", ")
    );
    eprintln!("not built: {}; nothing was checked", missing.join(", "));
    false
}
