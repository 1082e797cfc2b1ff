// SPDX-License-Identifier: Apache-2.0
//! Records of proofs (docs/proof.md): which say that bits are proven, and which do not.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// The format of records that counts (`RECORD` in `flow/ace_flow/prove/bitstream.py`): what an older one was asked, is not enough.
pub const FORMAT: u64 = 3;

#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    format: u64,
    result: String,
    points: u64,
    by_structure: u64,
    /// Those of which a solver's proof was checked; records of former versions, in which ABC's word was taken, do not say.
    #[serde(default)]
    by_certificate: Option<u64>,
    memory_sha256: String,
    netlist_sha256: String,
    control: Control,
    /// Words in records of former versions: then known answers and simulation.
    #[serde(default)]
    tied_to_rtl_by: Value,
}

/// The same proof of bits of which one was changed: it has to fail.
#[derive(Deserialize)]
struct Control {
    result: String,
    points_refuted: u64,
    memory_sha256: String,
}

/// The format of what ties a netlist to its RTL (`TIE` in `flow/ace_flow/build/library_cache.py`).
const TIE_FORMAT: u64 = 2;

/// What a record says of the way from a netlist to its RTL.
#[derive(Deserialize)]
struct Stated {
    method: String,
    recipe: String,
    netlist_sha256: String,
    elaborated_sha256: String,
    points: u64,
    by_structure: u64,
    /// Those of which a solver's proof was checked.
    by_certificate: u64,
    open: u64,
    faults_refuted: u64,
}

/// What a configuration says it was made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// Digest of the netlist that its bits are.
    pub netlist: Option<&'a [u8; 32]>,
    /// Digest of all that decides its bits, the RTL among it.
    pub recipe: Option<&'a str>,
    /// Digest of the RTL's design, of which its model is made.
    pub elaborated: Option<&'a str>,
}

/// What ties the netlist of a configuration to its RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// It is proven that they do the same.
    Equivalence,
    /// Known answers and random simulation of the netlist.
    Simulation,
}

impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Equivalence => "equivalence",
            Self::Simulation => "simulation",
        })
    }
}

/// What is wrong with a record of a proof, or what it says instead; for people, behind the name of the configuration and a
/// colon.
#[derive(Debug, Error)]
pub enum RecordError {
    /// Its file is there and cannot be read.
    #[error("{}: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is none.
    #[error("there is no record that its bits are proven")]
    Missing,
    /// It is not JSON of this form.
    #[error("its record of a proof is none: {0}")]
    Malformed(serde_json::Error),
    /// It is of another format.
    #[error("its record has format {0}, not {FORMAT}; `python -m ace_flow build` proves it")]
    Format(u64),
    /// The proof came to something else.
    #[error("its record says `{0}`, not `proven`")]
    Result(String),
    /// Nobody says what the bits were to be.
    #[error("its manifest does not say of which netlist it is (`netlist_sha256`)")]
    NoNetlist,
    /// It is of another configuration memory.
    #[error("its record is of other bits ({found}, not {wanted}); `python -m ace_flow build` proves it")]
    OtherBits {
        /// Digest in the record.
        found: String,
        /// Digest of the bits.
        wanted: String,
    },
    /// It is of another netlist, of this digest.
    #[error("its record is of another netlist ({0}) than its manifest")]
    OtherNetlist(String),
    /// The proof had no points.
    #[error("its record compares nothing")]
    NoPoints,
    /// The proof takes wrong bits as well.
    #[error("the control of its record, one bit changed, was not refuted")]
    ControlHolds,
    /// The control was no control.
    #[error("the control of its record is not of other bits")]
    ControlOfSameBits,
    /// What ties a netlist to the RTL is said of another netlist.
    #[error("its record ties another netlist to the RTL ({found}, not {wanted})")]
    TieOfOtherNetlist {
        /// Digest in the record.
        found: String,
        /// Digest of the netlist.
        wanted: String,
    },
    /// What ties a netlist to the RTL is said of another design than the model's.
    #[error("its record is of another design than its model ({found}, not {wanted})")]
    TieOfOtherDesign {
        /// Digest in the record.
        found: String,
        /// Digest of the design, or `none`.
        wanted: String,
    },
    /// What ties a netlist to the RTL is said of another RTL.
    #[error("its record ties its netlist to another RTL (recipe {found}, not {wanted})")]
    TieToOtherRtl {
        /// Recipe in the record.
        found: String,
        /// Recipe of the configuration, or `none`.
        wanted: String,
    },
    /// What ties them is no record of a proof.
    #[error("what its record says of the way to the RTL is none: {0}")]
    TieMalformed(serde_json::Error),
    /// It is of another format.
    #[error("its record ties its netlist to the RTL in format {0}, not {TIE_FORMAT}")]
    TieFormat(u64),
    /// A proof of equivalence compares everything and leaves nothing open.
    #[error(
        "its record says `equivalence` to the RTL, with {points} points, {by_structure} of them by structure, and {open} open"
    )]
    TieNonsense {
        /// Points that were compared.
        points: u64,
        /// Of those, equal by construction.
        by_structure: u64,
        /// Points that are not proven.
        open: u64,
    },
    /// Of a point neither structure nor a certificate says that it is equal, or both do.
    #[error(
        "its record ties {points} points to the RTL, {by_structure} by structure and {by_certificate} by certificate: that is not all, or more"
    )]
    TieUncertified {
        /// Points that were compared.
        points: u64,
        /// Of those, equal by construction.
        by_structure: u64,
        /// Of those, equal by a proof that was checked.
        by_certificate: u64,
    },
    /// More is equal by structure than was compared.
    #[error("its record compares {points} points, of which {by_structure} are equal by structure")]
    Nonsense {
        /// Points that were compared.
        points: u64,
        /// Of those, equal by construction.
        by_structure: u64,
    },
    /// Of a point neither structure nor a certificate says that it is equal, or both do.
    #[error(
        "its record compares {points} points, {by_structure} by structure and {by_certificate} by certificate: that is not all, or more"
    )]
    Uncertified {
        /// Points that were compared.
        points: u64,
        /// Of those, equal by construction.
        by_structure: u64,
        /// Of those, equal by a proof that was checked.
        by_certificate: u64,
    },
    /// A recipe is a digest.
    #[error("its record ties its netlist to the RTL of a recipe `{0}`, which is no SHA-256")]
    TieRecipe(String),
    /// A proof of equivalence has a control: a fault put into the RTL.
    #[error("its record says `equivalence` to the RTL, and no fault put into the RTL was refuted")]
    TieNoFault,
    /// Nobody knows this way to tie them.
    #[error("its record ties its netlist to the RTL by `{0}`")]
    TieMethod(String),
}

/// What a record says of the way from a netlist to the RTL, and to the design of the model.
///
/// # Errors
/// That it is of another netlist, RTL or design, or cannot be read.
pub fn tie(stated: &Value, origin: &Origin<'_>) -> Result<Tie, RecordError> {
    if matches!(stated, Value::Null | Value::String(_)) {
        return Ok(Tie::Simulation);
    }
    // Another format has other fields.
    let format = stated["format"].as_u64().unwrap_or(0);
    if stated.is_object() && format != TIE_FORMAT {
        return Err(RecordError::TieFormat(format));
    }
    let stated = Stated::deserialize(stated).map_err(RecordError::TieMalformed)?;
    let Stated {
        method,
        recipe: of,
        netlist_sha256,
        elaborated_sha256,
        points,
        by_structure,
        by_certificate,
        open,
        faults_refuted,
    } = stated;
    let (netlist, recipe) = (origin.netlist.map(hex::encode).unwrap_or_default(), origin.recipe);
    if netlist_sha256 != netlist {
        return Err(RecordError::TieOfOtherNetlist { found: netlist_sha256, wanted: netlist });
    }
    if origin.elaborated != Some(&elaborated_sha256) {
        let wanted = origin.elaborated.unwrap_or("none").to_owned();
        return Err(RecordError::TieOfOtherDesign { found: elaborated_sha256, wanted });
    }
    if !digest(&of) {
        return Err(RecordError::TieRecipe(of));
    }
    if recipe != Some(&of) {
        let wanted = recipe.unwrap_or("none").to_owned();
        return Err(RecordError::TieToOtherRtl { found: of, wanted });
    }
    match &*method {
        "equivalence" if points == 0 || by_structure > points || open != 0 => {
            Err(RecordError::TieNonsense { points, by_structure, open })
        }
        "equivalence" if by_structure.checked_add(by_certificate) != Some(points) => {
            Err(RecordError::TieUncertified { points, by_structure, by_certificate })
        }
        "equivalence" if faults_refuted == 0 => Err(RecordError::TieNoFault),
        "equivalence" => Ok(Tie::Equivalence),
        "simulation" => Ok(Tie::Simulation),
        _ => Err(RecordError::TieMethod(method)),
    }
}

/// How many faults in the RTL the proof has refuted, of a record that ties a netlist to it.
pub fn faults_refuted(stated: &Value) -> u64 {
    Stated::deserialize(stated).map_or(0, |stated| stated.faults_refuted)
}

/// Whether it is a SHA-256, and not one that stands for none.
fn digest(text: &str) -> bool {
    text.len() == 64
        && text.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        && text.bytes().any(|b| b != b'0')
}

/// Whether a record says that a configuration memory of this digest is proven to be the netlist of this digest, by a
/// proof whose control was refuted; and what ties that netlist to the RTL of this recipe.
///
/// # Errors
/// What it says instead, or what is wrong with it.
pub fn check(record: &[u8], memory: &[u8; 32], origin: &Origin<'_>) -> Result<Tie, RecordError> {
    if record.is_empty() {
        return Err(RecordError::Missing);
    }
    let record: Record = serde_json::from_slice(record).map_err(RecordError::Malformed)?;
    let Record {
        format,
        result,
        points,
        by_structure,
        by_certificate,
        memory_sha256,
        netlist_sha256,
        control,
        tied_to_rtl_by,
    } = record;
    if format != FORMAT {
        return Err(RecordError::Format(format));
    }
    if result != "proven" {
        return Err(RecordError::Result(result));
    }
    let Some(netlist) = origin.netlist else {
        return Err(RecordError::NoNetlist);
    };
    let own = hex::encode(memory);
    if memory_sha256 != own {
        return Err(RecordError::OtherBits { found: memory_sha256, wanted: own });
    }
    if netlist_sha256 != hex::encode(netlist) {
        return Err(RecordError::OtherNetlist(netlist_sha256));
    }
    if points == 0 {
        return Err(RecordError::NoPoints);
    }
    if by_structure > points {
        return Err(RecordError::Nonsense { points, by_structure });
    }
    if let Some(by_certificate) = by_certificate
        && by_structure.checked_add(by_certificate) != Some(points)
    {
        return Err(RecordError::Uncertified { points, by_structure, by_certificate });
    }
    if control.result != "refuted" || control.points_refuted == 0 {
        return Err(RecordError::ControlHolds);
    }
    if !digest(&control.memory_sha256) || control.memory_sha256.eq_ignore_ascii_case(&own) {
        return Err(RecordError::ControlOfSameBits);
    }
    tie(&tied_to_rtl_by, origin)
}

#[cfg(test)]
mod tests;
