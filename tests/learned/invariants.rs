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

/// What was seen to hold before an invariant was there may not hold of it.
#[test]
fn an_invariant_that_comes_later_is_asked_from_then_on() {
    for is_first in [false, true] {
        let [learned, live] = [Execution::Learned, Execution::Live].map(|execution| {
            let report = Checker::new().execution(execution).check(async || {
                if !is_first {
                    invariant("none", |_| Ok(()));
                }
                for name in ["one", "other"] {
                    task::spawn(async move {
                        task::yield_now().await;
                        observe(name, 1);
                    });
                }
                task::yield_now().await;
                let holds = |both| if both { Err("both".to_owned()) } else { Ok(()) };
                invariant("not both", move |shown| holds(shown.all::<i32>().count() == 2));
            });
            assert!(report.is_failure(), "{execution:?}: {}", report.sentences());
            (report.coverage.states, report.coverage.transitions)
        });
        assert_eq!(learned, live, "{is_first}");
    }
}

/// `true` and 1 hash alike, and are two values to an invariant.
#[test]
fn values_of_two_types_are_two_values() {
    for execution in [Execution::Learned, Execution::Live] {
        let report = Checker::new().execution(execution).check(async || {
            invariant("no bool beside", |shown| {
                let is_bad = shown.all::<bool>().count() == 1 && shown.get::<u32>("beside").is_some();
                if is_bad { Err("there is one".to_owned()) } else { Ok(()) }
            });
            task::spawn(async move {
                task::yield_now().await;
                observe("value", true);
            });
            task::spawn(async move {
                task::yield_now().await;
                observe("value", 1_u8);
                task::yield_now().await;
                observe("beside", 1_u32);
            });
        });
        assert!(report.is_failure(), "{execution:?}: {}", report.sentences());
    }
}
