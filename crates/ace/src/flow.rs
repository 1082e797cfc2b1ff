// SPDX-License-Identifier: Apache-2.0
//! The flow of the repository, where `ace` asks it for something.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use ace_board::folders::{checkout, ours};

use crate::trust::named;

/// The flow's Python, and the repository.
pub struct Flow {
    pub python: PathBuf,
    pub root: PathBuf,
}

impl Flow {
    /// The checkout that the current folder is in. Its code runs as who calls, so nobody else may be able to change it.
    pub fn root() -> Result<PathBuf> {
        let Some(root) = checkout() else {
            bail!("this needs the flow of ACE's repository; run it inside of that");
        };
        match ours(&root.join("flow/ace_flow")) {
            Ok(()) => Ok(root),
            Err(why) => bail!("the flow of {} does not run: {why}", root.display()),
        }
    }

    /// `$ACE_PYTHON`, or that of `.venv`, here or in a folder above. `modules`: a line of Python that it has to run.
    pub fn find(modules: &str) -> Result<Self> {
        let root = Self::root()?;
        let python = named(None, "ACE_PYTHON").unwrap_or_else(|| root.join(".venv/bin/python"));
        let flow = Self { python, root };
        if named(None, "ACE_PYTHON").is_none() && !flow.python.is_file() {
            eprintln!("ace: there is no .venv: `make tools` installs the flow's tools (from PyPI)");
            flow.shown(Command::new("make").arg("tools").current_dir(&flow.root))?;
        }
        let tools = flow.command().args(["-c", modules]).output();
        match tools {
            Ok(output) if output.status.success() => Ok(flow),
            _ => bail!(
                "{} is no Python with what the flow needs; `make tools` installs it as .venv/bin/python, or \
                 ACE_PYTHON names another",
                flow.python.display()
            ),
        }
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        command
            .env("PYTHONPATH", self.root.join("flow"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::null());
        if let Ok(ace) = std::env::current_exe() {
            command.env("ACE_BIN", ace);
        }
        command
    }

    /// Runs something whose progress is seen; standard output is that of `ace`.
    pub fn shown(&self, command: &mut Command) -> Result<()> {
        let what = format!("{command:?}");
        let status = command.stdin(Stdio::null()).stdout(std::io::stderr()).status();
        match status.with_context(|| format!("cannot run {what}"))? {
            status if status.success() => Ok(()),
            status => bail!("{what} ended with {status}; what went wrong stands above"),
        }
    }
}
