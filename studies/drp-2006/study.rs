// SPDX-License-Identifier: Apache-2.0
//! The 2006 paper: its tables and figures, its machine, its two associations, the overhead of reconfiguration.

mod figure8;
mod figure9;
mod opening;
mod ours;
mod paper;
mod tables;

use ace_board::Catalogue;
use ace_report::Page;
use serde::Serialize;

use crate::array::Overhead;
use crate::error::Result;
use crate::marks::Opening;
use paper::{Paper, load_us, paper};

/// What the model makes of the paper's figures.
#[derive(Serialize)]
pub struct Study {
    opening: Opening,
    paper: Paper,
    /// By task: microseconds of a load.
    load_us: Vec<f64>,
    ours: Vec<ours::Ours>,
    figure8: Vec<figure8::Figure8>,
    figure9: figure9::Figure9,
}

/// What the model makes of the paper, with this project's columns.
///
/// # Errors
/// The paper's figures or the array's sources are not what they should be: a fault of this repository.
pub fn study(catalogue: &Catalogue) -> Result<Study> {
    let (paper, ours) = (paper()?, ours::columns(catalogue)?);
    let load_us = paper.task.iter().map(|t| load_us(&paper, t)).collect();
    let figure8 = figure8::study(&paper, &ours)?;
    let figure9 = figure9::study(&paper, &ours)?;
    let opening = opening::opening(&paper, &ours, &figure8, &figure9);
    Ok(Study { opening, load_us, ours, figure8, figure9, paper })
}

/// Our array strictly in order, one packet in flight, on the traffic of the paper's model and on the recording.
pub(crate) fn in_order() -> Result<[Overhead; 2]> {
    let (paper, ours) = (paper()?, ours::columns(&Catalogue::default())?);
    let of = |packets: &[paper::Packet]| figure9::ours_in_order(&paper, &ours, packets, 1);
    Ok([of(&paper.traffic())?, of(&paper::recorded())?])
}

/// Puts the study on a page.
///
/// # Errors
/// As [`study`].
pub fn print(page: &mut Page, study: &Study) -> Result<()> {
    study.opening.print(page);
    tables::print(page, &study.paper, &study.ours)?;
    figure8::print(page, &study.figure8);
    figure9::print(page, &study.paper, &study.figure9);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::figure9::Parts;
    use super::*;

    #[test]
    fn the_papers_machine_on_traffic_like_its_own_has_its_overhead() {
        let study = study(&Catalogue::default()).unwrap();
        let (paper, model) = (study.paper.result, &study.figure9.model);
        let ours = model.figure9;
        for (paper, ours, within) in [
            (paper.without, ours.without, 0.4),
            (paper.double, ours.double, 0.3),
            (paper.removed, ours.removed, 1.0),
            (paper.kept, ours.kept, 1.0),
        ] {
            assert!((paper - ours).abs() <= within, "{paper} there, {ours} here");
        }
        let Parts { hidden, kept, first, exposed } = model.parts;
        assert!((hidden + kept + first + exposed - 100.0).abs() < 1e-6 && first < 0.1);
        assert!((hidden + kept - ours.removed).abs() < 1e-6);
        // The paper says over 90 %.
        let shares: Vec<f64> = study.figure8.iter().map(|f| f.share_needed).collect();
        assert!((shares[0] - 0.90).abs() < 0.02 && (shares[1] - 0.94).abs() < 0.02, "{shares:?}");
        for it in &study.figure8 {
            assert!((it.rows.last().unwrap().drp_with_share - it.reported).abs() < 1e-9);
            assert!(it.rows.is_sorted_by_key(|r| r.drp), "larger messages gain more");
            assert!(it.shares.is_sorted_by(|a, b| a.share >= b.share), "longer messages need less");
        }
        // A larger second level never costs.
        let cached = study.figure9.what_if.iter().filter(|w| w.what.contains("cache"));
        let cached: Vec<f64> = cached.map(|w| w.figure9.double).collect();
        assert!(cached.is_sorted_by(|a, b| a >= b) && cached[2] < ours.double, "{cached:?}");
        // 40 KB over 1.6 GB/s.
        assert!(study.load_us.iter().all(|us| (7.0..26.0).contains(us)), "{:?}", study.load_us);
    }

    #[test]
    fn the_recording_keeps_its_associations_and_its_overhead_without_is_the_papers() {
        let study = study(&Catalogue::default()).unwrap();
        let Overhead { without, double, removed, kept } = study.figure9.recording.figure9;
        let found = [without, double, removed, kept];
        for (found, wanted) in found.into_iter().zip([22.0, 1.18, 95.7, 93.1]) {
            assert!((found - wanted).abs() < 0.1, "{found} for {wanted}");
        }
        // One definition: what another page quotes is what stands here.
        let [model, recording] = in_order().unwrap();
        assert_eq!(model.double, study.figure9.model.array[0].1.double);
        assert_eq!(recording.double, study.figure9.recording.array[0].1.double);
    }
}
