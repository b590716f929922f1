//! Random programs: what was learnt comes to what is executed.

use crate::{
    programs::{Program, Random, hostile, program, start},
    shared_programs,
};
use delay::{Checker, Execution, Report, Stop};
use std::{fmt::Debug, time::Duration};

/// What a search comes to: states, transitions, executions, states for each bound, and the longest execution.
type Numbers = (u64, u64, u64, Vec<u64>, u64);

/// What a search comes to, if it comes to its end.
fn numbers(program: &Program, execution: Execution) -> Option<Numbers> {
    let checker = Checker::new().granularity(program.granularity).cache(program.cache).explorer(program.explorer);
    let report =
        bounded(checker.faults(program.faults).time(program.time), execution).check(|| async { start(program) });
    if matches!(report.stop, Stop::Impossible(_)) { None } else { numbers_of(&report, program, execution) }
}

/// The same of a program over what tasks share beside mailboxes.
fn numbers_of_shared(program: &shared_programs::Program, execution: Execution) -> Option<Numbers> {
    let checker = Checker::new().granularity(program.granularity).cache(program.cache).explorer(program.explorer);
    let report = bounded(checker, execution).check(|| async { shared_programs::start(program) });
    if execution == Execution::Learned {
        assert!(!report.sentences().contains("executed live"), "{program:?}: {}", report.sentences());
    }
    numbers_of(&report, program, execution)
}

fn bounded(checker: Checker, execution: Execution) -> Checker {
    checker.execution(execution).max_states(3_000).budget(Duration::from_mins(1)).seed(3)
}

fn numbers_of(report: &Report, program: &impl Debug, execution: Execution) -> Option<Numbers> {
    assert!(!report.is_failure(), "{program:?} {execution:?}: {:?}", report.stop);
    assert!(!matches!(report.stop, Stop::Nondeterministic(_)), "{program:?} {execution:?}: {:?}", report.stop);
    let coverage = &report.coverage;
    let strata = coverage.states_per_bound.clone();
    let numbers = (coverage.states, coverage.transitions, coverage.executions, strata, coverage.longest);
    report.is_complete().then_some(numbers)
}

/// Compares so many programs.
fn compare<P: Debug>(
    mut random: Random,
    draw: impl Fn(&mut Random) -> P,
    numbers: impl Fn(&P, Execution) -> Option<Numbers>,
) {
    let mut compared = 0;
    for number in 0..NUMBER {
        let program = draw(&mut random);
        let live = numbers(&program, Execution::Live);
        assert_eq!(numbers(&program, Execution::Learned), live, "{number}: {program:?}");
        compared += u32::from(live.is_some_and(|(states, ..)| states > 20));
    }
    assert!(compared * 4 >= NUMBER, "{compared} programs were small enough and had something to choose");
}

/// How many programs are drawn.
const NUMBER: u32 = 300;

#[test]
fn what_was_learnt_comes_to_what_live_execution_comes_to() {
    compare(Random(11), program, numbers);
}

#[test]
fn time_and_faults_are_learnt_as_they_are() {
    compare(Random(12), hostile, numbers);
}

#[test]
fn what_tasks_share_is_learnt_as_it_is() {
    compare(Random(13), shared_programs::program, numbers_of_shared);
}
