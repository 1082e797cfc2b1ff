// SPDX-License-Identifier: Apache-2.0
//! What a library's configurations say of themselves.

use ace_library::{Image, Library};
use serde_json::Value;

use super::board_image::configurations;
use crate::record::{Origin, Tie, tie};

/// The manifest; null if it is none.
pub fn manifest(image: &Image) -> Value {
    image.manifest().ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or(Value::Null)
}

/// What ties the netlist of a configuration to its RTL, by its own record; a record that is of something else ties nothing.
pub fn tie_of(image: &Image, manifest: &Value) -> Tie {
    let proof: Value =
        image.proof().ok().and_then(|proof| serde_json::from_slice(&proof).ok()).unwrap_or(Value::Null);
    let netlist =
        manifest["netlist_sha256"].as_str().and_then(|text| hex::decode(text).ok()?.try_into().ok());
    let origin = Origin {
        netlist: netlist.as_ref(),
        recipe: manifest["recipe"].as_str(),
        elaborated: manifest["elaborated_sha256"].as_str(),
    };
    tie(&proof["tied_to_rtl_by"], &origin).unwrap_or(Tie::Simulation)
}

/// How many of the configurations of a library are proven to be their RTL.
pub fn tied_by_proof(library: &Library) -> usize {
    configurations(library).filter(|image| tie_of(image, &manifest(image)) == Tie::Equivalence).count()
}
