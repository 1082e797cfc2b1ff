// SPDX-License-Identifier: Apache-2.0
//! The order of rules as numbers, of which as few change as can be.

/// Between priorities of rules, so that later ones find a place.
const STRIDE: u32 = 1 << 12;

/// Priorities for rules in order, of which some have theirs. These stay as they are, unless they are in another order
/// or there is no room left between them: then all are new.
pub fn priorities(kept: &[Option<u32>]) -> Vec<u32> {
    between(kept).unwrap_or_else(|| {
        // Of more rules than numbers the last ones are equal; memory is full before.
        let count = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        let stride = STRIDE.min(u32::MAX / count.max(1));
        (1..=kept.len()).map(|at| u32::try_from(at).unwrap_or(u32::MAX).saturating_mul(stride)).collect()
    })
}

fn between(kept: &[Option<u32>]) -> Option<Vec<u32>> {
    let mut all = Vec::with_capacity(kept.len());
    let mut last = 0_u32;
    let mut at = 0;
    while let Some(first) = kept.get(at) {
        if let Some(priority) = first {
            if *priority <= last {
                return None;
            }
            (last, at) = (*priority, at + 1);
            all.push(last);
            continue;
        }
        let count = kept[at..].iter().take_while(|priority| priority.is_none()).count();
        let next = kept.get(at + count).copied().flatten();
        let step = match next {
            Some(next) => next.checked_sub(last)? / u32::try_from(count + 1).ok()?,
            None => STRIDE,
        };
        if step == 0 {
            return None;
        }
        for _ in 0..count {
            last = last.checked_add(step)?;
            all.push(last);
        }
        at += count;
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_rise_and_those_there_are_stay_while_there_is_room() {
        assert_eq!(priorities(&[None, None]), [STRIDE, 2 * STRIDE]);
        assert_eq!(priorities(&[Some(8), None, None, Some(20)]), [8, 12, 16, 20]);
        assert_eq!(priorities(&[None, Some(4), None]), [2, 4, 4 + STRIDE]);
        assert_eq!(priorities(&[Some(8), Some(4)]), [STRIDE, 2 * STRIDE]);
        assert_eq!(priorities(&[Some(8), None, Some(9)]), [STRIDE, 2 * STRIDE, 3 * STRIDE]);
        assert_eq!(priorities(&[Some(u32::MAX), None]), [STRIDE, 2 * STRIDE]);
        assert!(priorities(&[]).is_empty());
    }
}
