//! With several threads the finding of the lowest sample number is reported, whoever was first.

use crate::exhaustive;
use delay::{Mode, choose};

/// Bugs everywhere.
async fn every_outcome_is_wrong() {
    let (first, second) = (choose(8).await, choose(8).await);
    assert!(first + second == 0, "{first} and {second}");
}

#[test]
fn the_same_finding_with_any_number_of_threads() {
    for seed in 0..20 {
        let found = |jobs| {
            let checker = exhaustive().mode(Mode::Random).samples(64).seed(seed).jobs(jobs);
            checker.check(every_outcome_is_wrong).stop
        };
        assert_eq!(found(4), found(1), "seed {seed}");
    }
}
