// SPDX-License-Identifier: Apache-2.0
//! The SA file: security associations and the default policy, in TOML. docs/sa-file.md explains every key.

pub(crate) mod check;
mod compare;
pub(crate) mod fields;
mod keys;
mod pieces;
mod protection;
pub mod suites;
mod value;
mod wipe;
mod write;

use std::fmt;

use ace_ipsec::model::Headers;
use ace_ipsec::{Direction, IvSource, Policy, Rule, SaSpec, SadError, Shard, Time, Treatment};
use toml::de::DeTable;
use zeroize::Zeroizing;

use fields::{Fields, Report};

pub use compare::{Claimant, Claims};
pub use fields::nearest;
pub use pieces::Pieces;
pub(crate) use value::{protocol_number, range};
pub use wipe::{read_wiped, read_wiped_from};
pub(crate) use write::room;
pub use write::write;

/// A checked SA file. There is no other way to make one than [`SaFile::parse`].
///
/// ```
/// use ace_config::SaFile;
///
/// let text = r#"
///     [[sa]]
///     name = "a-to-b"
///     spi = 0x1001
///     direction = "out"
///     mode = "tunnel"
///     local = "192.0.2.1"
///     remote = "192.0.2.2"
///     cipher = "aes-128-gcm-16"
///     key = "8d2f1c4be07a93560d11f2a8c45e7b905b0e9c17"
/// "#;
/// let file = SaFile::parse("sas.toml", text)?;
/// assert_eq!(file.sas()[0].spi, 0x1001);
///
/// // One byte of the key is missing.
/// let errors = SaFile::parse("sas.toml", &text.replace("8d2f", "8d")).unwrap_err();
/// assert!(errors.0[0].starts_with("sas.toml:10: "));
/// # Ok::<(), ace_config::SaFileErrors>(())
/// ```
#[derive(Clone, Debug)]
pub struct SaFile {
    default_policy: Policy,
    sas: Vec<SaSpec>,
    warnings: Vec<String>,
}

const TOP_KEYS: &[&str] = &["default_policy", "allow_legacy", "sa"];

impl SaFile {
    /// Parses and checks. `file` is the name that errors carry. The text is the caller's to wipe ([`read_wiped`]);
    /// nothing that was made of it stays, but the keys of the SAs.
    ///
    /// # Errors
    /// Everything that is wrong, at once.
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
        let (default_policy, sas) = {
            let fields = Fields::new(root.get_ref(), root.span().start, String::new());
            fields.refuse_unknown_keys(&mut report, TOP_KEYS);
            let policies = [("discard", Policy::Discard), ("bypass", Policy::Bypass)];
            let default_policy =
                fields.choice(&mut report, "default_policy", &policies).unwrap_or(Policy::Discard);
            let allow_legacy = fields.boolean(&mut report, "allow_legacy").unwrap_or(false);
            (default_policy, check::associations(&mut report, &fields, allow_legacy))
        };
        wipe::table(root.into_inner());
        let (errors, warnings) = report.into_parts();
        if errors.is_empty() {
            Ok(SaFile { default_policy, sas, warnings })
        } else {
            Err(SaFileErrors(errors))
        }
    }

    /// Its SAs, with their keys, in the order of the file.
    pub fn into_sas(self) -> Vec<SaSpec> {
        self.sas
    }

    /// In the order of the file.
    pub fn sas(&self) -> &[SaSpec] {
        &self.sas
    }

    /// What becomes of packets that no rule matches.
    pub fn default_policy(&self) -> Policy {
        self.default_policy
    }

    /// The other end's SA file, as text with the keys in it: what goes out here comes in there. Selectors are those of
    /// clear packets, which are the same at both ends.
    ///
    /// # Errors
    /// What no SA file may say.
    pub fn mirrored(&self) -> Result<Zeroizing<String>, SaFileErrors> {
        let other = |direction| match direction {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
        };
        let mirrored = |sa: &SaSpec| SaSpec {
            direction: other(sa.direction),
            // Congestion marks are for both ends to agree on, the rest is each end's own.
            headers: Headers { ecn: sa.headers.ecn, ..Headers::of(other(sa.direction)) },
            local: sa.remote,
            remote: sa.local,
            // Each end has its own. Devices too, but tenants must not become one: a number that is not there is refused.
            core: None,
            output_mark: 0,
            ..sa.clone()
        };
        let sas: Vec<SaSpec> = self.sas.iter().map(mirrored).collect();
        write(self.default_policy, &sas)
    }

    /// Things that are allowed and that the user should know, one sentence each, as `file:line: …`.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// A data plane with these SAs, installed at `now`, and a rule for each: what an outbound selector matches is
    /// protected, the first in the file wins; what an inbound one matches must not come in clear. A capture does not say
    /// by which interface a packet came: rules are for packets of any.
    ///
    /// # Errors
    /// [`SadError`] if the engine's keys cannot be made.
    pub fn shard(&self, now: Time, ivs: Box<dyn IvSource>) -> Result<Shard, SadError> {
        let mut shard = Shard::new(self.default_policy, ivs);
        for sa in &self.sas {
            let (selector, treatment) = (sa.selector.clone(), Treatment::Protect);
            let rule = Rule { selector, treatment, priority: 0, if_id: 0 };
            match sa.direction {
                Direction::Out => {
                    let rule = shard.add_inside(rule);
                    shard.install_outbound(now, sa, rule)?;
                }
                Direction::In => {
                    shard.add_outside(rule);
                    shard.install_inbound(now, sa)?;
                }
            }
        }
        Ok(shard)
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
