// SPDX-License-Identifier: Apache-2.0
//! The first lines of the page: what the paper claims, and what of it stands.

use super::beyond::Mix;
use super::table1::Gain;
use super::{Result, Study, run};
use crate::marks::{Opening, range};

pub fn opening(study: &Study) -> Result<Opening> {
    let Study { paper, programs, gains, predicted, table2, machine, .. } = study;
    let saved = |of: &[Gain], direction: &str| {
        range(of.iter().filter(|g| g.paper.is_some() && g.direction == direction).map(|g| 100.0 * g.saved), 0)
    };
    let clocks = |form: &str| run(programs, form, 1, 1).map(super::Run::clocks);
    let (reference, tables, unit, block) =
        (clocks("reference")?, clocks("tables")?, clocks("molen")?, clocks("block")?);
    let times = |slow: [u64; 2], quick: [u64; 2]| range((0..2).map(|d| slow[d] as f64 / quick[d] as f64), 1);
    let ns = |unit: usize| table2.get(unit).map_or(f64::NAN, |placed| placed.ns);
    let mut holds = vec![
        format!(
            "MixColumns in the unit saves {} % of encryption and {} % of decryption, {} % of what its share allows.",
            saved(gains, "encryption"),
            saved(gains, "decryption"),
            range(gains.iter().map(|g| 100.0 * g.reached), 1)
        ),
        format!(
            "the inverse is slower: {:.2} ns for {:.2}. Both in one cost less than two units.",
            ns(1),
            ns(0)
        ),
    ];
    if let Some(loaded) = &programs.loaded {
        holds.push(format!(
            "a key of another size is faster than any load: {} clocks by microcode, {} by the frames that differ, {} by all.",
            range(programs.keys.iter().map(super::Keys::clocks), 0),
            loaded.size.partial,
            loaded.size.whole
        ));
    }
    holds.push(format!(
        "other algorithms use the unit in turns with {} % hits of the residence table.",
        range(programs.mix.iter().map(|mix| 100.0 * Mix::hit_rate(mix)), 1)
    ));
    let mut fails = vec![
        format!(
            "51 and 59 % are not reproduced. A model of the paper's processor, with nothing fitted, predicts {} and {} %: its program, \
             which is not published, differs.",
            saved(predicted, "encryption"),
            saved(predicted, "decryption")
        ),
        format!(
            "over T-tables MixColumns in the unit gains nothing: software alone is {} times as fast. A block in the unit is {} times \
             as fast as T-tables, {} times as the reference.",
            times(unit, tables),
            times(tables, block),
            times(reference, block)
        ),
    ];
    if let Some(hidden) = programs.loaded.as_ref().and_then(|loaded| loaded.hidden_percent()) {
        fails.push(format!(
            "whole sets are hardly hidden: {hidden:.1} % of their clocks, because a packet is made ready far sooner than today's \
             configurations load."
        ));
    }
    fails.push(
        "the unit's parts are all there at once; the sets' bytes are simulated up to the port and decide which may be used, but do not \
         make them. No silicon, no self-reconfiguration, and no attack by power, faults or caches was looked at."
            .into(),
    );
    Ok(Opening {
        claimed: vec![format!(
            "AES in C on the Molen processor gains {:.0} % in encryption and {:.0} % in decryption when MixColumns and its inverse are in \
             the reconfigurable unit. The inverse is larger and slower. Another key's size costs less than loading an FPGA anew.",
            paper.table1.gain[0], paper.table1.gain[1]
        )],
        built: vec![
            "the machine as RTL: a core of our own (RV32IM, in order), arbiter, unit, residence table, control store, and the library's \
             loader beside it; p-set, c-set and execute as custom instructions from C."
                .into(),
            format!(
                "AES in C, step by step and with T-tables, Rijndael's three sizes of blocks, and four other algorithms in the unit{}.",
                machine.as_ref().map_or(String::new(), |m| format!("; routed at {:.1} MHz", m.median_mhz))
            ),
        ],
        holds,
        fails,
        fitted: vec!["nothing. The model of the paper's processor has its four figures, and sim-outorder's defaults.".into()],
    })
}
