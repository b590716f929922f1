//! The initial state is one like any other.

use delay::{Cache, Checker, checkpoint, task};

#[test]
fn a_choice_at_the_very_beginning_is_a_choice() {
    let report = Checker::new().check(|| async {
        for _ in 0..2 {
            task::spawn(task::yield_now());
        }
    });
    assert!(report.is_complete() && report.coverage.met_choice, "{}", report.sentences());
}

#[test]
fn a_program_that_comes_back_to_its_beginning_is_not_searched_again() {
    for cache in [Cache::State, Cache::StateExplorer] {
        let report = Checker::new().cache(cache).check(|| async {
            task::spawn(async {
                loop {
                    checkpoint(&());
                    task::yield_now().await;
                }
            });
        });
        assert!(report.is_complete(), "{}", report.sentences());
        assert_eq!((report.coverage.states, report.coverage.transitions), (1, 1), "{cache:?}");
    }
}
