// SPDX-License-Identifier: Apache-2.0
//! The SA file: security associations and the default policy, in TOML. docs/sa-file.md explains every key.

mod check;
mod fields;
mod value;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use toml::de::DeTable;

use crate::lifetime::Lifetime;
use crate::packet::Transform;
use crate::selector::Selector;
use crate::suite::{AuthSuite, CipherSuite};
use fields::{Fields, Report};

/// Which packets an SA works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Out,
    In,
}

/// What ESP encloses: a whole IP packet, or what follows the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SaMode {
    Tunnel,
    Transport,
}

/// What happens to packets that no SA is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    Bypass,
    Discard,
}

/// One security association, checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sa {
    pub name: String,
    pub spi: u32,
    pub direction: Direction,
    pub mode: SaMode,
    /// Our end.
    pub local: IpAddr,
    /// The other end.
    pub remote: IpAddr,
    /// As the packet in clear stands: for an inbound SA the source is the remote side.
    pub selector: Selector,
    pub cipher: &'static CipherSuite,
    pub auth: &'static AuthSuite,
    pub transform: Arc<Transform>,
    pub esn: bool,
    /// In packets; 0: replays are not looked for.
    pub replay_window: u32,
    /// Outbound: the first number sent; inbound: the lowest number taken.
    pub first_sequence: u64,
    pub lifetime: Lifetime,
}

/// A checked SA file. There is no other way to make one than [`SaFile::parse`].
#[derive(Clone, Debug)]
pub struct SaFile {
    pub(crate) default_policy: Policy,
    pub(crate) sas: Vec<Sa>,
    warnings: Vec<String>,
}

const TOP_KEYS: &[&str] = &["default_policy", "allow_legacy", "sa"];

impl SaFile {
    /// Parses and checks. `file` is the name that errors carry.
    pub fn parse(file: &str, text: &str) -> Result<SaFile, SaFileErrors> {
        let mut report = Report::new(file, text);
        let root = match DeTable::parse(text) {
            Ok(root) => root,
            Err(error) => {
                // Only the message: the parser's own rendering quotes the line, which may hold a key.
                report.error(error.span().map_or(0, |span| span.start), error.message());
                return Err(SaFileErrors(report.errors()));
            }
        };
        let fields = Fields::new(root.get_ref(), root.span().start, String::new());
        fields.refuse_unknown_keys(&mut report, TOP_KEYS);
        let policies = [("discard", Policy::Discard), ("bypass", Policy::Bypass)];
        let default_policy =
            fields.choice(&mut report, "default_policy", &policies).unwrap_or(Policy::Discard);
        let allow_legacy = fields.boolean(&mut report, "allow_legacy").unwrap_or(false);
        let sas = check::associations(&mut report, &fields, allow_legacy);
        let (errors, warnings) = report.into_parts();
        if errors.is_empty() {
            Ok(SaFile { default_policy, sas, warnings })
        } else {
            Err(SaFileErrors(errors))
        }
    }

    /// In the order of the file.
    pub fn sas(&self) -> &[Sa] {
        &self.sas
    }

    pub fn default_policy(&self) -> Policy {
        self.default_policy
    }

    /// Things that are allowed and that the user should know, one sentence each, as `file:line: …`.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Everything that is wrong with an SA file, one line each: `file:line: what is wrong; what is allowed`. Keys
/// are never quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaFileErrors(pub Vec<String>);

impl fmt::Display for SaFileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for SaFileErrors {}
