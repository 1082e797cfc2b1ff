// SPDX-License-Identifier: Apache-2.0
//! What no policy can beat.

pub mod compare;
pub mod exact;
pub mod linear;
pub mod rotation;
pub mod together;

use ace_engine::ConfigurationId;

/// The fewest loads that serve `sequence` in order with `slots` slots: Belady's rule, which replaces what is
/// needed again last. A policy that reorders may need fewer, one that keeps the order never does.
pub fn fewest_loads_in_order(sequence: &[ConfigurationId], slots: usize) -> usize {
    // From the end: where each one is needed next.
    let mut next_use = vec![usize::MAX; sequence.len()];
    let mut seen = std::collections::HashMap::new();
    for (at, wanted) in sequence.iter().enumerate().rev() {
        next_use[at] = seen.insert(*wanted, at).unwrap_or(usize::MAX);
    }
    // What is held, and when it is needed again.
    let mut resident: Vec<(ConfigurationId, usize)> = Vec::new();
    let mut loads = 0;
    for (wanted, next) in sequence.iter().zip(next_use) {
        if let Some(place) = resident.iter_mut().find(|h| h.0 == *wanted) {
            place.1 = next;
            continue;
        }
        loads += 1;
        if resident.len() >= slots.max(1)
            && let Some(last) = (0..resident.len()).max_by_key(|i| resident[*i].1)
        {
            resident.swap_remove(last);
        }
        resident.push((*wanted, next));
    }
    loads
}
