// SPDX-License-Identifier: Apache-2.0
//! Policies against what no policy can beat.

use ace_schedule::Policy;
use ace_schedule::bound::compare::{SMALL, served};

/// `cargo test --release -p ace-schedule --test it bounds:: -- --nocapture` prints the table.
#[test]
fn policies_stay_below_the_optimum_and_adaptive_near_it() {
    let seeds = if cfg!(debug_assertions) { 1 } else { 4 };
    // Those with one slot have few states; `ace study scheduling` runs all.
    let classes: Vec<_> = SMALL.into_iter().filter(|class| class.slots == 1).collect();
    let mut means = [0.0; Policy::ALL.len()];
    println!("{:?}", Policy::ALL.map(|p| p.name()));
    for class in &classes {
        let (mut near, mut of) = (0.0, [0.0; Policy::ALL.len()]);
        for seed in 1000..1000 + seeds {
            let run = served(class, seed).expect("few states");
            assert!(run.waiting <= run.best && run.best <= run.packets);
            near += run.waiting as f64 / run.best as f64 / seeds as f64;
            for ((sum, served), policy) in of.iter_mut().zip(&run.policies).zip(Policy::ALL) {
                assert!(*served <= run.best, "{policy} serves {served} of {}: {class:?} {seed}", run.best);
                *sum += *served as f64 / run.best as f64 / seeds as f64;
            }
        }
        println!("{of:.3?} without prefetch {near:.3}: {class:?}");
        means.iter_mut().zip(of).for_each(|(mean, of)| *mean += of / classes.len() as f64);
    }
    println!("{means:.3?}");
    let adaptive = means[means.len() - 1];
    assert!(means.iter().all(|mean| *mean <= adaptive + 0.005), "{means:?}");
    assert!(adaptive >= 0.92, "{adaptive}");
}
