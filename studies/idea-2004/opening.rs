// SPDX-License-Identifier: Apache-2.0
//! The first lines of the page: what the paper claims, and what of it stands.

use super::interface::Path;
use super::{Study, ways};
use crate::marks::{Opening, range};

pub fn opening(study: &Study) -> Opening {
    let Study { table2, simulated, built, equations, substages, constant, .. } = study;
    let error = |clock: bool| {
        let of = equations.iter().filter(|e| e.what.contains("in one clock") == clock);
        range(of.map(|e| 100.0 * (e.predicted / e.reached - 1.0)), 0)
    };
    let fast = |path: Path| built.iter().find(|b| b.path == path && b.mult18 > 0);
    let gain = |path: Path, over: Path, feedback: bool| {
        let mbps = |of: Path| fast(of).map_or(f64::NAN, |b| if feedback { b.feedback_mbps } else { b.mbps });
        mbps(path) / mbps(over)
    };
    let paper = |path: Path| {
        let cell = table2.iter().find(|r| r.paper.path == path && r.paper.interface == "array");
        cell.map_or(f64::NAN, |r| r.paper.mbps)
    };
    let blocks = |path: Path, way: &str, mode: &str| {
        let row = simulated.iter().find(|r| r.is(path, way, mode));
        row.map_or(f64::NAN, |row| row.clocks_a_block())
    };
    let (bytes, port_us) = constant.largest_delta();
    Opening {
        claimed: vec![format!(
            "three schedules of IDEA (S, SR, P) and three ways in (memory, ports, array) give nine designs; equations 1 to 3 give the time \
             of a phase. P through the array has {:.1} Mb/s, {:.0} times the software of a Pentium IV.",
            paper(Path::P),
            study.ratio_paper
        )],
        built: vec![
            "the three schedules as one parameter of one design, with multipliers in LUTs, as there, and in MULT18X18D; the three ways in \
             around them as RTL, with ECB, CBC, CFB and OFB, one path and two."
                .into(),
            "of the paper's future work: stages within the phases, a block a clock; and a constant key in the contents of LUTs, with \
             frames from one key to another."
                .into(),
        ],
        holds: vec![
            format!(
                "SR over S and P over SR gain {:.1} and {:.1} times as paths, {:.1} and {:.1} through the paper's array.",
                gain(Path::SR, Path::S, false),
                gain(Path::P, Path::SR, false),
                paper(Path::SR) / paper(Path::S),
                paper(Path::P) / paper(Path::SR)
            ),
            format!("equation 2 for a phase in one clock is {} % off.", error(true)),
            format!(
                "stages within the phases reach {:.0} Mb/s in ECB, {:.1} times the fastest software here.",
                substages.mbps, study.ratio_substages
            ),
        ],
        fails: vec![
            format!("equations 1 to 3 are {} % off where every operation has a clock: each takes as long as the longest.", error(false)),
            format!(
                "16 times the software does not hold: on today's part P through the array has {:.2} times a core of today.",
                study.ratio_p
            ),
            format!(
                "with feedback P falls behind: {:.1} times SR as a path; through the array a block takes {:.0} clocks in CBC, where SR \
                 takes {:.0}.",
                gain(Path::P, Path::SR, true),
                blocks(Path::P, "array", "cbc"),
                blocks(Path::SR, "array", "cbc")
            ),
            format!(
                "another constant key takes {bytes} bytes and {port_us:.0} µs of the port; the general design takes 52 subkeys, one a clock. \
                 Whoever reads the configuration memory reads the key."
            ),
            format!(
                "a copy gives less than a path: two of S and of SR, placed behind the memory, have {} of the clock of one. More copies are \
                 counted and not placed.",
                range(ways::copies_clock(&study.ways), 2)
            ),
        ],
        fitted: vec![format!(
            "Table 2's model: six figures for five values that differ ({} of the sets of whole clocks are within 10 %), so it tests \
             neither equations nor links.",
            study.within
        )],
    }
}
