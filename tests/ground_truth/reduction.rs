//! `reduction = "dpor"` against the tables and the brute force: as many executions as there are classes, the same outcomes.

use crate::{
    counts::table,
    engines::{EXPLORERS, Subject},
    reference::Mailbox,
};
use delay::Reduction;

/// Every class of executions is executed once, whatever the explorer.
#[test]
fn every_class_is_executed_once() {
    for row in table("totals") {
        let subject = Subject::of(&row);
        let graph = subject.graph();
        // Where messages may overtake each other, only what is received counts.
        let classes = if subject.semantics.mailbox == Mailbox::Fifo { graph.traces() } else { graph.reads() };
        for (explorer, _) in EXPLORERS {
            let checked = subject.check(subject.checker(explorer).reduction(Reduction::Dpor), explorer);
            assert_eq!(checked.report.coverage.executions, classes as u64, "{row}, {explorer}");
            // Where a program chooses nothing is promised; here nothing is missing, either.
            let chooses = row.cell("program").starts_with("2PCVOTE");
            assert_eq!(checked.report.is_complete(), !chooses, "{row}, {explorer}: {:?}", checked.report.stop);
            checked.assert_outcomes(&graph, &format!("{row}, {explorer}"));
        }
    }
}

/// Within a bound there are never more executions than classes that can be reached within it; with no delay there is one.
#[test]
fn a_bound_holds_no_class_that_is_out_of_reach() {
    let (mut bounds, mut whole) = (0, 0);
    for row in table("strata").into_iter().filter(|row| EXPLORERS.iter().any(|(name, _)| *name == row.cell("explorer")))
    {
        let subject = Subject::of(&row);
        let (explorer, _) = EXPLORERS.into_iter().find(|(name, _)| *name == row.cell("explorer")).expect("filtered");
        let within: Vec<u64> = row.cell("traces").split(' ').filter_map(|count| count.parse().ok()).collect();
        for (delays, classes) in within.iter().enumerate() {
            let checker = subject.checker(explorer).reduction(Reduction::Dpor).max_delays(delays as u32);
            let executions = subject.check(checker, explorer).report.coverage.executions;
            assert!((1..=*classes).contains(&executions), "{row}: {executions} within {delays}");
            (bounds, whole) = (bounds + 1, whole + usize::from(executions == *classes));
        }
    }
    assert!(whole * 10 > bounds * 7, "most bounds hold all they can: {whole} of {bounds}");
}
