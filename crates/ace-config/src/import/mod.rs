// SPDX-License-Identifier: Apache-2.0
//! SAs as other programs print them: `ip -s xfrm state` with `ip -s xfrm policy` and what strongSwan says of them, and
//! Wireshark's table `esp_sa`, which strongSwan's `save-keys` writes too.

mod esp_sa;
mod policy;
mod printed;
mod state;
pub mod words;

#[cfg(test)]
mod disorder;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::net::IpAddr;

use ace_ipsec::{Direction, Policy, SaMode, SaSpec};
use thiserror::Error;
use zeroize::{Zeroize, Zeroizing};

use crate::sa_file;
use crate::swanctl::{self, Child, Known};
use policy::Policies;
use printed::printed;

/// Digits of the shortest key.
const LEAST_KEY: usize = 16;

/// Why nothing was imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// Without keys there is no SA.
    #[error(
        "swanctl prints no keys; `ip -s xfrm state`, as root, does: name its output as FILE, and this with --swanctl"
    )]
    NoKeys,
    /// Policies have no keys either.
    #[error("policies have no keys; name the output of `ip -s xfrm state` as FILE, and this with --policy")]
    PoliciesAlone,
    /// Keys of IKE decrypt IKE.
    #[error(
        "these are keys of IKE and not of ESP; `save-keys` writes those into `esp_sa` beside this file, with \
         `charon.plugins.save-keys.esp = yes`"
    )]
    Ike,
    /// The text has no state.
    #[error("no SAs: `ip -s xfrm state`, as root, prints them, and Wireshark's table `esp_sa` has them")]
    NoSas,
    /// The text has no policy.
    #[error("{0}: no policies: `ip -s xfrm policy`, as root, prints them")]
    NoPolicies(String),
    /// Each is good alone, and together they are not.
    #[error(transparent)]
    File(#[from] sa_file::SaFileErrors),
}

/// Why one SA has no place in an SA file.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Untranslatable(pub String);

/// A text, and the name of the file that it is of.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// As messages name it.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a str,
}

/// What the text of SAs does not say.
#[derive(Clone, Copy)]
pub struct Beside<'a> {
    /// Addresses of this machine.
    pub local: &'a [IpAddr],
    /// What [`swanctl::children`] found.
    pub children: &'a [Child],
    /// What `ip -s xfrm policy` printed.
    pub policies: Option<Source<'a>>,
    /// Whether numbers begin again, for a capture that is older than the list: with ESN at the start of the high half.
    pub from_start: bool,
    /// What SAs of Wireshark's table enclose, which it does not say.
    pub mode: SaMode,
    /// Whether all come in, whatever else says: for whoever decrypts a capture of both directions.
    pub inbound: bool,
}

impl Default for Beside<'_> {
    fn default() -> Self {
        Self {
            local: &[],
            children: &[],
            policies: None,
            from_start: false,
            mode: SaMode::Tunnel,
            inbound: false,
        }
    }
}

/// What became of the SAs of a machine.
pub struct Imported {
    /// The SA file, unless every SA was left out. The keys are in it.
    pub file: Option<Zeroizing<String>>,
    /// What has no place in it, and why: an SA, or a word of one.
    pub left_out: Vec<String>,
    /// What is in it and worth a second look.
    pub warnings: Vec<String>,
}

/// One SA on its way.
struct Found {
    sa: SaSpec,
    /// The order in the file: policies have one.
    priority: u64,
    /// Where it stands.
    place: String,
}

/// Makes an SA file of a text.
///
/// # Errors
/// When there is nothing to import. An SA that has no place in an SA file loses no other one.
pub fn import(source: Source<'_>, beside: &Beside<'_>) -> Result<Imported, ImportError> {
    let Source { name, text } = source;
    if swanctl::is_swanctl(text) {
        return Err(ImportError::NoKeys);
    }
    if esp_sa::is_ike(text) {
        return Err(ImportError::Ike);
    }
    let mut into =
        Collected { found: Vec::new(), left_out: Vec::new(), warnings: Vec::new(), spis: HashSet::new() };
    if esp_sa::is_table(text) {
        esp_sa::table(name, text, beside, &mut into);
    } else {
        kernel(name, text, beside, &mut into)?;
    }
    if into.spis.is_empty() && into.left_out.is_empty() {
        return Err(ImportError::NoSas);
    }
    for child in beside.children {
        for spi in child.spis().filter(|spi| !into.spis.contains(spi)) {
            into.left_out.push(format!("{}: nothing in {name} has SPI {spi:08x}", child.name));
        }
    }
    into.file()
}

/// SAs and policies of `ip`, which may stand in one file.
fn kernel(name: &str, text: &str, beside: &Beside<'_>, into: &mut Collected) -> Result<(), ImportError> {
    let states = printed(text);
    let separate = beside.policies.map(|source| (source.name, printed(source.text)));
    let mut policies = Policies::default();
    policies.take(name, &states);
    if let Some((name, printed)) = &separate {
        if !printed.blocks.iter().any(|block| block.policy) {
            return Err(ImportError::NoPolicies((*name).to_owned()));
        }
        policies.take(name, printed);
        let what = "an SA among the policies: it belongs into FILE";
        let odd = printed.blocks.iter().filter(|block| !block.policy);
        into.left_out.extend(odd.map(|block| format!("{name}:{}: {what}", block.line)));
        into.strays(name, printed);
    }
    let sas: Vec<_> = states.blocks.iter().filter(|block| !block.policy).collect();
    if sas.is_empty() {
        let policies_alone = states.blocks.iter().any(|block| block.policy);
        return Err(if policies_alone { ImportError::PoliciesAlone } else { ImportError::NoSas });
    }
    into.strays(name, &states);
    for (number, block) in sas.into_iter().enumerate() {
        state::state(name, number + 1, block, beside, &policies, into);
    }
    into.left_out.extend(policies.rest());
    Ok(())
}

/// Where SAs are collected.
struct Collected {
    found: Vec<Found>,
    left_out: Vec<String>,
    warnings: Vec<String>,
    /// Of all SAs, imported or not.
    spis: HashSet<u32>,
}

impl Collected {
    fn strays(&mut self, name: &str, printed: &printed::Printed<'_>) {
        let what = "neither an SA nor a policy";
        self.left_out.extend(printed.strays.iter().map(|line| format!("{name}:{line}: {what}")));
    }

    /// An SA that no SA file may have alone is none for the file.
    fn take(&mut self, found: Found) {
        match sa_file::write(Policy::Discard, std::slice::from_ref(&found.sa)) {
            Ok(_) => self.found.push(found),
            Err(errors) => self.left_out.push(format!("{}: {}", found.place, alone(&errors.to_string()))),
        }
    }

    /// All that is good, in one file. What two SAs may not have in common loses the second one.
    fn file(mut self) -> Result<Imported, ImportError> {
        self.found.sort_by_key(|found| found.priority);
        let (mut ends, mut names) = (HashSet::new(), HashSet::new());
        let mut sas = Vec::new();
        for Found { mut sa, place, .. } in self.found {
            let destination = if sa.direction == Direction::Out { sa.remote } else { sa.local };
            if !ends.insert((sa.direction == Direction::Out, destination, sa.protocol, sa.spi)) {
                let why = "another SA before it has its SPI and destination";
                self.left_out.push(format!("{place}: {why}"));
                continue;
            }
            let mut number = 1;
            while !names.insert(sa.name.clone()) {
                number += 1;
                sa.name = format!("{}-{number}", sa.name);
            }
            sas.push(sa);
        }
        let file = if sas.is_empty() { None } else { Some(sa_file::write(Policy::Discard, &sas)?) };
        let left_out = self.left_out.iter().map(|message| keyless(message)).collect();
        self.left_out.zeroize();
        Ok(Imported { file, left_out, warnings: self.warnings })
    }
}

/// An error of a file of one SA, without the place in a file that nobody sees.
fn alone(errors: &str) -> String {
    let lines = errors.lines().map(|line| match line.strip_prefix("SAs:").and_then(|l| l.split_once(": ")) {
        Some((_, rest)) => rest.split_once("`: ").map_or(rest, |(_, what)| what),
        None => line,
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// A message without what could be a key: lines in disorder may have one anywhere.
fn keyless(message: &str) -> String {
    let (mut out, mut digits) = (String::with_capacity(message.len()), String::new());
    for c in message.chars().chain(['\0']) {
        if c.is_ascii_hexdigit() {
            digits.push(c);
            continue;
        }
        out.push_str(if digits.len() < LEAST_KEY { &digits } else { "…" });
        digits.zeroize();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}

fn no(what: impl Into<String>) -> Untranslatable {
    Untranslatable(what.into())
}

/// The bytes of a key as it is printed.
fn bytes(written: &str) -> Result<Zeroizing<Vec<u8>>, Untranslatable> {
    if written.starts_with("<<Keys") {
        return Err(no("its keys are hidden: `ip xfrm state`, as root and without `nokeys`, prints them"));
    }
    let digits = written.strip_prefix("0x").unwrap_or(written);
    // In its place at once: what a growing buffer leaves behind nobody wipes.
    let mut key = Zeroizing::new(vec![0; digits.len() / 2]);
    hex::decode_to_slice(digits, &mut key).map_err(|_| no("its key is not in hexadecimal digits"))?;
    Ok(key)
}

/// An SA's ends, as it is found by.
#[derive(Clone, Copy)]
struct Ends {
    source: IpAddr,
    destination: IpAddr,
    spi: u32,
    tunnel: bool,
}

/// Whether an SA goes out, and what strongSwan knows of it. `stated` is what the list itself says.
fn way(
    ends: Ends,
    stated: Option<bool>,
    beside: &Beside<'_>,
) -> Result<(bool, Option<Known>), Untranslatable> {
    let known = beside.children.iter().map(|child| child.knows(ends.destination, ends.spi, ends.tunnel));
    let known = known.into_iter().find_map(Result::transpose).transpose()?;
    let stated = known.as_ref().map(|known| known.outbound).or(stated);
    let local = |address| beside.local.contains(&address);
    let stated = if beside.inbound { Some(false) } else { stated };
    let outbound = match (stated, local(ends.source), local(ends.destination)) {
        (Some(outbound), ..) => outbound,
        (None, true, false) => true,
        (None, false, true) => false,
        _ if !beside.children.is_empty() => return Err(no("swanctl has no CHILD_SA with this SPI")),
        _ => {
            return Err(no("neither end, or both, are this machine's: --local says which addresses are"));
        }
    };
    Ok((outbound, known))
}
