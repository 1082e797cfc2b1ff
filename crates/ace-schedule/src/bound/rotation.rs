// SPDX-License-Identifier: Apache-2.0
//! The rotation law: how much a board of k slots behind one port can carry if no packet waits longer than D.
//!
//! Smooth arrivals, m configurations that need a part ρ of a slot each, loads of L. Configuration c is loaded n times a
//! second and is away for at most D each time, L of which it is being loaded:
//!
//! * it works long enough: n D ≤ 1 − ρ;
//! * the slots suffice: Σ n (D − L) ≥ m − k, since what is away and not being loaded makes room for the others;
//! * the port suffices: Σ n L ≤ 1.
//!
//! With equal loads: D ≥ (m − k + 1) L and Σρ ≤ k − (m − k) L ÷ (D − L).

/// Whether configurations with these parts of a slot and loads can take turns. `bound` in the unit of the loads. What
/// needs more than one slot has whole ones that it never gives away.
pub fn can_take_turns(parts: &[(f64, f64)], slots: usize, bound: f64) -> bool {
    let whole: f64 = parts.iter().map(|(part, _)| if *part > 1.0 { part.floor() } else { 0.0 }).sum();
    let rest = |part: f64| if part > 1.0 { part - part.floor() } else { part };
    let mut units: Vec<(f64, f64)> =
        parts.iter().map(|(part, load)| (rest(*part), *load)).filter(|unit| unit.0 > 1e-9).collect();
    let slots = slots as f64 - whole;
    if slots < 0.0 {
        return false;
    }
    let mut need = units.len() as f64 - slots;
    if need <= 0.0 {
        return true;
    }
    if units.iter().map(|u| u.0).sum::<f64>() > slots {
        return false;
    }
    units.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut port = 0.0;
    for (part, load) in units.into_iter().filter(|u| u.1 < bound) {
        let times = ((1.0 - part) / bound).min(need / (bound - load));
        need -= times * (bound - load);
        port += times * load;
        if need <= 1e-12 {
            return port <= 1.0;
        }
    }
    false
}

/// The greatest factor by which all parts can grow so that they can still take turns.
pub fn capacity(parts: &[(f64, f64)], slots: usize, bound: f64) -> f64 {
    let (mut low, mut high) = (0.0, slots as f64 / parts.iter().map(|p| p.0).sum::<f64>().max(1e-12));
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        let grown: Vec<_> = parts.iter().map(|(part, load)| (part * middle, *load)).collect();
        match can_take_turns(&grown, slots, bound) {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_loads_follow_the_formula() {
        for (m, k, load, bound) in [(3, 2, 1.0, 4.0), (8, 2, 1.0, 10.0), (5, 1, 0.1, 2.0)] {
            let parts = vec![(1.0 / m as f64, load); m];
            let formula = k as f64 - (m - k) as f64 * load / (bound - load);
            assert!((capacity(&parts, k, bound) - formula).abs() < 1e-6);
        }
        // Whole images: 10 ms allows no rotation, 20 ms one configuration beyond the slots, 50 ms five.
        let turns =
            |bound| (2..12).rev().find(|m| can_take_turns(&vec![(0.01, 7.7); *m], 2, bound)).unwrap_or(0);
        assert_eq!((turns(10.0), turns(20.0), turns(50.0)), (2, 3, 7));
        assert!(can_take_turns(&[(1.5, 7.7), (0.4, 7.7)], 3, 1.0));
        assert!(!can_take_turns(&[(1.5, 7.7), (0.6, 7.7)], 2, 1.0));
    }
}
