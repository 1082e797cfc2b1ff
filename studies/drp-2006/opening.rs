// SPDX-License-Identifier: Apache-2.0
//! The first lines of the page: what the paper claims, and what of it stands.

use super::figure8::{Figure8, SOLVED_AT};
use super::figure9::Figure9;
use super::ours::Ours;
use super::paper::Paper;
use super::tables::{over, set_loads, slot_loads, slot_mbps};
use crate::marks::{Opening, range};

pub fn opening(paper: &Paper, ours: &[Ours], figure8: &[Figure8], figure9: &Figure9) -> Opening {
    let drp = range(paper.task.iter().map(|t| t.drp / t.mips), 1);
    let against = |of: &dyn Fn(&Ours) -> Option<f64>| range(over(paper, ours, of, |t| t.mips), 1);
    let slower = |of: &dyn Fn(&Ours) -> f64| {
        let tasks = paper.task.iter().zip(ours).filter(|(t, o)| of(o) < t.mips);
        tasks.map(|(t, _)| t.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let none = |names: String| if names.is_empty() { "none".to_owned() } else { names };
    let (model, recording, paper_9) = (&figure9.model, &figure9.recording, &paper.result);
    let in_order = model.array.first().map_or(0.0, |of| of.1.double);
    let improvements: Vec<String> =
        figure8.iter().map(|f| format!("{} times in {}", f.reported, f.name)).collect();
    let shares: Vec<String> = figure8.iter().map(|f| format!("{:.1} %", 100.0 * f.share_needed)).collect();
    Opening {
        claimed: vec![format!(
            "seven tasks on the DRP-1 are {drp} times as fast as on a VR5500. With the hash on it an HMAC gains {}. Loads take \
             {} % of the time, and {} % with double buffering.",
            improvements.join(" and "),
            paper_9.without,
            paper_9.double
        )],
        built: vec![
            "the seven tasks as slots of an ECP5, and as context sets of an array of our own, compiled from a C-like source; \
             the paper's machine as a model, in order, with its rates, loads and groups."
                .into(),
            "the paper's experiment, two downloads from one host, as a recording.".into(),
        ],
        holds: vec![
            format!(
                "an accelerator is faster than the processor: slots {} times with one packet, our array {} times with 64 packets \
                 in flight.",
                against(&|o| slot_mbps(&o.slot)),
                against(&|o| Some(o.array.mbps(64)))
            ),
            format!(
                "contexts load in microseconds: our sets take {} times as long as the paper's configurations, like with like.",
                range(set_loads(paper, ours), 1)
            ),
            format!(
                "double buffering hides most of it: the one overhead that is predicted is {:.2} % for the paper's {} %.",
                model.figure9.double, paper_9.double
            ),
        ],
        fails: vec![
            format!(
                "with one packet in flight our array is {} times as fast as the VR5500; slower than it are {}. It hides its loads in \
                 order ({in_order:.2} % of the time) because it is slow.",
                against(&|o| Some(o.array.mbps(1))),
                none(slower(&|o| o.array.mbps(1)))
            ),
            format!(
                "a slot's load takes {} times as long as the paper's: hiding it takes more packets than a buffer of 2006 holds.",
                range(slot_loads(paper, ours), 0)
            ),
            format!(
                "the recording keeps {:.1} % of its tasks and not {} %, and with double buffering the paper's machine has {:.2} % \
                 on it. Power is not modelled.",
                recording.figure9.kept,
                paper_9.kept,
                recording.figure9.double,
            ),
        ],
        fitted: vec![format!(
            "the traffic at random: two shares for the overhead without double buffering and the tasks kept. Figure 8: the part \
             of the time that is hashing, {} at {SOLVED_AT} bytes.",
            shares.join(" and ")
        )],
    }
}
