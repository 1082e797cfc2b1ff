// SPDX-License-Identifier: Apache-2.0
//! What key set-up takes on the array, beside the sets of the ciphers that it is for.

use ace_array::frontend;
use ace_array::shape::{Kind, Shape};
use anyhow::Result;

use super::Manifest;
use super::table::{LINK_MHZ, Made};
use crate::page::Output;
use ace_array::Named;
use ace_report::say;

/// The cipher's variant, of a name of one that sets keys up.
pub fn cipher(variant: &str) -> String {
    frontend::cipher(variant).unwrap_or(variant).to_owned()
}

/// A row for each set-up of the named files, or of all.
///
/// # Errors
/// Why one does not compile.
pub fn print(page: &mut Output, names: &[String], made: &Made, shape: &Shape) -> Result<()> {
    say!(
        page,
        "| key set-up on the array | ALU | rotator | quad | multiplier | in | out | bound | contexts | latency: clocks from a raw key to its last word | words | set, bytes | of them contexts | load, µs | cipher's set, bytes | with key set-up |"
    );
    say!(page, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    let wanted = |file: &str| {
        let stem = file.strip_suffix(".ace").unwrap_or(file);
        let is = |name: &String| [Some(stem), stem.strip_suffix("_keys")].contains(&Some(name.as_str()));
        names.is_empty() || names.iter().any(is)
    };
    for named in Named::setups().filter(|named| named.setup.is_some_and(|setup| wanted(setup.file))) {
        for (_, compiled) in named.sets(shape)? {
            let set = Manifest::of(&compiled, shape);
            let of = |kind: Kind| set.operations[kind as usize];
            let cipher = cipher(&named.variant);
            let alone = made.iter().find(|(variant, _)| *variant == cipher);
            let alone = alone.and_then(|(_, made)| Some(made.as_ref().ok()?.0.bytes));
            let bytes = |more: usize| alone.map_or(String::new(), |bytes| (bytes + more).to_string());
            say!(
                page,
                "| {} | {} | {} | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {} | {} | {:.1} | {} | {} |",
                named.name,
                of(Kind::Alu),
                of(Kind::Rotator),
                of(Kind::Quad),
                of(Kind::Multiplier),
                of(Kind::Input),
                of(Kind::Output),
                set.bound,
                set.bound_by,
                set.contexts,
                set.latency,
                compiled.set.output_words,
                set.bytes,
                set.context_bytes,
                set.load_clocks as f64 / LINK_MHZ,
                bytes(0),
                bytes(set.bytes),
            );
        }
    }
    Ok(())
}
