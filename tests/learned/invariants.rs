//! Invariants over what tasks show, where the steps that show it are not executed.

use delay::{Checker, Execution, invariant, observe, task};

/// Tasks show 0, 1 and 2 one after the other, all under names of their own, and some values must not be seen together.
fn together(tasks: usize, forbidden: &'static [u64]) {
    invariant("apart", move |shown| {
        let values: Vec<u64> = shown.under::<u64>("task ").map(|(_, value)| *value).collect();
        if values == forbidden { Err(format!("{values:?}")) } else { Ok(()) }
    });
    for number in 0..tasks {
        task::spawn(async move {
            for value in 0..3_u64 {
                task::yield_now().await;
                observe(format!("task {number}"), value);
            }
        });
    }
}

#[test]
fn every_combination_that_can_be_shown_is_looked_at() {
    const COMBINATIONS: [[u64; 3]; 5] = [[0, 0, 0], [2, 2, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0]];
    for forbidden in &COMBINATIONS {
        let report = Checker::new().check(async || together(3, forbidden));
        let failure = report.failure.as_ref().unwrap_or_else(|| panic!("{forbidden:?}: {}", report.sentences()));
        assert_eq!(Checker::new().replay(&failure.trace, async || together(3, forbidden)), failure.trace);
    }
    for forbidden in &[[3, 0, 0], [0, 1, 3]] {
        let [learned, live] = [Execution::Learned, Execution::Live].map(|execution| {
            let report = Checker::new().execution(execution).check(async || together(3, forbidden));
            report.assert_passed();
            assert!(report.is_complete() && !report.sentences().contains("executed live"), "{}", report.sentences());
            (report.coverage.states, report.coverage.transitions, report.coverage.totals.executions)
        });
        assert_eq!((learned.0, learned.1), (live.0, live.1));
        assert_eq!(learned.0, 4_u64.pow(3), "how far each is");
        assert!(learned.2 < live.2, "{learned:?} {live:?}");
    }
}

/// Who shows a value does not know what another has shown under its name.
#[test]
fn what_several_show_under_one_name_is_what_the_last_has_shown() {
    let [learned, live] = [Execution::Learned, Execution::Live].map(|execution| {
        let report = Checker::new().execution(execution).check(async || {
            invariant("none", |_| Ok(()));
            for number in 0..4 {
                task::spawn(async move {
                    for turn in 0..3 {
                        task::yield_now().await;
                        observe("last", (number, turn));
                    }
                });
            }
        });
        report.assert_passed();
        assert!(report.is_complete() && !report.sentences().contains("executed live"), "{}", report.sentences());
        (report.coverage.states, report.coverage.transitions)
    });
    assert_eq!(learned, live);
    // How far each of four tasks is, of four steps, and which of those that have begun was the last.
    assert_eq!(learned.0, 1 + 4 * 3 * 4_u64.pow(3));
}
