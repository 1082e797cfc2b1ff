// SPDX-License-Identifier: Apache-2.0
//! Section 4.1: a load is paid once an association, beside what the association's negotiation takes. The negotiation is
//! measured, wall time (charon at both ends, `ACE_IKE=20 tests/interop/charon.sh`); the load is modelled.

use ace_report::{Page, say};
use serde::{Deserialize, Serialize};

use crate::built::Image;
use crate::error::{Context, Result};
use crate::marks::{By, Mark, heads, range};
use crate::measured::{File, Recorded, spread};

const FILE: &str = "studies/ace-2000/negotiation.json";

/// negotiation.json.
#[derive(Deserialize)]
struct Measured {
    negotiation_ms: Vec<f64>,
}

/// A configuration, and its load at the default board's port.
#[derive(Serialize)]
struct Loaded {
    name: String,
    load_ms: f64,
}

/// Both.
#[derive(Serialize)]
pub struct Negotiation {
    recorded: Recorded,
    count: usize,
    /// Least, middle and greatest.
    ms: [f64; 3],
    loads: Vec<Loaded>,
}

/// The loads of these images beside the negotiations that were measured.
///
/// # Errors
/// The results file is not what it should be: a fault of this repository.
pub fn negotiation(images: &[Image]) -> Result<Negotiation> {
    let file: File<Measured> = serde_json::from_str(include_str!("negotiation.json"))
        .with_context(|| format!("{FILE}: write it anew with python -m ace_flow measure {FILE}"))?;
    let all = file.values.negotiation_ms;
    let count = all.len();
    let ms = spread(all).with_context(|| format!("{FILE}: no negotiation was measured"))?;
    let loads = images
        .iter()
        .filter_map(|image| Some(Loaded { name: image.name.clone(), load_ms: image.load_ms? }))
        .collect();
    Ok(Negotiation { recorded: file.recorded, count, ms, loads })
}

impl Negotiation {
    /// The loads' percents of the middle negotiation.
    pub fn percents(&self) -> String {
        range(self.loads.iter().map(|load| self.percent(load)), 0)
    }

    fn percent(&self, load: &Loaded) -> f64 {
        100.0 * load.load_ms / self.ms[1]
    }
}

/// Puts them on a page.
pub fn print(page: &mut Page, negotiation: &Negotiation) {
    let [least, middle, greatest] = negotiation.ms;
    say!(page, "## A load beside the negotiation of an association (section 4.1)\n");
    let columns = [
        ("load, ms", Mark::Predicted),
        ("negotiation, ms", Mark::Measured(By::Wall)),
        ("load of negotiation, %", Mark::Predicted),
    ];
    say!(page, "{}", heads(&["configuration"], &columns));
    for load in &negotiation.loads {
        say!(
            page,
            "| {} | {:.2} | {middle:.1} | {:.0} |",
            load.name,
            load.load_ms,
            negotiation.percent(load)
        );
    }
    say!(
        page,
        "\nOne negotiation: from the first IKE_SA_INIT to the last answer of IKE_AUTH, which brings the first CHILD_SA; RSA certificates, \
         MODP-2048, charon at both ends of a wire on one machine; the middle of {} ({least:.1} to {greatest:.1}), {}. A network adds its \
         round trips. Loads: at the 8-bit port of `board.toml`, as everywhere.\n",
        negotiation.count,
        negotiation.recorded.about()
    );
}
