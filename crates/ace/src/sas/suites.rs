// SPDX-License-Identifier: Apache-2.0
//! `ace sas suites`: the suites that there are, and what computes each.

use ace_board::array::ArraySlot;
use ace_board::capability::Capability;
use ace_engine::{Direction, Need, software};
use ace_ipsec::model::{AUTHS, AuthSuite, CIPHERS, ForeignNames, IvKind};
use ace_report::{Outcome, print_json, say};
use anyhow::Result;
use serde_json::{Value, json};

use crate::array::dedicated;
use crate::page::Output;

/// What of this machine computes: a dedicated configuration of the library, a context set of the array, software.
struct Engines {
    fabric: Vec<Capability>,
    array: Vec<Capability>,
}

impl Engines {
    /// Without a library that can be read there is no dedicated configuration.
    fn found() -> Self {
        let fabric = dedicated().iter().flat_map(|one| one.can.clone()).collect();
        Self { fabric, array: ArraySlot::can() }
    }

    /// Those that do all of it, by name; of a cipher both directions.
    fn of(&self, needs: &[Need]) -> Vec<&'static str> {
        let all = |can: &dyn Fn(&Need) -> bool| needs.iter().all(can);
        let by = |table: &[Capability]| all(&|need| table.iter().any(|one| one.serves(need)));
        [("fabric", by(&self.fabric)), ("array", by(&self.array)), ("CPU", all(&software::can))]
            .into_iter()
            .filter_map(|(name, can)| (can && !needs.is_empty()).then_some(name))
            .collect()
    }
}

fn names(names: &ForeignNames) -> Value {
    json!({"iana": names.iana, "kernel": names.kernel, "wireshark": names.wireshark})
}

/// Names by what computes them, in the order in which that comes first.
fn by_engine(page: &mut Output, ciphers: &[(&str, String)], auths: &[(&str, String)]) {
    let mut groups: Vec<&str> = Vec::new();
    for (_, by) in ciphers.iter().chain(auths) {
        if !groups.contains(&by.as_str()) {
            groups.push(by);
        }
    }
    let of = |suites: &[(&str, String)], group: &str| {
        let names = suites.iter().filter(|(_, by)| by == group).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    say!(page, "| computed by | ciphers | authentication |\n|---|---|---|");
    for group in groups {
        let by = if group.is_empty() { "nothing to compute" } else { group };
        say!(page, "| {by} | {} | {} |", of(ciphers, group), of(auths, group));
    }
}

pub fn print(page: &mut Output, as_json: bool, grouped: bool) -> Result<Outcome> {
    let engines = Engines::found();
    let ciphers = CIPHERS.iter().map(|suite| {
        let needs: Vec<Need> = Direction::BOTH.into_iter().filter_map(|way| suite.need(way)).collect();
        let mut by = engines.of(&needs);
        // GMAC's packets are AAD as a whole, of which the array's frames have at most 255 bytes.
        by.retain(|name| *name != "array" || suite.encrypts() || !suite.combined());
        (suite, by)
    });
    let auths = AUTHS.iter().map(|suite| (suite, engines.of(suite.need().as_slice())));
    if grouped {
        let ciphers: Vec<_> = ciphers.map(|(suite, by)| (suite.name, by.join(", "))).collect();
        let auths: Vec<_> = auths.map(|(suite, by)| (suite.name, by.join(", "))).collect();
        by_engine(page, &ciphers, &auths);
        return Ok(Outcome::Well);
    }
    if as_json {
        let ciphers = ciphers.map(|(suite, by)| {
            json!({
                "name": suite.name, "key": suite.key_len, "nonce": suite.nonce_len, "iv": suite.iv_len,
                "block": suite.block, "icv": suite.icv_len, "combined": suite.combined(),
                "implicit_iv": suite.iv == IvKind::Implicit, "legacy": suite.legacy, "rfc": suite.rfc,
                "names": names(&suite.names), "computed_by": by,
            })
        });
        let auths = auths.map(|(suite, by)| {
            json!({
                "name": suite.name, "key": suite.key_len, "icv": suite.icv_len, "legacy": suite.legacy,
                "rfc": suite.rfc, "names": names(&suite.names), "computed_by": by,
            })
        });
        let (ciphers, auths): (Vec<_>, Vec<_>) = (ciphers.collect(), auths.collect());
        print_json(&json!({ "ciphers": ciphers, "auths": auths }))?;
        return Ok(Outcome::Well);
    }
    say!(
        page,
        "| cipher | bytes of key and nonce | of IV | of ICV | computed by | legacy |\n|---|--:|--:|--:|---|---|"
    );
    for (suite, by) in ciphers {
        let (keymat, legacy) = (suite.keymat_len(), suite.legacy.unwrap_or_default());
        let by = by.join(", ");
        say!(page, "| {} | {keymat} | {} | {} | {by} | {legacy} |", suite.name, suite.iv_len, suite.icv_len);
    }
    say!(page, "\n| authentication | bytes of key | of ICV | computed by | legacy |\n|---|--:|--:|---|---|");
    for (AuthSuite { name, key_len, icv_len, legacy, .. }, by) in auths {
        say!(page, "| {name} | {key_len} | {icv_len} | {} | {} |", by.join(", "), legacy.unwrap_or_default());
    }
    Ok(Outcome::Well)
}
